/** Variables of `channel room`: the grants for all pairs, and those of any member. */
import * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import * as Parser from "@catenet/platform/Parser"
import { required } from "@catenet/platform/Variable"
import { Redacted, Result, Struct } from "effect"
import * as MemberVariables from "./MemberVariables.ts"

/** A grant of this holder, and the holder at the other end of its channel. */
export interface PairGrant {
  /** The peer's local name: given by the operator of this member, or the first digits of its key. */
  readonly name: string
  readonly peer: Uint8Array
  readonly grant: Redacted.Redacted<Grant.Grant>
}

export interface PairGrants {
  readonly pairs: ReadonlyArray<PairGrant>
  /** The problem of the first invalid line. */
  readonly problem: string | undefined
}

/** Pairs of one process. A room has at most 12 holders; a member may be in several. */
export const maxPairs = 256
const name = /^[A-Za-z0-9][\w.-]{0,39}$/

const pairOf = (line: string): PairGrant | string => {
  const [peerText = "", grantText = "", given, ...rest] = line.split(/[ \t]+/)
  const peer = Hex.decode(peerText, 32)
  if (Result.isFailure(peer)) return "does not begin with a holder key of 64 hex digits"
  const grant = Grant.fromHex(grantText)
  if (Result.isFailure(grant)) return "has no grant of 278 hex digits after the holder key"
  if (rest.length > 0 || (given !== undefined && !name.test(given)))
    return "has more after the grant than a name of letters, digits, dots and dashes"
  return { name: given ?? peerText.slice(0, 16).toLowerCase(), peer: peer.success, grant: Redacted.make(grant.success) }
}

const repeated = (pairs: ReadonlyArray<PairGrant>, pair: PairGrant) => {
  const channelOf = ({ grant }: PairGrant) => Hex.encode(Redacted.value(grant).channel)
  for (const other of pairs) {
    if (other.name === pair.name) return `repeats the name ${pair.name}`
    if (Hex.encode(other.peer) === Hex.encode(pair.peer)) return "repeats a holder"
    if (channelOf(other) === channelOf(pair)) return "repeats a channel"
  }
  return undefined
}

/** The pairs of a text: one a line, or between semicolons; blank lines and comments are skipped. */
export const readPairs = (text: string): PairGrants => {
  const pairs: Array<PairGrant> = []
  for (const [index, line] of text.split(/[\n;]/).entries()) {
    const entry = line.trim()
    if (entry === "" || entry.startsWith("#")) continue
    const pair = pairOf(entry)
    const wrong = typeof pair === "string" ? pair : repeated(pairs, pair)
    if (typeof pair === "string" || wrong !== undefined) return { pairs, problem: `line ${index + 1} ${wrong}` }
    if (pairs.length >= maxPairs) return { pairs, problem: `has more than ${maxPairs} pairs` }
    pairs.push(pair)
  }
  return { pairs, problem: pairs.length === 0 ? "has no pair" : undefined }
}

const grants = Parser.make("a line for each pair: the peer's holder key, the grant, and a name", readPairs, {
  isSecret: true
})

/** Variables of a single pair, or of a transport that a room does not use. */
const ofPair = [
  "address",
  "advertise",
  "channel",
  "circuitRelay",
  "concurrency",
  "listen",
  "peerCertificate",
  "peerNoiseKey",
  "relayGate",
  "relayGateCertificate",
  "streamCommand",
  "streamService"
] as const
export type OfPair = (typeof ofPair)[number]

export const variables = {
  grants: required("CT_CHANNEL_GRANTS", grants, "Grants of this holder for its pairs, for `channel room`.", {
    remedy: "set CT_CHANNEL_GRANTS_FILE to a file with a line for each pair: the peer's holder key and the grant"
  }),
  ...Struct.omit(MemberVariables.variables, [...ofPair, "grant", "relayOnly", "role", "serve"])
} as const
