/**
 * A member's first message to the broker (section 6.2): an optional phase preamble, a length, the grant and the endpoint.
 * Nothing is verified here but the form.
 */
import { Data, Result } from "effect"
import * as Bytes from "../Bytes.ts"
import * as Grant from "../Grant.ts"
import * as Integer from "../Integer.ts"
import { wireLength } from "../Permission.ts"
import { Malformed } from "../SignedRecord.ts"
import * as KeyExchange from "./KeyExchange.ts"
import { Incomplete } from "./Outcome.ts"
import type { Token } from "./Refusal.ts"

/** The kind of pairing: an exchange of addresses, or a splice. */
export type Phase = "rendezvous" | "relay"

/** The content of a join's body. */
export interface Body {
  readonly grant: Grant.Grant
  /** `relay-only` or a socket address; at least one byte, not validated here (see `Address.isAdmissible`). */
  readonly endpoint: string
  /** The key exchanges that the member offers to its peer (`KeyExchange`). Older edges refuse a join with an offer. */
  readonly offer?: string | undefined
}

/** A whole first message. Without a preamble the phase is undefined and matches any. */
export interface Join extends Body {
  readonly phase: Phase | undefined
}

/** Maximum bytes of a body. */
export const maxBody = 1024

const preambleMark = 0xff
const phases = ["rendezvous", "relay"] as const

/** Why the first bytes are not a join, and the token with which an edge answers. An unknown phase counts against the source. */
export class BadJoin extends Data.TaggedError("BadJoin")<{
  readonly why: string
  readonly token: Token
  readonly unknownPhase: boolean
}> {
  override get message() {
    return `join: ${this.why}`
  }
}

const badJoin = (why: string, token: Token, unknownPhase = false) =>
  Result.fail(new BadJoin({ why, token, unknownPhase }))

/** Stands between the endpoint and the offer; no endpoint contains it. */
const offerMark = " kx="

const textOf = ({ endpoint, offer }: Body) => (offer === undefined ? endpoint : `${endpoint}${offerMark}${offer}`)

/** What is no offer stays in the endpoint, where an edge refuses it. */
const offerIn = (text: string): Omit<Body, "grant"> => {
  const at = text.indexOf(offerMark)
  const offer = at < 1 ? "" : text.slice(at + offerMark.length)
  return KeyExchange.isOffer(offer) ? { endpoint: text.slice(0, at), offer } : { endpoint: text }
}

/**
 * The body's bytes: grant ‖ endpoint ‖ offer.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Grant from "@catenet/crypto/Grant"
 * import * as Join from "@catenet/crypto/admission/Join"
 *
 * const grant = Result.getOrThrow(Grant.fromHex("0".repeat(256) + "010100" + "0".repeat(16)))
 * strictEqual(Join.encodeBody({ grant, endpoint: "relay-only" }).length, 149)
 * ```
 */
export const encodeBody = (body: Body): Uint8Array =>
  Bytes.concat(Grant.encode(body.grant), Bytes.fromText(textOf(body)))

/**
 * Reads a body: a well-formed grant and at least one byte of UTF-8 after it.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Join from "@catenet/crypto/admission/Join"
 *
 * ok(Result.isFailure(Join.decodeBody(new Uint8Array(139))))
 * ```
 */
export const decodeBody = (bytes: Uint8Array): Result.Result<Body, Malformed> => {
  if (bytes.length <= wireLength) return Result.fail(new Malformed({ record: "join", why: "no endpoint" }))
  const endpoint = Bytes.toText(bytes.subarray(wireLength))
  if (Result.isFailure(endpoint)) return Result.fail(new Malformed({ record: "join", why: "endpoint is not UTF-8" }))
  return Result.map(Grant.decode(bytes.subarray(0, wireLength)), (grant) => ({ grant, ...offerIn(endpoint.success) }))
}

/**
 * The whole first message.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Grant from "@catenet/crypto/Grant"
 * import * as Join from "@catenet/crypto/admission/Join"
 *
 * const grant = Result.getOrThrow(Grant.fromHex("0".repeat(256) + "010100" + "0".repeat(16)))
 * strictEqual(Join.encode({ grant, endpoint: "relay-only", phase: "relay" }).length, 2 + 2 + 149)
 * ```
 */
export const encode = (join: Join): Uint8Array => {
  const body = encodeBody(join)
  const preamble =
    join.phase === undefined ? new Uint8Array(0) : Uint8Array.of(preambleMark, phases.indexOf(join.phase) + 1)
  return Bytes.concat(preamble, Integer.u16be(body.length), body)
}

/**
 * Whether an edge accepts a body of this length.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Join from "@catenet/crypto/admission/Join"
 *
 * ok(Join.isLengthAllowed(1) && Join.isLengthAllowed(1024) && !Join.isLengthAllowed(0))
 * ```
 */
export const isLengthAllowed = (length: number): boolean => length >= 1 && length <= maxBody

/**
 * Reads a first message from the start of a stream, with the number of bytes it took. `Incomplete` asks for more; it
 * never asks for more than 1,028 bytes. A preamble with an unknown phase is refused as the length it would otherwise be.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Join from "@catenet/crypto/admission/Join"
 *
 * strictEqual(Result.getOrThrow(Result.flip(Join.read(Uint8Array.of(0, 0)))).token, "len-oob")
 * strictEqual(Result.getOrThrow(Result.flip(Join.read(Uint8Array.of(0, 9))))._tag, "Incomplete")
 * ```
 */
export const read = (
  stream: Uint8Array
): Result.Result<{ readonly join: Join; readonly length: number }, Incomplete | BadJoin> => {
  const marked = stream[0] === preambleMark
  const start = marked ? 2 : 0
  if (stream.length < start) return Result.fail(new Incomplete())
  const phase = marked ? phases[(stream[1] ?? 0) - 1] : undefined
  if (marked && phase === undefined) return badJoin("unknown phase", "len-oob", true)
  if (stream.length < start + 2) return Result.fail(new Incomplete())
  const length = (stream[start] ?? 0) * 256 + (stream[start + 1] ?? 0)
  if (!isLengthAllowed(length)) return badJoin(`a body of ${length} bytes`, "len-oob")
  const end = start + 2 + length
  if (stream.length < end) return Result.fail(new Incomplete())
  return Result.match(decodeBody(stream.subarray(start + 2, end)), {
    onSuccess: (body) => Result.succeed({ join: { ...body, phase }, length: end }),
    onFailure: (error) => badJoin(error.why, "malformed")
  })
}
