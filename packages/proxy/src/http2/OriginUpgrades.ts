/** Upgrades of HTTP/1.1 for an origin that speaks HTTP/2: a WebSocket by extended CONNECT (RFC 8441), or over HTTP/1.1. */
import { type IncomingMessage, ServerResponse } from "@catenet/platform/Http"
import { guard, guarded, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { splice } from "@catenet/wire/transport/Splice"
import { Result } from "effect"
import type { ClientHttp2Stream, IncomingHttpHeaders } from "node:http2"
import type { Socket } from "node:net"
import { acceptanceOf, withoutHop } from "./Http2WebSocket.ts"

/** The head of an HTTP/2 answer, in HTTP/1.1. */
export const begin = (response: ServerResponse, headers: IncomingHttpHeaders, isWhole: boolean) => {
  for (const [name, value] of Object.entries(headers))
    if (!name.startsWith(":") && value !== undefined) response.setHeader(name, value)
  // Without it the end would be a chunk, and a gRPC client would wait for trailers behind it.
  if (isWhole && headers["content-length"] === undefined) response.setHeader("content-length", 0)
  response.writeHead(Number(headers[":status"] ?? 502))
  response.flushHeaders()
}

/** Both directions until they end. */
const carry = (client: Socket, far: Socket | ClientHttp2Stream, onFault: OnFault) =>
  void splice(client, far, { onFault })

/** The request as it came, on a connection on which the origin speaks HTTP/1.1. */
export const upgradeAtOrigin = (
  { method, rawHeaders, url }: IncomingMessage,
  client: Socket,
  first: Buffer,
  far: Socket,
  onFault: OnFault
) => {
  if (client.destroyed) return void far.destroy()
  let head = `${method} ${url} HTTP/1.1\r\n`
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) head += `${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`
  far.write(`${head}\r\n`, "latin1")
  far.write(first)
  return carry(client, far, onFault)
}

/** Fields of the origin's answer to CONNECT, for one to an upgrade. */
const switched = (headers: IncomingHttpHeaders, key: string) => {
  const fields = Object.entries(withoutHop(headers)).filter(([name]) => !name.startsWith(":"))
  return [
    "HTTP/1.1 101 Switching Protocols",
    "Connection: Upgrade",
    "Upgrade: websocket",
    `Sec-WebSocket-Accept: ${acceptanceOf(key)}`,
    ...fields.flatMap(([name, value]) => [value ?? []].flat().map((one) => `${name}: ${one}`)),
    "\r\n"
  ].join("\r\n")
}

/** Opens the WebSocket on a stream, which `open` makes. An answer that refuses it is passed on. */
export const openAtOrigin = (
  request: IncomingMessage,
  client: Socket,
  first: Buffer,
  open: () => ClientHttp2Stream,
  onFault: OnFault
) => {
  const opened = Result.try(open)
  if (Result.isFailure(opened)) return void client.destroy()
  const stream = opened.success
  const leave = () => void stream.close(8)
  const gone = () => void client.destroy()
  client.once("close", leave)
  stream.on("error", () => undefined)
  stream.once("close", gone)
  stream.once(
    "response",
    guarded(onFault, (headers: IncomingHttpHeaders) => {
      client.off("close", leave)
      stream.off("close", gone)
      if (Number(headers[":status"]) === 200) {
        client.write(switched(headers, String(request.headers["sec-websocket-key"])), "latin1")
        if (first.length > 0) client.unshift(first)
        return carry(client, stream, onFault)
      }
      const response = guard(new ServerResponse(request), onFault)
      response.shouldKeepAlive = false
      response.assignSocket(client)
      response.once("close", () => stream.close())
      response.once("finish", () => client.end())
      begin(response, headers, false)
      return stream.pipe(response)
    })
  )
}
