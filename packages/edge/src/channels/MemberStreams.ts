/**
 * Members as streams of one multiplexed session between two processes or two edges: one side forwards them, the other has the
 * room. A broken stream is reset, so that the room always notices when a member is gone.
 */
import * as KeyExchange from "@catenet/crypto/admission/KeyExchange"
import * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import { HolderKey, NoiseAttestation, NoiseKey, OperatorKey } from "@catenet/domain/values/Keys"
import { decoded, type Decoding, malformed, needMore } from "@catenet/wire/frames/Frame"
import type { CarrierSession, CarrierStream } from "@catenet/wire/transport/Carrier"
import { FrameReader } from "@catenet/wire/transport/FrameReader"
import { Effect, Option, Result, Schema } from "effect"
import type { Duplex } from "node:stream"
import type { Relays } from "../relay/Relays.ts"
import type { Member } from "./Member.ts"

/**
 * An admitted member forwarded to the home of its channel: its facts, then its stream. Both ends are edges with the same admin
 * token, or processes of one edge, so each trusts the other's checks.
 */
const Facts = Schema.fromJsonString(
  Schema.Struct({
    grant: Schema.String,
    endpoint: Schema.String,
    phase: Schema.optionalKey(Schema.Literals(["rendezvous", "relay"])),
    operatorKey: OperatorKey,
    noise: Schema.optionalKey(Schema.Struct({ key: NoiseKey, attestation: NoiseAttestation })),
    authorizedAt: Schema.Finite,
    observed: Schema.optionalKey(Schema.String),
    keepAlive: Schema.Boolean,
    closesWhole: Schema.optionalKey(Schema.Boolean),
    offer: Schema.optionalKey(Schema.String.check(Schema.makeFilter(KeyExchange.isOffer)))
  })
)

const readFacts = Schema.decodeUnknownOption(Facts)
const writeFacts = Schema.encodeSync(Facts)
const bytes = (hex: string) => Result.getOrThrow(Hex.decode(hex, hex.length / 2))

const lengthBytes = 2
const longestFacts = 4_096

/** The facts, to be sent before the first byte of the stream. */
const encodeMemberHandover = ({ authorization, endpoint, grant, observed, phase, ...member }: Member): Buffer => {
  const { noise, operatorKey } = authorization
  const text = writeFacts({
    grant: Grant.toHex(grant),
    endpoint,
    operatorKey: OperatorKey.make(Hex.encode(operatorKey)),
    authorizedAt: member.authorizedAt,
    keepAlive: member.keepAlive,
    ...(member.closesWhole === true ? { closesWhole: true } : {}),
    ...(member.offer === undefined ? {} : { offer: member.offer }),
    ...(phase === undefined ? {} : { phase }),
    ...(observed === undefined ? {} : { observed }),
    ...(noise === undefined
      ? {}
      : {
          noise: {
            key: NoiseKey.make(Hex.encode(noise.key)),
            attestation: NoiseAttestation.make(Hex.encode(noise.attestation))
          }
        })
  })
  const facts = Buffer.from(text, "utf8")
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt16BE(facts.length)
  return Buffer.concat([length, facts])
}

const memberOf = (text: string): Member | undefined => {
  const facts = Option.getOrUndefined(readFacts(text))
  const grant = facts && Result.getOrUndefined(Grant.fromHex(facts.grant))
  if (facts === undefined || grant === undefined) return undefined
  const { noise, operatorKey, phase, observed } = facts
  return {
    channel: Hex.encode(grant.channel),
    holder: HolderKey.make(Hex.encode(grant.holder)),
    grant,
    endpoint: facts.endpoint,
    phase,
    authorization: {
      operatorKey: bytes(operatorKey),
      noise: noise && { key: bytes(noise.key), attestation: bytes(noise.attestation) }
    },
    authorizedAt: facts.authorizedAt,
    observed,
    keepAlive: facts.keepAlive,
    ...(facts.closesWhole === true ? { closesWhole: true } : {}),
    ...(facts.offer === undefined ? {} : { offer: facts.offer })
  }
}

const decodeMemberHandover = (received: Uint8Array): Decoding<Member> => {
  if (received.length < lengthBytes) return needMore
  const length = (received[0] ?? 0) * 256 + (received[1] ?? 0)
  if (length > longestFacts) return malformed("facts of a member are too long")
  if (received.length < lengthBytes + length) return needMore
  const member = memberOf(Buffer.from(received.subarray(lengthBytes, lengthBytes + length)).toString("utf8"))
  return member === undefined ? malformed("no facts of a member") : decoded(member, lengthBytes + length)
}

const factsMillis = 5_000

/** Takes over the stream of a member; `early` are the bytes after its signature. */
export type Enter = (stream: Duplex, member: Member, early: Uint8Array) => Effect.Effect<void>

/** Forwards the member to the other side. False if the other side takes no stream; the member's stream is then untouched. */
export const bring = Effect.fnUntraced(function* (
  session: CarrierSession,
  relays: Relays["Service"],
  ...[stream, member, early]: Parameters<Enter>
) {
  const opened = session.open({ registration: 0, kind: "mesh", tls: "none" })
  if (Result.isFailure(opened)) return false
  opened.success.write(encodeMemberHandover(member))
  if (early.length > 0) opened.success.write(early)
  yield* relays.pass(stream, opened.success)
  return true
})

const noBytes = new Uint8Array(0)

/** Accepts a member that the other side forwards. */
export const take = Effect.fnUntraced(function* (stream: CarrierStream, enter: Enter) {
  const reader = new FrameReader(stream)
  const read = yield* Effect.promise(() => reader.next<Member>(decodeMemberHandover, factsMillis))
  reader.release()
  if (Result.isFailure(read)) return stream.reset("refused", "these are no facts of a member")
  return yield* enter(stream, read.success, noBytes)
})
