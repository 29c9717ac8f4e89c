/**
 * Carries connections over where no network leads: from a TCP port of one namespace to a socket file, and from the file to a
 * port of another, and datagrams beside them. As a program it takes pairs `from to`, each a `host:port`, a path, or `udp:` and a
 * `host:port`, and ends with its input.
 */
import { connect, createServer, type ListenOptions, type Server, type Socket } from "node:net"
import * as DatagramFerry from "./DatagramFerry.ts"

const placeOf = (text: string): ListenOptions & { readonly path?: string; readonly port: number } => {
  const [, host, port] = /^([\d.]+):(\d+)$/.exec(text) ?? []
  return host === undefined ? { path: text, port: 0 } : { host, port: Number(port) }
}

const dial = (text: string): Socket => {
  const { host, path, port } = placeOf(text)
  return connect(path === undefined ? { host: host ?? "", port, allowHalfOpen: true } : { path, allowHalfOpen: true })
}

const join = (one: Socket, other: Socket) => {
  one.pipe(other)
  for (const [socket, peer] of [
    [one, other],
    [other, one]
  ] as const) {
    socket.on("error", () => {})
    socket.once("close", () => peer.destroy())
  }
  other.pipe(one)
}

/** Listens at one place and carries every connection to the other. */
export const ferry = (from: string, to: string): Promise<Server> => {
  const server = createServer({ allowHalfOpen: true }, (socket) => join(socket, dial(to)))
  const { path, ...place } = placeOf(from)
  return new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen(path === undefined ? place : { path }, () => resolve(server))
  })
}

if (import.meta.main) {
  const places = process.argv.slice(2)
  process.stdin.resume().once("close", () => process.exit(0))
  // The interfaces of a new namespace come up later.
  process.stdout.write("here\n")
  await new Promise((resolve) => process.stdin.once("data", resolve))
  for (let index = 0; index < places.length; index += 2) {
    const [from = "", to = ""] = places.slice(index, index + 2)
    const { host = "", port } = placeOf(from.replace(/^udp:/, ""))
    await (from.startsWith("udp:") ? DatagramFerry.fromPort(host, port, to) : ferry(from, to))
  }
  process.stdout.write("listening\n")
}
