/**
 * Lets the inspector see what passes on a connection to the origin. Every visit ends in such a connection, in HTTP/1.1 and readable,
 * whoever ended its TLS and whatever version the visitor speaks; without an inspector no connection is touched.
 */
import type { OnFault } from "@catenet/wire/transport/FaultBoundary"
import { Effect } from "effect"
import type { Duplex } from "node:stream"
import { bytesOf as jsonBytes } from "../channel/mcp/StdioTransport.ts"
import type { InspectedCall, Inspection, Visit } from "../observe/Inspection.ts"
import type { Recorded } from "./Exchange.ts"
import { ExchangeFollower } from "./ExchangeFollower.ts"
import type { Recording } from "./Recording.ts"

type Done = (error?: Error | null) => void

const bytesOf = (chunk: unknown, encoding: BufferEncoding | undefined) =>
  Buffer.isBuffer(chunk)
    ? chunk
    : chunk instanceof Uint8Array
      ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
      : Buffer.from(String(chunk), encoding === undefined || !Buffer.isEncoding(encoding) ? "utf8" : encoding)

const answered = Buffer.from("HTTP/1.1 200 OK\r\ncontent-type: application/json")
const noRepeat = new Error("A call over a channel is not sent again: only its caller can do that.")

/** A call as the request of MCP that it would be over HTTP, which is how it is shown. */
const recorded = (recording: Recording, { args, peer, tool }: InspectedCall): ReturnType<Inspection["called"]> => {
  const visit: Recorded = {
    client: peer,
    host: "channel",
    tls: "agent",
    http: "1.1",
    connectMillis: undefined,
    dial: Effect.fail(noRepeat)
  }
  const head = "POST /mcp HTTP/1.1\r\nhost: channel\r\ncontent-type: application/json"
  const id = recording.begin(visit, Buffer.from(head))
  const params = { name: tool, arguments: args }
  recording.append(id, "request", jsonBytes({ jsonrpc: "2.0", id: 1n, method: "tools/call", params }))
  recording.sent(id)
  return (end) => {
    if ("answer" in end) {
      recording.respond(id, answered)
      recording.append(id, "response", end.answer)
    } else recording.fail(id, end.why)
    recording.finish(id, !("answer" in end))
  }
}

/** What an agent, or one of its services, calls for each visit while this recording is kept. */
export const inspection = (recording: Recording, onFault: OnFault, service?: string): Inspection => {
  const named = (visit: Visit): Recorded => (service === undefined ? visit : { ...visit, service })
  return {
    connected: (socket, visit) => void tap(socket, recording, named(visit), onFault),
    called: (call) => recorded(recording, call),
    unreached: (said, visit, why) => {
      const follower = new ExchangeFollower(recording, named(visit))
      follower.requested(Buffer.from(said))
      follower.failed(why)
    }
  }
}

/** From now on. The calls that move bytes are replaced on this one socket: a listener would also hear what is put back. */
export const tap = (socket: Duplex, recording: Recording, visit: Recorded, onFault: OnFault): ExchangeFollower => {
  const follower = new ExchangeFollower(recording, visit)
  let isFollowed = true
  /** A fault in the inspector is no fault of the visit. */
  const failed = (error: unknown) => {
    isFollowed = false
    onFault(error)
  }
  const requested = (chunk: unknown, encoding: BufferEncoding) => {
    if (!isFollowed) return
    try {
      follower.requested(bytesOf(chunk, encoding))
    } catch (error) {
      failed(error)
    }
  }
  const closed = (inOrder: boolean) => {
    if (!isFollowed) return
    try {
      follower.closed(inOrder)
    } catch (error) {
      failed(error)
    }
  }
  const responded = (chunk: unknown, encoding: BufferEncoding | undefined) => {
    if (!isFollowed) return
    try {
      follower.responded(bytesOf(chunk, encoding))
    } catch (error) {
      failed(error)
    }
  }
  const push = socket.push.bind(socket)
  const write = socket._write.bind(socket)
  const writev = socket._writev?.bind(socket)
  socket.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk === null) closed(true)
    else responded(chunk, encoding)
    return push(chunk, encoding)
  }
  socket._write = (chunk: unknown, encoding: BufferEncoding, done: Done) => {
    requested(chunk, encoding)
    write(chunk, encoding, done)
  }
  if (writev !== undefined)
    socket._writev = (parts: Array<{ chunk: unknown; encoding: BufferEncoding }>, done: Done) => {
      for (const { chunk, encoding } of parts) requested(chunk, encoding)
      writev(parts, done)
    }
  socket.once("close", () => closed(false))
  return follower
}
