/** ClientHellos as programs of this machine really send them. */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { connect, type ConnectionOptions } from "node:tls"

/** The first flight of whatever `dial` connects: all bytes until the client waits for an answer. */
const capture = async (dial: (port: number) => () => void): Promise<Buffer> => {
  const server = createServer()
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const hangUp = dial((server.address() as AddressInfo).port)
  const [socket] = await once(server, "connection")
  let flight = Buffer.alloc(0)
  while (flight.length < 9 || flight.length < 5 + flight.readUInt16BE(3)) {
    const [chunk] = await once(socket, "data")
    flight = Buffer.concat([flight, chunk])
  }
  socket.destroy()
  hangUp()
  server.close()
  return flight
}

export const nodeHello = (options: ConnectionOptions): Promise<Buffer> =>
  capture((port) => {
    const client = connect({ host: "127.0.0.1", port, ...options })
    client.on("error", () => {})
    return () => client.destroy()
  })

export const hasOpenssl = spawnSync("openssl", ["version"]).status === 0

export const opensslHello = (...options: ReadonlyArray<string>): Promise<Buffer> =>
  capture((port) => {
    const client = spawn("openssl", ["s_client", "-connect", `127.0.0.1:${port}`, ...options], { stdio: "ignore" })
    return () => client.kill()
  })

/** The same handshake in TLS records of at most `size` bytes. */
export const inRecords = (hello: Buffer, size: number): Buffer => {
  const pieces: Array<Buffer> = []
  for (let at = 0; at < hello.length; at += 5 + hello.readUInt16BE(at + 3)) {
    pieces.push(hello.subarray(at + 5, at + 5 + hello.readUInt16BE(at + 3)))
  }
  return toRecords(Buffer.concat(pieces), size)
}

const toRecords = (message: Buffer, size: number): Buffer => {
  const records: Array<Buffer> = []
  for (let at = 0; at < message.length; at += size) {
    const piece = message.subarray(at, at + size)
    records.push(Buffer.from([0x16, 3, 1, piece.length >> 8, piece.length & 255]), piece)
  }
  return Buffer.concat(records)
}

const block = (lengthBytes: number, ...parts: ReadonlyArray<Buffer>): Buffer => {
  const body = Buffer.concat(parts)
  const length = Buffer.alloc(lengthBytes)
  length.writeUIntBE(body.length, 0, lengthBytes)
  return Buffer.concat([length, body])
}

export const extension = (type: number, ...parts: ReadonlyArray<Buffer>): Buffer =>
  Buffer.concat([Buffer.from([type >> 8, type & 255]), block(2, ...parts)])

export const serverName = (...names: ReadonlyArray<string>): Buffer =>
  extension(0, block(2, ...names.map((name) => Buffer.concat([Buffer.from([0]), block(2, Buffer.from(name))]))))

export const protocols = (...names: ReadonlyArray<string>): Buffer =>
  extension(16, block(2, ...names.map((name) => block(1, Buffer.from(name)))))

/** A hello of our own making, for shapes that no program here sends. */
export const handmade = (...extensions: ReadonlyArray<Buffer>): Buffer => {
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 5),
    block(1),
    block(2, Buffer.from("1301", "hex")),
    block(1, Buffer.from([0])),
    ...(extensions.length === 0 ? [] : [block(2, ...extensions)])
  ])
  return toRecords(Buffer.concat([Buffer.from([1]), block(3, body)]), 16_384)
}
