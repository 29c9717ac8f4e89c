/**
 * The connection of an admitted member, until its session begins: it waits, and is acknowledged, refused or sent away. The
 * first words that the member says meanwhile belong to the session and are kept; what follows them stays in the stream.
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

  /** The stream is paused. `early` came behind the signature. */
  constructor(stream: Duplex, member: Member, early: Uint8Array) {
    this.stream = stream
    this.member = member
    this.#early = early
  }

  /** Calls back once when the member has gone while it waits. */
  watch(gone: () => void): void {
    this.#gone = gone
    const { member, stream } = this
    stream.on("close", this.#onGone)
    stream.on("data", this.#onData)
    // Members of the keepalive dialect keep their side open for as long as they wait; those of the plain one need not.
    if (member.keepAlive || member.closesWhole === true) stream.on("end", this.#onGone)
    if (stream.destroyed) this.#onGone()
    else if (this.#early.length === 0) stream.resume()
  }

  /** One NUL: the edge is still there. */
  tick(): void {
    this.stream.write(Buffer.of(0))
  }

  /** Tells it its peer. With `close` that was all; otherwise the stream is handed out, and the next byte is the peer's. */
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
      next: completion === "close" ? "close" : "peer"
    })
    if (completion === "close") this.#leave(`${line}\n`)
    else stream.write(`${line}\n`)
    return stream
  }

  /** What it has said already, for its peer: it would be lost to a stream that has ended meanwhile. */
  get early(): Uint8Array {
    return this.#early
  }

  refuse(category: Refusal.Token): void {
    this.#release()
    this.#leave(Refusal.encode(category))
  }

  /** It has waited too long, or joined anew: it comes again at once. */
  expire(): void {
    this.#release()
    this.#leave("EX")
  }

  /** Without a word. */
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
