/**
 * The connection of an admitted member until its session begins: it waits, and is acknowledged, refused or sent away. Bytes that
 * arrive while it waits belong to the session: the first ones are buffered, the rest stays in the stream.
 */
import * as Acknowledgement from "@catenet/crypto/admission/Acknowledgement"
import * as Refusal from "@catenet/crypto/admission/Refusal"
import * as Bytes from "@catenet/crypto/Bytes"
import { closeGracefully } from "@catenet/wire/transport/LingeringClose"
import type { Duplex } from "node:stream"
import { addressOf, keysOf, type Member } from "./Member.ts"

const unobserved = "0.0.0.0:0"

export class PendingMember {
  readonly member: Member
  readonly stream: Duplex
  #gone: () => void = () => {}
  #early: Uint8Array

  /** The stream is paused. `early` are the bytes after the signature. */
  constructor(stream: Duplex, member: Member, early: Uint8Array) {
    this.stream = stream
    this.member = member
    this.#early = early
  }

  /** Calls back once if the member leaves while it waits. */
  watch(gone: () => void): void {
    this.#gone = gone
    const { member, stream } = this
    stream.on("close", this.#onGone)
    stream.on("data", this.#onData)
    // Members of the keepalive dialect keep their side open while they wait; those of the plain dialect need not.
    if (member.keepAlive || member.closesWhole === true) stream.on("end", this.#onGone)
    if (stream.destroyed) this.#onGone()
    else if (this.#early.length === 0) stream.resume()
  }

  /** Sends one NUL byte as a keepalive. */
  tick(): void {
    this.stream.write(Buffer.of(0))
  }

  /**
   * Sends the peer's facts. With `close` that ends the connection; otherwise it returns the stream, whose next byte comes from the
   * peer.
   */
  acknowledge(peer: Member, role: Acknowledgement.Role, completion: "close" | "splice"): Duplex {
    this.#release()
    const { member, stream } = this
    const line = Acknowledgement.write({
      peerEndpoint: peer.endpoint,
      peerKeys: keysOf(peer),
      observed: member.observed ?? unobserved,
      samePublicIp: addressOf(member) !== undefined && addressOf(member) === addressOf(peer),
      role,
      peerRights: peer.grant.rights,
      peerGrantEnds: peer.grant.expiresAt,
      next: completion === "close" ? "close" : "peer",
      // A member without an offer reads the line as it was before there were any.
      ...(member.offer === undefined ? {} : { offer: peer.offer ?? "" })
    })
    if (completion === "close") this.#leave(`${line}\n`)
    else stream.write(`${line}\n`)
    return stream
  }

  /** The bytes that it has already sent, for its peer: they would be lost if the stream has ended. */
  get early(): Uint8Array {
    return this.#early
  }

  refuse(category: Refusal.Token): void {
    this.#release()
    this.#leave(Refusal.encode(category))
  }

  /** It has waited too long or joined again: it rejoins at once. */
  expire(): void {
    this.#release()
    this.#leave("EX")
  }

  /** Closes the connection without an answer. */
  cut(): void {
    this.#release()
    this.stream.destroy()
  }

  #leave(finalBytes: string | Uint8Array): void {
    this.stream.end(finalBytes)
    closeGracefully(this.stream)
  }

  readonly #onGone = (): void => {
    this.#release()
    this.stream.destroy()
    this.#gone()
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#early = Bytes.copy(chunk)
    this.stream.pause()
  }

  #release(): void {
    const { stream } = this
    stream.off("close", this.#onGone).off("end", this.#onGone).off("data", this.#onData)
    stream.pause()
  }
}
