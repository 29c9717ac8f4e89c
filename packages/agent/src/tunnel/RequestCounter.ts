/**
 * Counts the HTTP/1.1 requests of a connection by their heads: a client begins a head with a packet of its own. It is for a
 * person's eyes; nothing is read into the bytes, and pipelined requests count as one.
 */
import type { Duplex } from "node:stream"
import type { Requests } from "../observe/AgentMetrics.ts"

const head = /^[A-Z]{3,12} [^ \r\n]{1,2000} HTTP\/1\.[01]\r\n/u
const looked = 2_048

const beginsHead = (chunk: Uint8Array) =>
  head.test(Buffer.from(chunk.buffer, chunk.byteOffset, Math.min(chunk.length, looked)).toString("latin1"))

/** Counts what this client says, and what it has said already. The stream is to be read by another from now on. */
export const count = (requests: Requests, client: Duplex, opening: Uint8Array) => {
  const see = (chunk: Uint8Array) => {
    if (beginsHead(chunk)) requests.count = (requests.count ?? 0) + 1
  }
  if (opening.length > 0) see(opening)
  client.on("data", see)
}
