/** Reads a connection's ClientHello without consuming it. */
import { Data, Result } from "effect"
import type { Buffer } from "node:buffer"
import type { Duplex } from "node:stream"
import { type ClientHello, ClientHelloReader } from "../frames/ClientHello.ts"

/** No hello: it did not come in time, the connection closed first, or the bytes are no hello. */
export class HelloRefused extends Data.TaggedError("HelloRefused")<{
  readonly reason: "timeout" | "closed" | "invalid"
  readonly detail: string
}> {
  override get message() {
    return `no ClientHello: ${this.reason}${this.detail === "" ? "" : `, ${this.detail}`}`
  }
}

/** It stays with the socket, so it must hold nothing of the hello. */
const ignore = () => {}

/**
 * Leaves the socket paused with every byte put back, to be given to a TLS server or relayed as it is; after a refusal
 * the socket is only paused.
 */
export const peekClientHello = (
  socket: Duplex,
  { timeoutMillis = 10_000 }: { readonly timeoutMillis?: number } = {}
): Promise<Result.Result<ClientHello, HelloRefused>> => {
  const { promise, resolve } = Promise.withResolvers<Result.Result<ClientHello, HelloRefused>>()
  const reader = new ClientHelloReader()
  const settle = (result: Result.Result<ClientHello, HelloRefused>) => {
    clearTimeout(timer)
    socket.off("data", onData)
    for (const event of ["end", "error", "close"]) socket.off(event, onClosed)
    socket.pause()
    if (Result.isSuccess(result)) socket.unshift(reader.bytes)
    resolve(result)
  }
  const refuse = (reason: HelloRefused["reason"], detail: string) =>
    settle(Result.fail(new HelloRefused({ reason, detail })))
  const onData = (chunk: Buffer) => {
    const peek = reader.push(chunk)
    if (peek._tag === "Hello") settle(Result.succeed(peek.hello))
    else if (peek._tag === "Invalid") refuse("invalid", peek.reason)
  }
  const onClosed = () => refuse("closed", "")
  // A bound on a raw socket: a silent client must not keep its connection.
  const timer = setTimeout(() => refuse("timeout", ""), timeoutMillis)
  for (const event of ["end", "error", "close"]) socket.on(event, onClosed)
  socket.on("error", ignore)
  socket.on("data", onData)
  socket.resume()
  return promise
}
