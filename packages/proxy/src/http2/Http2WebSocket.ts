/**
 * A WebSocket that an HTTP/2 visitor opens by extended CONNECT (RFC 8441), carried as the upgrade of HTTP/1.1 that origins know. Its
 * stream is the connection: END_STREAM is the end of one direction, and a reset ends both.
 */
import { Entropy } from "@catenet/platform/Entropy"
import { guard, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { type Incoming, sendAnswer, tear } from "@catenet/wire/transport/Http2Stream"
import { answerFields } from "@catenet/wire/transport/HttpFields"
import type { KeepAliveAgent } from "@catenet/wire/transport/KeepAliveAgent"
import { Result } from "effect"
import { createHash } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http2"
import type { Duplex } from "node:stream"
import type { Visitor } from "../http1/RequestHead.ts"
import { malformedPage, plainResponse } from "../ProxyPages.ts"
import { askOrigin, editing, respond, respondFailed } from "./Http2Exchange.ts"
import { toOrigin } from "./Http2Fields.ts"
import { readRequest } from "./Http2Request.ts"

/** The request asks for a WebSocket. Other protocols over CONNECT are not served. */
export const isWebSocket = ({ ":method": method, ":protocol": protocol }: IncomingHttpHeaders): boolean =>
  method === "CONNECT" && protocol === "websocket"

/** What an origin proves with that it has read the key (RFC 6455 section 4.2.2). */
export const acceptanceOf = (key: string) =>
  createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64")

/** Names that are about the handshake of one hop, or about a body that there is none of. */
const hopNames = new Set(["sec-websocket-key", "sec-websocket-accept", "content-length", "te"])

export const withoutHop = <A extends object>(fields: A): A =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !hopNames.has(name.toLowerCase()))) as A

/** Both directions, each until its own end. A visitor that resets its stream ends the origin's connection without an end. */
const join = ({ isWhole, stream }: Incoming, socket: Duplex) => {
  const carry = (from: Duplex, to: Duplex, ended: () => boolean) => {
    from.on("data", (chunk: Buffer) => {
      if (!to.destroyed && !to.write(chunk)) from.pause()
    })
    to.on("drain", () => from.resume())
    from.once("end", () => (ended() ? void to.end() : void to.destroy()))
  }
  carry(stream, socket, isWhole)
  carry(socket, stream, () => true)
  socket.once("error", () => tear(stream))
  socket.once("close", () => {
    if (!socket.readableEnded) tear(stream)
  })
  stream.once("close", () => {
    if (!(isWhole() && stream.writableFinished)) socket.destroy()
  })
}

export const openWebSocket = (incoming: Incoming, visitor: Visitor, agent: KeepAliveAgent, onFault: OnFault): void => {
  const { headers, stream } = incoming
  const read = readRequest({ ...headers, ":method": "GET" }, visitor)
  if (Result.isFailure(read)) return respond(stream, headers, plainResponse(read.failure.status, read.failure.reason))
  const { authority, path } = read.success
  const key = Buffer.from(Entropy.randomBytes(16)).toString("base64")
  const request = {
    agent,
    method: "GET",
    path,
    headers: {
      ...toOrigin(withoutHop(headers), visitor, authority, false),
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Key": key
    },
    repeatable: false
  }
  const asked = askOrigin(incoming, request, onFault)
  if (asked === undefined) return
  const { leave, outgoing } = asked
  outgoing.on("error", (error) => respondFailed(stream, headers, error))
  outgoing.on("response", (response) =>
    sendAnswer(
      stream,
      guard(response, onFault),
      () => respond(stream, headers, malformedPage("a field that HTTP/2 cannot carry")),
      editing(visitor)
    )
  )
  outgoing.on("upgrade", (response, socket, first) => {
    guard(socket, onFault)
    socket.on("error", () => undefined)
    stream.off("close", leave)
    if (stream.destroyed) return void socket.destroy()
    if (response.headers["sec-websocket-accept"] !== acceptanceOf(key)) {
      socket.destroy()
      return respond(stream, headers, malformedPage("an upgrade to WebSocket without the proof that it read the key"))
    }
    const begun = Result.try(() => stream.respond({ ...withoutHop(answerFields(response)), ":status": 200 }))
    if (Result.isFailure(begun)) {
      socket.destroy()
      return respond(stream, headers, malformedPage("a field that HTTP/2 cannot carry"))
    }
    if (first.length > 0) socket.unshift(first)
    join(incoming, socket)
  })
  outgoing.end()
}
