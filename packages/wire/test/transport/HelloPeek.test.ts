import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { once } from "node:events"
import { createServer } from "node:net"
import type { AddressInfo, Socket } from "node:net"
import { connect as connectTls, TLSSocket } from "node:tls"
import { peekClientHello } from "../../src/transport/HelloPeek.ts"
import { handmade, serverName } from "../frames/hellos.ts"
import { certificate, privateKey } from "./certificate.ts"
import { tcpPair } from "./pairs.ts"
import { collect } from "./sessions.ts"

const reasonOf = (result: Result.Result<unknown, { readonly reason: string; readonly detail: string }>) =>
  Result.isFailure(result) ? [result.failure.reason, result.failure.detail] : []

describe("peekClientHello", () => {
  it("leaves the handshake to the next reader", async () => {
    const server = createServer({ allowHalfOpen: true })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const client = connectTls({
      host: "127.0.0.1",
      port,
      servername: "localhost",
      ca: certificate,
      ALPNProtocols: ["x"]
    })
    const [socket]: Array<Socket> = await once(server, "connection")
    server.close()
    const hello = Result.getOrThrow(await peekClientHello(socket!))
    assert.deepStrictEqual(hello, { serverName: "localhost", alpn: ["x"], ech: false, earlyData: false })
    const secure = new TLSSocket(socket!, { isServer: true, key: privateKey, cert: certificate, ALPNProtocols: ["x"] })
    client.end("through TLS")
    assert.strictEqual((await collect(secure)).toString(), "through TLS")
    assert.strictEqual(secure.alpnProtocol, "x")
    secure.end("and back")
    assert.strictEqual((await collect(client)).toString(), "and back")
  })

  it("puts every byte back at any segmentation", async () => {
    const [client, socket] = await tcpPair()
    const flight = Buffer.concat([handmade(serverName("a.test")), Buffer.from("more")])
    const peek = peekClientHello(socket)
    for (const byte of flight) {
      client.write(Buffer.from([byte]))
      await new Promise(setImmediate)
    }
    assert.strictEqual(Result.getOrThrow(await peek).serverName, "a.test")
    client.end()
    assert.deepStrictEqual(await collect(socket), flight)
    socket.end()
  })

  it("answers a PostgreSQL client that asks for TLS, in any segmentation, and reads its hello after that", async () => {
    const flight = handmade(serverName("db.test"))
    const request = Buffer.from("0000000804d2162f", "hex")
    for (const pieces of [[request], Array.from(request, (byte) => Buffer.of(byte))]) {
      const [client, socket] = await tcpPair()
      const peek = peekClientHello(socket, { answersSslRequest: true })
      for (const piece of pieces) {
        client.write(piece)
        await new Promise(setImmediate)
      }
      const [answer]: Array<Buffer> = await once(client, "data")
      assert.strictEqual(answer?.toString(), "S")
      client.end(flight)
      assert.strictEqual(Result.getOrThrow(await peek).serverName, "db.test")
      assert.deepStrictEqual(await collect(socket), flight)
      socket.end()
    }
    for (const [bytes, answersSslRequest] of [
      [Buffer.concat([request, flight]), true],
      [Buffer.from("0000000804d21630", "hex"), true],
      [Buffer.from("0001", "hex"), true],
      [request, false]
    ] as const) {
      const [client, socket] = await tcpPair()
      client.write(bytes)
      assert.deepStrictEqual(reasonOf(await peekClientHello(socket, { answersSslRequest })), ["invalid", "not TLS"])
      client.destroy()
      socket.destroy()
    }
  })

  it("refuses bytes that are no hello, a hello that ends early, and silence", async () => {
    const cases = [
      { act: (client: Socket) => client.write("GET / HTTP/1.1\r\n"), reason: ["invalid", "not TLS"] },
      { act: (client: Socket) => client.end(Buffer.from("160301", "hex")), reason: ["closed", ""] },
      { act: (client: Socket) => client.resetAndDestroy(), reason: ["closed", ""] },
      { act: (client: Socket) => client.write(Buffer.from("160301", "hex")), reason: ["timeout", ""] }
    ] as const
    for (const { act, reason } of cases) {
      const [client, socket] = await tcpPair()
      const peek = peekClientHello(socket, reason[0] === "timeout" ? { timeoutMillis: 50 } : {})
      act(client)
      assert.deepStrictEqual(reasonOf(await peek), [...reason])
      socket.destroy()
      client.destroy()
    }
  })
})
