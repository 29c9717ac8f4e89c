/**
 * How an edge gets the keys of session tickets: it sends a fresh X25519 key that its own key signs, and the answer is the second
 * message of a Noise NN handshake, so that only this edge can read the keys, even if traffic is recorded or logged. NN does not
 * authenticate the control plane: the connection has to.
 */
import { Result } from "effect"
import * as Bytes from "./Bytes.ts"
import { initiate, respond } from "./noise/Noise.ts"
import type { KeyRefused, ReadError, WriteError } from "./noise/NoiseError.ts"
import * as Preimage from "./Preimage.ts"
import { defineDetached } from "./SignedRecord.ts"
import type { Suite } from "./Suite.ts"

const label = "ct-edge-ticket-keys-v1"

/** The requesting edge, and the first message of its handshake: 32 bytes. */
export interface Question {
  readonly id: string
  readonly message: Uint8Array
}

/** A request that waits for its answer. */
export interface Asked extends Question {
  /** The content of the answer. It can be opened once. */
  readonly open: (answer: Uint8Array) => Result.Result<Uint8Array, ReadError>
}

/** The signed bytes, and what both sides of the handshake agree on: raw label ‖ u64le length of id ‖ id ‖ message. */
const layout = defineDetached({
  domain: label,
  isRaw: true,
  fields: { id: Preimage.text64, message: (message: Uint8Array) => message }
})

const prologue = (id: string) => layout.preimage({ id, message: new Uint8Array(0) })

/**
 * Makes a request. `entropy` is 32 fresh random bytes, which are consumed.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import { portable } from "@catenet/crypto/portable"
 * import * as TicketKeyRequest from "@catenet/crypto/TicketKeyRequest"
 *
 * const random = (byte: number) => new Uint8Array(32).fill(byte)
 * const asked = Result.getOrThrow(TicketKeyRequest.ask(portable, "edge-1", random(1)))
 * const answer = Result.getOrThrow(TicketKeyRequest.answer(portable, asked, random(2), Uint8Array.of(7)))
 * strictEqual(Result.getOrThrow(asked.open(answer))[0], 7)
 * ```
 */
export const ask = (suite: Suite, id: string, entropy: Uint8Array): Result.Result<Asked, KeyRefused | WriteError> =>
  Result.gen(function* () {
    const handshake = yield* initiate(suite, { pattern: "NN", prologue: prologue(id), entropy })
    return { id, message: yield* handshake.writeMessage(), open: (answer) => handshake.readMessage(answer) }
  })

/**
 * Answers a request with a valid signature. `entropy` is 32 fresh random bytes, which are consumed.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import { portable } from "@catenet/crypto/portable"
 * import * as TicketKeyRequest from "@catenet/crypto/TicketKeyRequest"
 *
 * const lowOrder = { id: "edge-1", message: new Uint8Array(32) }
 * const entropy = new Uint8Array(32).fill(2)
 * ok(Result.isFailure(TicketKeyRequest.answer(portable, lowOrder, entropy, Uint8Array.of(7))))
 * ```
 */
export const answer = (
  suite: Suite,
  { id, message }: Question,
  entropy: Uint8Array,
  plain: Uint8Array
): Result.Result<Uint8Array, KeyRefused | ReadError | WriteError> =>
  Result.gen(function* () {
    const handshake = yield* respond(suite, { pattern: "NN", prologue: prologue(id), entropy })
    yield* handshake.readMessage(message)
    return yield* handshake.writeMessage(plain)
  })

/**
 * The 64-byte signature of a request, and its verification with the edge's key.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import { portable } from "@catenet/crypto/portable"
 * import * as TicketKeyRequest from "@catenet/crypto/TicketKeyRequest"
 *
 * const seed = new Uint8Array(32).fill(5)
 * const question = { id: "edge-1", message: new Uint8Array(32).fill(9) }
 * const signature = TicketKeyRequest.sign(portable, Redacted.make(seed), question)
 * ok(TicketKeyRequest.verify(portable, portable.ed25519.publicKey(seed), question, signature))
 * ```
 */
export const { sign, verify } = layout

const assertionLabel = Bytes.fromText("ct-edge-visitor-assertion-v1")

/**
 * The Ed25519 seed by which edges sign who visitors are, as it follows from a key of session tickets: edges with the same keys, and
 * the control plane that gave them, know the same seed. 32 bytes.
 *
 * ```ts
 * import { notDeepStrictEqual, strictEqual } from "node:assert"
 * import { portable } from "@catenet/crypto/portable"
 * import * as TicketKeyRequest from "@catenet/crypto/TicketKeyRequest"
 *
 * const seedOf = (byte: number) => TicketKeyRequest.assertionSeed(portable, new Uint8Array(48).fill(byte))
 * strictEqual(seedOf(1).length, 32)
 * notDeepStrictEqual(seedOf(1), seedOf(2))
 * ```
 */
export const assertionSeed = (suite: Suite, ticketKey: Uint8Array): Uint8Array =>
  suite.hmacSha256(ticketKey, assertionLabel)
