/**
 * A Noise handshake under way (revision 34, section 5.3): an interpreter over patterns, for either side.
 *
 * It is used once. `finish` turns it into a `Transport` and clears it; an invalid message of the peer ends it too, and `abandon` does at
 * any time. It does not authenticate identities: a caller that accepts any peer in `XX` or any initiator in `IK` must compare `remoteStatic` with the
 * expected key.
 */
import { Result } from "effect"
import * as Bytes from "../Bytes.ts"
import {
  BadEncapsulationKey,
  kemLengths,
  LowOrderPoint,
  type Encapsulation,
  type KemKeyPair,
  type KeyPair,
  type MlKem768
} from "../Suite.ts"
import {
  extended,
  overhead,
  sealed,
  sender,
  type Agreement,
  type Pattern,
  type Role,
  type Token
} from "./HandshakePattern.ts"
import { HandshakeConsumed, MessageTooLong, MessageTooShort, OutOfTurn } from "./NoiseError.ts"
import type { ReadError, WriteError } from "./NoiseError.ts"
import type { SymmetricState } from "./SymmetricState.ts"
import { maxMessage, Transport } from "./Transport.ts"

/** Of a public key's last byte: X25519 ignores it (RFC 7748 section 5). */
export const topBit = 0x80

const nothing = new Uint8Array(0)

/** Whether what begins with a public key has its mark. */
const isMarked = (key: Uint8Array | undefined) => ((key?.[31] ?? 0) & topBit) !== 0

/** One side makes a pair of the entropy; the other gets its public key and encapsulates with it. */
export interface Kem {
  readonly suite: MlKem768
  readonly entropy: Uint8Array
  pair: KemKeyPair | undefined
  theirs: Uint8Array | undefined
}

/** The state of one side. */
export interface State {
  readonly role: Role
  pattern: Pattern
  /** Whether a peer's mark extends the pattern. */
  readonly isMarked: boolean
  readonly symmetric: SymmetricState
  readonly static: KeyPair | undefined
  readonly ephemeral: KeyPair
  /** What a hybrid pattern uses beside the ephemeral keys. */
  readonly kem: Kem | undefined
  remoteStatic: Uint8Array | undefined
  remoteEphemeral: Uint8Array | undefined
  /** Index of the next message. */
  index: number
}

type Step = "write" | "read" | "finish"

const nextStep = ({ role, pattern, index }: State): Step => {
  if (index === pattern.messages.length) return "finish"
  return sender(index) === role ? "write" : "read"
}

const tokensOf = ({ pattern, index }: State): ReadonlyArray<Token> => pattern.messages[index] ?? []

/** The first letter names the initiator's key, the second the responder's. A key not there agrees with nothing. */
const agree = (state: State, token: Agreement): Result.Result<Uint8Array, LowOrderPoint> => {
  const [own, theirs] = state.role === "initiator" ? token : [token[1], token[0]]
  const pair = own === "e" ? state.ephemeral : state.static
  const publicKey = theirs === "e" ? state.remoteEphemeral : state.remoteStatic
  return (publicKey && pair?.sharedSecret(publicKey)) ?? Result.fail(new LowOrderPoint())
}

/** A key from the peer that is none ends the handshake where it would be used. */
const encapsulate = ({ kem }: State): Result.Result<Encapsulation, BadEncapsulationKey> =>
  kem?.theirs === undefined ? Result.fail(new BadEncapsulationKey()) : kem.suite.encapsulate(kem.theirs, kem.entropy)

const encapsulationKey = ({ kem }: State): Uint8Array => {
  if (kem === undefined) return new Uint8Array(kemLengths.publicKey)
  kem.pair ??= kem.suite.keyPair(kem.entropy)
  return kem.pair.publicKey
}

/** Mixes a secret, which is used once, and wipes it. */
const mixSecret = (symmetric: SymmetricState, secret: Uint8Array) => {
  symmetric.mixKey(secret)
  secret.fill(0)
}

const write = (state: State, tokens: ReadonlyArray<Token>, payload: Uint8Array, message: Uint8Array) =>
  Result.gen(function* () {
    const { symmetric, ephemeral } = state
    let end = 0
    const append = (part: Uint8Array): void => {
      message.set(part, end)
      end += part.length
    }
    for (const token of tokens) {
      if (token === "e") {
        append(ephemeral.publicKey)
        symmetric.mixHash(ephemeral.publicKey)
      } else if (token === "s") {
        append(yield* symmetric.encryptAndHash(state.static?.publicKey ?? nothing))
      } else if (token === "e1") {
        append(yield* symmetric.encryptAndHash(encapsulationKey(state)))
      } else if (token === "ekem1") {
        const { ciphertext, sharedSecret } = yield* encapsulate(state)
        append(yield* symmetric.encryptAndHash(ciphertext))
        mixSecret(symmetric, sharedSecret)
      } else {
        mixSecret(symmetric, yield* agree(state, token))
      }
    }
    append(yield* symmetric.encryptAndHash(payload))
    return message
  })

const read = (state: State, tokens: ReadonlyArray<Token>, message: Uint8Array) =>
  Result.gen(function* () {
    const { symmetric } = state
    let start = 0
    const take = (length: number): Uint8Array => message.subarray(start, (start += length))
    for (const token of tokens) {
      if (token === "e") {
        state.remoteEphemeral = Bytes.copy(take(32))
        symmetric.mixHash(state.remoteEphemeral)
      } else if (token === "s") {
        state.remoteStatic = yield* symmetric.decryptAndHash(take(sealed(32, symmetric.keyed)))
      } else if (token === "e1") {
        const theirs = yield* symmetric.decryptAndHash(take(sealed(kemLengths.publicKey, symmetric.keyed)))
        if (state.kem !== undefined) state.kem.theirs = theirs
      } else if (token === "ekem1") {
        const ciphertext = yield* symmetric.decryptAndHash(take(sealed(kemLengths.ciphertext, symmetric.keyed)))
        mixSecret(symmetric, state.kem?.pair?.decapsulate(ciphertext) ?? nothing)
      } else {
        mixSecret(symmetric, yield* agree(state, token))
      }
    }
    return yield* symmetric.decryptAndHash(message.subarray(start))
  })

/**
 * One side of a handshake. Made by `initiate` and `respond`.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import { initiate } from "@catenet/crypto/noise/Noise"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const handshake = Result.getOrThrow(initiate(portable, { pattern: "NN", entropy: new Uint8Array(32).fill(1) }))
 * strictEqual(Result.getOrThrow(Result.flip(handshake.finish()))._tag, "OutOfTurn")
 * strictEqual(Result.getOrThrow(handshake.writeMessage()).length, 32)
 * strictEqual(handshake.next, "read")
 * strictEqual(Result.getOrThrow(Result.flip(handshake.readMessage(new Uint8Array(3))))._tag, "MessageTooShort")
 * strictEqual(Result.getOrThrow(Result.flip(handshake.finish()))._tag, "HandshakeConsumed")
 * ```
 */
export class Handshake {
  #state: State | undefined

  constructor(state: State) {
    this.#state = state
  }

  /** The next step of this side; undefined once the handshake is over. */
  get next(): Step | undefined {
    return this.#state === undefined ? undefined : nextStep(this.#state)
  }

  /** The peer's static key, as soon as it is known and as long as the handshake lasts. */
  get remoteStatic(): Uint8Array | undefined {
    return this.#state?.remoteStatic
  }

  /** Whether the peer says, inside the transcript, that it speaks hybrid patterns (`Options.wouldBeHybrid`). */
  get peerWouldBeHybrid(): boolean {
    return isMarked(this.#state?.remoteEphemeral)
  }

  /** The next message, with `payload` inside. How well a payload is protected depends on the pattern and its place. */
  writeMessage(payload: Uint8Array = nothing): Result.Result<Uint8Array, WriteError> {
    return Result.flatMap(this.#turn("write"), (state): Result.Result<Uint8Array, WriteError> => {
      const tokens = tokensOf(state)
      const length = overhead(tokens, state.symmetric.keyed) + payload.length
      if (length > maxMessage) return Result.fail(new MessageTooLong({ length, limit: maxMessage }))
      return this.#advance(state, write(state, tokens, payload, new Uint8Array(length)))
    })
  }

  /** The payload of the peer's message. An invalid message ends the handshake. */
  readMessage(message: Uint8Array): Result.Result<Uint8Array, ReadError> {
    return Result.flatMap(this.#turn("read"), (state): Result.Result<Uint8Array, ReadError> => {
      // Both begin their first message with their ephemeral key.
      if (state.isMarked && state.index < 2 && isMarked(message)) state.pattern = extended(state.pattern)
      const tokens = tokensOf(state)
      const needed = overhead(tokens, state.symmetric.keyed)
      const { length } = message
      if (length > maxMessage) return this.#end(new MessageTooLong({ length, limit: maxMessage }))
      if (length < needed) return this.#end(new MessageTooShort({ length, needed }))
      return this.#advance(state, read(state, tokens, message))
    })
  }

  /** The session, once all messages are exchanged. The handshake is consumed. */
  finish(): Result.Result<Transport, HandshakeConsumed | OutOfTurn> {
    return Result.map(this.#turn("finish"), (state) => {
      const { role, symmetric, remoteStatic } = state
      const [initiator, responder] = symmetric.split()
      this.#clear(state)
      const [sending, receiving] = role === "initiator" ? [initiator, responder] : [responder, initiator]
      return new Transport(sending, receiving, symmetric.hash, remoteStatic)
    })
  }

  /** Ends it and clears its secrets, wherever it is; without effect once it is over. For a peer that does not answer. */
  abandon(): void {
    if (this.#state !== undefined) this.#clear(this.#state)
  }

  #turn(step: Step): Result.Result<State, HandshakeConsumed | OutOfTurn> {
    if (this.#state === undefined) return Result.fail(new HandshakeConsumed())
    const next = nextStep(this.#state)
    return next === step ? Result.succeed(this.#state) : Result.fail(new OutOfTurn({ next }))
  }

  #advance<E>(state: State, outcome: Result.Result<Uint8Array, E>): Result.Result<Uint8Array, E> {
    if (Result.isFailure(outcome)) return this.#end(outcome.failure)
    state.index++
    return outcome
  }

  #end<E>(reason: E): Result.Result<never, E> {
    this.abandon()
    return Result.fail(reason)
  }

  #clear({ kem, symmetric }: State) {
    kem?.entropy.fill(0)
    symmetric.wipe()
    this.#state = undefined
  }
}
