/** Reads a connection's ClientHello without consuming it. */
import { Data, Result } from "effect"
import { Buffer } from "node:buffer"
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

/** PostgreSQL's SSLRequest, by which its clients ask whether the server speaks TLS before they do, and the answer that it does. */
const sslRequest = Buffer.from("0000000804d2162f", "hex")
const speaksTls = "S"

/** What is left to read as a hello: nothing yet, or all bytes so far. Answers a request that has come whole. */
const afterSslRequest = (socket: Duplex, bytes: Buffer): Buffer | "more" | "answered" => {
  const { length } = sslRequest
  if (bytes.length < length) return bytes.equals(sslRequest.subarray(0, bytes.length)) ? "more" : bytes
  // A client waits for the answer; what comes before it would not be protected.
  if (bytes.length > length || !bytes.equals(sslRequest)) return bytes
  socket.write(speaksTls)
  return "answered"
}

/**
 * Leaves the socket paused with every byte put back, to be given to a TLS server or relayed as it is; after a refusal
 * the socket is only paused. With `answersSslRequest` a PostgreSQL client may ask for TLS first.
 */
export const peekClientHello = (
  socket: Duplex,
  {
    answersSslRequest = false,
    timeoutMillis = 10_000
  }: { readonly answersSslRequest?: boolean; readonly timeoutMillis?: number } = {}
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
  let asked: Buffer | undefined = answersSslRequest ? Buffer.alloc(0) : undefined
  const onData = (chunk: Buffer) => {
    // The first byte of a TLS record is not 0.
    const request = asked !== undefined && (asked.length > 0 || chunk[0] === 0) ? Buffer.concat([asked, chunk]) : chunk
    const rest = asked === undefined ? chunk : afterSslRequest(socket, request)
    asked = rest === "more" ? request : undefined
    if (rest === "more" || rest === "answered") return
    const peek = reader.push(rest)
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
