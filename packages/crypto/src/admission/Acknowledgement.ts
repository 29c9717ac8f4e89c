/**
 * The one line with which the broker admits a member (section 6.5), written by the edge and read by the agent.
 *
 * The reader stops at the newline: what follows belongs to the session. After the fields of that section come five of our own,
 * which other edges do not write and other members ignore: `rs` is who starts the session, `pr` and `pe` are the rights and the
 * end of the peer's grant, `ln` is whether the connection continues to the peer or is closed, and `kx` is the key exchanges that
 * the peer offers.
 */
import { Result } from "effect"
import * as Bytes from "../Bytes.ts"
import * as Hex from "../Hex.ts"
import * as Integer from "../Integer.ts"
import { type Rights, rightsTexts } from "../Permission.ts"
import * as Address from "./Address.ts"
import * as KeyExchange from "./KeyExchange.ts"
import { Broken, Incomplete, ParkExpired, Refused } from "./Outcome.ts"
import * as Refusal from "./Refusal.ts"

/** The peer's Noise key with the holder's attestation of it; not verified here. */
export interface PeerKeys {
  readonly noiseKey: Uint8Array
  readonly holder: Uint8Array
  readonly attestation: Uint8Array
}

/** What the edge sends an admitted member. */
export interface Acknowledgement {
  /** The peer's endpoint; empty for a single participant. */
  readonly peerEndpoint: string
  /** All three or nothing. */
  readonly peerKeys: PeerKeys | undefined
  /** The reader's own address as the edge saw it. */
  readonly observed: string | undefined
  /** Whether both members were seen from the same public IP. */
  readonly samePublicIp: boolean | undefined
  /** Whether the reader starts the session; undefined from other edges. */
  readonly role?: Role
  /** Rights of the peer's grant; undefined from other edges. */
  readonly peerRights?: Rights
  /** When the peer's grant expires (Unix seconds, expired at equality); undefined from other edges. */
  readonly peerGrantEnds?: bigint
  /** Whether this connection continues to the peer or is closed; undefined from other edges. */
  readonly next?: Next
  /** The key exchanges that the peer offers, empty for none, for a reader that has offered some; undefined from other edges. */
  readonly offer?: string
}

/** What happens to the connection after the line. */
export type Next = (typeof nexts)[number]

const nexts = ["peer", "close"] as const

/** Who of two members starts the session. */
export type Role = (typeof roles)[number]

const roles = ["initiate", "accept"] as const

/** Maximum bytes of a line, without its end. */
export const maxLine = 512

/** Bytes a reader still takes after a line that is exactly `NO` (`read`). */
export const maxLateToken = 25

const newline = 0x0a

/**
 * The line, without its end.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Acknowledgement from "@catenet/crypto/admission/Acknowledgement"
 *
 * const admitted = { peerEndpoint: "relay-only", peerKeys: undefined, observed: "203.0.113.9:41000", samePublicIp: true }
 * strictEqual(Acknowledgement.write(admitted), "OK relay-only r=203.0.113.9:41000 sp=1")
 * ```
 */
export const write = (ack: Acknowledgement): string => {
  const fields = ["OK"]
  if (ack.peerEndpoint !== "") fields.push(ack.peerEndpoint)
  if (ack.peerEndpoint !== "" && ack.peerKeys !== undefined) {
    const { noiseKey, holder, attestation } = ack.peerKeys
    fields.push(Hex.encode(noiseKey), Hex.encode(holder), Hex.encode(attestation))
  }
  if (ack.observed !== undefined) fields.push(`r=${ack.observed}`)
  if (ack.samePublicIp !== undefined) fields.push(`sp=${ack.samePublicIp ? 1 : 0}`)
  if (ack.role !== undefined) fields.push(`rs=${ack.role}`)
  if (ack.peerRights !== undefined) fields.push(`pr=${ack.peerRights}`)
  if (ack.peerGrantEnds !== undefined) fields.push(`pe=${ack.peerGrantEnds}`)
  if (ack.next !== undefined) fields.push(`ln=${ack.next}`)
  if (ack.offer !== undefined) fields.push(`kx=${ack.offer}`)
  return fields.join(" ")
}

const readSeconds = (text = ""): bigint | undefined => {
  if (!/^(?:0|[1-9]\d{0,19})$/.test(text)) return undefined
  const seconds = BigInt(text)
  return Integer.isU64(seconds) ? seconds : undefined
}

/**
 * Reads the text after `OK`: words with `=` by name, others by position; unknown names are ignored.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Acknowledgement from "@catenet/crypto/admission/Acknowledgement"
 *
 * strictEqual(Acknowledgement.parse(" sp=1 relay-only later=x").peerEndpoint, "relay-only")
 * strictEqual(Acknowledgement.parse(" relay-only rs=accept").role, "accept")
 * strictEqual(Acknowledgement.parse(" relay-only pr=r pe=1900000000").peerGrantEnds, 1_900_000_000n)
 * strictEqual(Acknowledgement.parse(" relay-only ln=peer").next, "peer")
 * ```
 */
export const parse = (rest: string): Acknowledgement => {
  const fields = rest.split(/\s+/).filter((word) => word !== "")
  const named = (name: string) => fields.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1)
  const [peerEndpoint = "", ...triple] = fields.filter((word) => !word.includes("="))
  const keys = Result.all([32, 32, 64].map((length, i) => Hex.decode(triple[i] ?? "", length)))
  const [noiseKey, holder, attestation] = Result.isSuccess(keys) ? keys.success : []
  const observed = named("r")
  const samePublicIp = named("sp")
  const role = roles.find((role) => role === named("rs"))
  const peerRights = rightsTexts.find((rights) => rights === named("pr"))
  const peerGrantEnds = readSeconds(named("pe"))
  const next = nexts.find((next) => next === named("ln"))
  const offer = named("kx")
  return {
    peerEndpoint,
    peerKeys: noiseKey && holder && attestation ? { noiseKey, holder, attestation } : undefined,
    observed: observed !== undefined && Result.isSuccess(Address.parse(observed)) ? observed : undefined,
    samePublicIp: samePublicIp === "1" ? true : samePublicIp === "0" ? false : undefined,
    ...(role === undefined ? {} : { role }),
    ...(peerRights === undefined ? {} : { peerRights }),
    ...(peerGrantEnds === undefined ? {} : { peerGrantEnds }),
    ...(next === undefined ? {} : { next }),
    ...(offer === undefined || !(offer === "" || KeyExchange.isOffer(offer)) ? {} : { offer })
  }
}

/**
 * Reads the answer to a join from what was received after the possession proof, with the number of bytes it took.
 * `ended` says that the stream is over, or that the reader waited long enough: 2 s are enough after a line that is
 * exactly `NO`, whose token may follow because a token of ten characters has the newline as its length byte.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Acknowledgement from "@catenet/crypto/admission/Acknowledgement"
 *
 * const line = new TextEncoder().encode("\u0000OK 198.51.100.9:8008\nsession")
 * const { length, acknowledgement } = Result.getOrThrow(Acknowledgement.read(line, false))
 * strictEqual(acknowledgement.peerEndpoint, "198.51.100.9:8008")
 * strictEqual(new TextDecoder().decode(line.subarray(length)), "session")
 * ```
 */
export const read = (
  received: Uint8Array,
  ended: boolean
): Result.Result<
  { readonly acknowledgement: Acknowledgement; readonly length: number },
  Incomplete | Refused | ParkExpired | Broken
> => {
  const start = received.findIndex((byte) => byte !== 0)
  const body = start < 0 ? new Uint8Array(0) : received.subarray(start)
  const end = body.subarray(0, maxLine).indexOf(newline)
  if (end < 0 && body.length >= maxLine) {
    return Result.fail(new Broken({ why: `no end of line within ${maxLine} bytes`, retry: false }))
  }
  if (end < 0 && !ended) return Result.fail(new Incomplete())
  const line = end < 0 ? body : body.subarray(0, end)
  if (line.length === 0 && end < 0) {
    return Result.fail(new Broken({ why: "dropped before the acknowledgement", retry: true }))
  }
  if (Refusal.isRefusal(line)) return readRefusal(line, end < 0 ? new Uint8Array(0) : body.subarray(end + 1), ended)
  const text = Result.getOrElse(Bytes.toText(line), () => "").trim()
  if (text === "EX") return Result.fail(new ParkExpired())
  if (!text.startsWith("OK")) return Result.fail(new Refused({ token: undefined }))
  const length = Math.max(start, 0) + line.length + (end < 0 ? 0 : 1)
  return Result.succeed({ acknowledgement: parse(text.slice(2)), length })
}

const readRefusal = (
  line: Uint8Array,
  behind: Uint8Array,
  ended: boolean
): Result.Result<never, Incomplete | Refused> => {
  if (line.length > 2) return Result.fail(new Refused({ token: Refusal.tokenAfterNo(line.subarray(2)) }))
  if (!ended && behind.length < maxLateToken) return Result.fail(new Incomplete())
  return Result.fail(new Refused({ token: behind.length === newline ? Refusal.tokenText(behind) : undefined }))
}
