/**
 * The program's end of the link to its QUIC process: it listens and dials there, and takes the connections that come.
 * @internal
 */
import { Entropy } from "@catenet/platform/Entropy"
import { Result } from "effect"
import type { Duplex } from "node:stream"
import type { CarrierStream } from "../../transport/Carrier.ts"
import { guarded, type OnFault } from "../../transport/FaultBoundary.ts"
import { type FrameMissing, FrameReader } from "../../transport/FrameReader.ts"
import { Mux } from "../../transport/Mux.ts"
import { decode, encode, type Endpoint, type LinkFrame } from "../link/LinkFrame.ts"
import { linkLimits } from "../link/LinkLimits.ts"
import { QuicConnection } from "../QuicConnection.ts"

/** What becomes of a connection that was let in: one of the two is called, once. */
export interface Accepted {
  readonly connected: (connection: QuicConnection) => void
  /** The handshake did not end well. */
  readonly failed: (why: string) => void
}

/** Asked before the handshake is done; a connection for which there is nothing is refused. */
export type OnIncoming = (remote: Endpoint) => Accepted | undefined

export type Listen = Omit<LinkFrame & { readonly _tag: "Listen" }, "_tag">
export type Dial = Omit<LinkFrame & { readonly _tag: "Dial" }, "_tag">

export interface Listening {
  readonly at: Endpoint
  /** The certificate of those that connect from now on; a failure is a sentence. One at a time. */
  readonly renew: (options: Listen) => Promise<Result.Result<Endpoint, string>>
  readonly close: () => void
}

const unexpected = (message: Result.Result<LinkFrame, FrameMissing>) =>
  Result.isFailure(message)
    ? `the QUIC process went away: ${message.failure.reason} ${message.failure.detail}`
    : `the QUIC process answered ${message.success._tag}`

const whyOf = (message: Result.Result<LinkFrame, FrameMissing>) =>
  Result.isSuccess(message) && message.success._tag === "Failed" ? message.success.why : unexpected(message)

export class QuicProcessLink {
  readonly #mux: Mux
  readonly #listeners = new Map<number, OnIncoming>()
  readonly #connections = new Map<number, QuicConnection>()
  readonly #report: OnFault
  readonly closed: Promise<unknown>

  constructor(socket: Duplex, report: OnFault) {
    this.#report = report
    this.#mux = new Mux(socket, {
      side: "acceptor",
      challenge: Entropy.randomBytes(32),
      keepAlive: false,
      limits: linkLimits,
      onFault: report,
      onStream: (stream) => void this.#came(stream).catch(report)
    })
    this.closed = this.#mux.closed
  }

  /** Resolves when it can listen and dial. */
  async ready(): Promise<boolean> {
    return Result.isSuccess(await this.#mux.ready)
  }

  close(): void {
    this.#mux.close("normal")
  }

  /** Connections come from the moment that the port is bound; a failure is a sentence. */
  async listen(options: Listen, onIncoming: OnIncoming): Promise<Result.Result<Listening, string>> {
    const opened = this.#mux.open({ registration: 0, kind: "mesh", tls: "none" })
    if (Result.isFailure(opened)) return Result.fail(opened.failure.message)
    const control = opened.success
    this.#listeners.set(control.id, onIncoming)
    control.once("close", () => this.#listeners.delete(control.id))
    const reader = new FrameReader(control)
    const ask = async (asked: Listen): Promise<Result.Result<Endpoint, string>> => {
      control.write(encode({ _tag: "Listen", ...asked }))
      const message = await reader.next(decode)
      reader.watch()
      return Result.isSuccess(message) && message.success._tag === "Listening"
        ? Result.succeed(message.success.at)
        : Result.fail(whyOf(message))
    }
    const bound = await ask(options)
    if (Result.isFailure(bound)) control.destroy()
    return Result.map(bound, (at) => ({ at, renew: ask, close: () => void control.destroy() }))
  }

  async dial(options: Dial, signal: AbortSignal): Promise<Result.Result<QuicConnection, string>> {
    const opened = this.#mux.open({ registration: 0, kind: "mesh", tls: "none" })
    if (Result.isFailure(opened)) return Result.fail(opened.failure.message)
    const control = opened.success
    const reader = new FrameReader(control)
    const abandon = () => control.destroy()
    signal.addEventListener("abort", abandon, { once: true })
    control.write(encode({ _tag: "Dial", ...options }))
    const message = await reader.next(decode)
    signal.removeEventListener("abort", abandon)
    if (Result.isSuccess(message) && message.success._tag === "Connected")
      return Result.succeed(this.#connected(control, reader, message.success.remote))
    reader.release()
    control.destroy()
    return Result.fail(whyOf(message))
  }

  async #came(stream: CarrierStream): Promise<void> {
    const reader = new FrameReader(stream)
    const message = await reader.next(decode)
    const frame = Result.isSuccess(message) ? message.success : undefined
    if (frame?._tag === "Incoming") return this.#admit(stream, reader, frame)
    reader.release()
    if (frame?._tag !== "Stream") return stream.reset("protocol", "not for this side")
    const connection = this.#connections.get(frame.connection)
    if (connection === undefined) return stream.reset("lost", "the connection has ended")
    // A throw there ends this connection, and no other one.
    guarded(this.#ending(connection), (came: CarrierStream) => connection.came(came))(stream)
  }

  async #admit(
    control: CarrierStream,
    reader: FrameReader,
    { listener, remote }: LinkFrame & { readonly _tag: "Incoming" }
  ): Promise<void> {
    let accepted: Accepted | undefined
    guarded(this.#report, () => {
      accepted = this.#listeners.get(listener)?.(remote)
    })()
    const { connected, failed }: Accepted = accepted ?? { connected: () => undefined, failed: () => undefined }
    control.write(encode({ _tag: "Judged", verdict: accepted === undefined ? "refuse" : "accept" }))
    if (accepted === undefined) {
      reader.release()
      control.end()
      control.resume()
      return
    }
    const message = await reader.next(decode)
    if (Result.isSuccess(message) && message.success._tag === "Connected") {
      const connection = this.#connected(control, reader, message.success.remote)
      return guarded(this.#ending(connection), connected)(connection)
    }
    reader.release()
    control.destroy()
    failed(whyOf(message))
  }

  #ending(connection: QuicConnection): OnFault {
    return (error) => {
      this.#report(error)
      connection.close()
    }
  }

  #connected(control: CarrierStream, reader: FrameReader, remote: Endpoint): QuicConnection {
    const connection = new QuicConnection(this.#mux, control, reader, remote)
    this.#connections.set(control.id, connection)
    void connection.closed.then(() => this.#connections.delete(control.id)).catch(this.#report)
    return connection
  }
}
