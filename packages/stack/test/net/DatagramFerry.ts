/** Carries datagrams over where no network leads: each as a frame of a stream through a socket file, u16 length and its bytes. */
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { connect, createServer, type Server, type Socket } from "node:net"

const frame = (datagram: Buffer) => {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(datagram.length)
  return Buffer.concat([length, datagram])
}

const read = (stream: Socket, take: (datagram: Buffer) => void) => {
  let held = Buffer.alloc(0)
  stream.on("data", (chunk: Buffer) => {
    held = Buffer.concat([held, chunk])
    while (held.length >= 2 && held.length >= 2 + held.readUInt16BE(0)) {
      take(held.subarray(2, 2 + held.readUInt16BE(0)))
      held = held.subarray(2 + held.readUInt16BE(0))
    }
  })
}

/** Every sender to the port has a stream of its own to the file. */
export const fromPort = async (host: string, port: number, path: string): Promise<void> => {
  const socket = createSocket("udp4")
  const streams = new Map<number, Socket>()
  socket.on("message", (datagram, from) => {
    let stream = streams.get(from.port)
    if (stream === undefined) {
      stream = connect({ path })
      stream.on("error", () => {}).once("close", () => streams.delete(from.port))
      read(stream, (back) => socket.send(back, from.port, from.address))
      streams.set(from.port, stream)
    }
    stream.write(frame(datagram))
  })
  socket.bind(port, host)
  await once(socket, "listening")
}

/** Every stream through the file is a sender to the port. */
export const toPort = async (path: string, port: number): Promise<Server> => {
  const server = createServer((stream) => {
    const socket = createSocket("udp4")
    socket.on("error", () => {})
    socket.on("message", (back) => void stream.write(frame(back)))
    socket.bind(0, "127.0.0.1", () => read(stream, (datagram) => socket.send(datagram, port, "127.0.0.1")))
    stream.on("error", () => {}).once("close", () => socket.close())
  })
  server.listen({ path })
  await once(server, "listening")
  return server
}
