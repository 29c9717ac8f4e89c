/** The errors of a Noise session. They are for logs: the peer sees only that the session ends. */
import { Data } from "effect"
import type { AuthenticationFailed, BadEncapsulationKey, LowOrderPoint } from "../Suite.ts"

/** A message or plaintext above `limit` bytes. */
export class MessageTooLong extends Data.TaggedError("MessageTooLong")<{
  readonly length: number
  readonly limit: number
}> {
  override get message() {
    return `${this.length} bytes are more than the ${this.limit} that fit`
  }
}

/** A handshake message that cannot hold the keys and tags of its place in the pattern. */
export class MessageTooShort extends Data.TaggedError("MessageTooShort")<{
  readonly length: number
  readonly needed: number
}> {
  override get message() {
    return `${this.length} bytes are fewer than the ${this.needed} that this handshake message has at least`
  }
}

/** All nonces of a direction are used: 2^64-1 is reserved. The session must end. */
export class NonceExhausted extends Data.TaggedError("NonceExhausted") {
  override get message() {
    return "this direction has sent all the messages its key allows"
  }
}

/** A call that is not the next step; nothing has changed. */
export class OutOfTurn extends Data.TaggedError("OutOfTurn")<{ readonly next: "write" | "read" | "finish" }> {
  override get message() {
    return `the next step of this handshake is to ${this.next}`
  }
}

/** The handshake was finished, or a message from the peer ended it. */
export class HandshakeConsumed extends Data.TaggedError("HandshakeConsumed") {
  override get message() {
    return "this handshake is over"
  }
}

/**
 * A key that does not suit the pattern. A key that the pattern does not use is refused, because the caller would believe that the
 * peer is pinned.
 */
export class KeyRefused extends Data.TaggedError("KeyRefused")<{
  readonly key: "static" | "remoteStatic" | "entropy"
  readonly reason: "missing" | "unused" | "malformed" | "spent"
}> {
  override get message() {
    return `the ${this.key} key is ${this.reason}`
  }
}

/** Errors of writing a handshake message. Only a bad key of the peer ends the handshake. */
export type WriteError =
  HandshakeConsumed | OutOfTurn | MessageTooLong | LowOrderPoint | BadEncapsulationKey | NonceExhausted

/** Errors of reading one. All but the first two end the handshake. */
export type ReadError = WriteError | MessageTooShort | AuthenticationFailed
