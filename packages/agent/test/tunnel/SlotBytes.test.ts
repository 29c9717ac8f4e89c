/** Byte for byte against data-plane.md 5 and 17.1: the edge here is written from those pages alone, without our codecs. */
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { startControlPlane } from "@catenet/testing/agent/ControlPlane"
import { once } from "node:events"
import type { AddressInfo, Socket } from "node:net"
import { createServer, type TLSSocket } from "node:tls"
import { assert, describe, it } from "vitest"
import { echo, startOrigin } from "../harness/Origins.ts"

const token = "ab".repeat(32)
const host = "hello.example"
const browserHead = Buffer.concat([Buffer.from(token, "hex"), Buffer.of(0, host.length), Buffer.from(host)])
const meshHead = Buffer.from(token, "hex")
const ping = Buffer.from("f90000000000000000", "hex")
const pong = Buffer.from("fa0000000000000000", "hex")

/** Reads exactly so many bytes. */
const take = async (socket: TLSSocket, length: number): Promise<Buffer> => {
  for (;;) {
    const bytes: Buffer | null = socket.read(length)
    if (bytes !== null) return bytes
    if (socket.readableEnded || socket.destroyed) throw new Error("the agent ended the connection")
    await Promise.race([once(socket, "readable"), once(socket, "end")])
  }
}

/** Waits until the agent has ended or broken the connection. */
const gone = (socket: TLSSocket) =>
  new Promise<void>((resolve) => {
    if (socket.readableEnded || socket.destroyed) return resolve()
    for (const event of ["end", "close", "error"]) socket.once(event, () => resolve())
    socket.resume()
  })

const makeRawEdge = async (selectAlpn: boolean) => {
  const authority = makeAuthority()
  const plane = await startControlPlane(authority.der)
  const arrivals: Array<TLSSocket> = []
  const open = new Set<Socket>()
  let arrived = Promise.withResolvers<void>()
  const { cert, key } = authority.leaf("localhost")
  const server = createServer({ cert, key, allowHalfOpen: true, ...(selectAlpn ? { ALPNProtocols: ["ct-edge"] } : {}) })
  server.on("connection", (socket) => {
    open.add(socket)
    socket.on("close", () => open.delete(socket))
  })
  server.on("secureConnection", (socket) => {
    socket.on("error", () => {})
    arrivals.push(socket)
    arrived.resolve()
    arrived = Promise.withResolvers()
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  plane.meshPort = (server.address() as AddressInfo).port
  return {
    plane,
    /** The next connection of the agent. */
    next: async () => {
      while (arrivals.length === 0) await arrived.promise
      return arrivals.shift() as TLSSocket
    },
    env: {
      CT_AGENT_CP_URL: plane.url,
      CT_AGENT_TOKEN: token,
      CT_AGENT_RECONNECT_BASE_MS: "100",
      CT_AGENT_TCP_FALLBACK_POOL_SIZE: "1"
    },
    browser: { CT_AGENT_MODE: "browser", CT_AGENT_HOSTNAME: host },
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await plane[Symbol.asyncDispose]()
    }
  }
}

describe.each([
  ["that selects ct-edge", true],
  ["without ALPN", false]
])("a byte-protocol edge %s", (_, selectAlpn) => {
  it("gets L with the host, pongs of the same counter, and the client's bytes after STOP", async () => {
    await using edge = await makeRawEdge(selectAlpn)
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    await using agent = runAgent(home, { ...edge.env, ...edge.browser, CT_AGENT_ORIGIN: origin.address })
    const slot = await edge.next()
    assert.strictEqual(slot.servername, "localhost")
    assert.deepStrictEqual(await take(slot, 1 + browserHead.length), Buffer.concat([Buffer.from("L"), browserHead]))
    slot.write("OK")
    await agent.said("event: registered")
    for (let n = 0; n < 3; n++) {
      const counter = Buffer.alloc(8)
      counter.writeBigUInt64BE(2n ** 60n + BigInt(n))
      slot.write(Buffer.concat([Buffer.of(0xf9), counter]))
      assert.deepStrictEqual(await take(slot, 9), Buffer.concat([Buffer.of(0xfa), counter]))
    }
    assert.strictEqual(slot.readableLength, 0, "the agent does not speak before the client")
    // STOP and the client's first byte in one segment; the client's byte looks like a ping.
    slot.write(Buffer.concat([Buffer.of(0xfb), ping]))
    assert.deepStrictEqual(await take(slot, 9), ping)
    const replacement = await edge.next()
    assert.deepStrictEqual((await take(replacement, 1)).toString(), "L")
    slot.end("last words")
    assert.strictEqual((await take(slot, 10)).toString(), "last words")
    await gone(slot)
  })
})

describe("a byte-protocol edge", () => {
  it("that closes on L gets B, whose relay begins with the client's first byte", async () => {
    await using edge = await makeRawEdge(true)
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    await using agent = runAgent(home, { ...edge.env, ...edge.browser, CT_AGENT_ORIGIN: origin.address })
    const first = await edge.next()
    assert.strictEqual((await take(first, 1)).toString(), "L")
    first.end()
    const second = await edge.next()
    assert.deepStrictEqual(await take(second, 1 + browserHead.length), Buffer.concat([Buffer.from("B"), browserHead]))
    second.write("OK")
    await agent.said("event: registered")
    second.write(ping)
    assert.deepStrictEqual(await take(second, 9), ping, "there is no ping phase on B")
  })

  it("gets K and then A from a mesh agent, without a host", async () => {
    await using edge = await makeRawEdge(true)
    await using home = await makeHome()
    const env = { ...edge.env, CT_AGENT_CAPABILITY_OUT: `${home.path}/capability.bin` }
    await using agent = runAgent(home, env)
    const first = await edge.next()
    assert.deepStrictEqual(await take(first, 33), Buffer.concat([Buffer.from("K"), meshHead]))
    first.end()
    const second = await edge.next()
    assert.deepStrictEqual(await take(second, 33), Buffer.concat([Buffer.from("A"), meshHead]))
    second.write("OK")
    await agent.said("event: registered")
  })

  it("that sends anything but PING and STOP to a parked slot loses that slot, and the agent comes back", async () => {
    await using edge = await makeRawEdge(true)
    await using home = await makeHome()
    await using _agent = runAgent(home, { ...edge.env, ...edge.browser })
    for (const wrong of [Buffer.of(0x16, 3, 1), pong, Buffer.of(0xfc, 0, 0, 0, 0)]) {
      const slot = await edge.next()
      await take(slot, 1 + browserHead.length)
      slot.write("OK")
      slot.write(wrong)
      await gone(slot)
    }
  })

  it("that answers NO, unknown bytes or half an answer gets no registration", async () => {
    await using edge = await makeRawEdge(true)
    await using home = await makeHome()
    await using agent = runAgent(home, { ...edge.env, ...edge.browser })
    for (const answer of ["NO", "XX", "O"]) {
      const slot = await edge.next()
      await take(slot, 1 + browserHead.length)
      slot.end(answer)
      await gone(slot)
    }
    assert.isFalse(agent.lines.some((line) => line.includes("event: registered ")))
  })
})

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const framedData = (text: string) => Buffer.concat([Buffer.of(0xfc), u32(text.length), Buffer.from(text)])
const framed = { CT_AGENT_FRAMED_FALLBACK: "1" }
const fin = Buffer.of(0xfe)

describe("a byte-protocol edge that is asked for the framed relay", () => {
  /** A slot in its relay phase, and the agent behind it. */
  const relaying = async (serve: (socket: Socket) => void) => {
    const edge = await makeRawEdge(true)
    const origin = await startOrigin(serve)
    const home = await makeHome()
    const agent = runAgent(home, { ...edge.env, ...edge.browser, ...framed, CT_AGENT_ORIGIN: origin.address })
    const next = async () => {
      const slot = await edge.next()
      assert.deepStrictEqual(await take(slot, 1 + browserHead.length), Buffer.concat([Buffer.from("F"), browserHead]))
      slot.write("OK")
      slot.write(Buffer.concat([ping, Buffer.of(0xfb)]))
      assert.deepStrictEqual(await take(slot, 9), pong)
      return slot
    }
    return {
      next,
      origin,
      [Symbol.asyncDispose]: async () => {
        for (const each of [agent, origin, edge, home]) await each[Symbol.asyncDispose]()
      }
    }
  }

  it("gets data, acks and its end in frames, and dials the origin for the first byte only", async () => {
    await using stage = await relaying(echo)
    const slot = await stage.next()
    slot.write(Buffer.concat([framedData(""), Buffer.from("fd0000000000000007", "hex")]))
    assert.strictEqual((await take(slot, 9)).toString("hex"), "f80000000000000007")
    assert.strictEqual(stage.origin.connections(), 0)
    // Frames of any segmentation; a counter that was acknowledged before is not answered again.
    for (const byte of Buffer.concat([framedData("ab"), Buffer.from("fd0000000000000007", "hex")]))
      slot.write(Buffer.of(byte))
    slot.write(Buffer.concat([framedData("cd"), Buffer.from("fd0000000000000008", "hex")]))
    const seen: Array<Buffer> = []
    let acks = 0
    while (Buffer.concat(seen).length < 4 || acks < 1) {
      const type = (await take(slot, 1))[0]
      if (type === 0xf8) {
        assert.strictEqual((await take(slot, 8)).toString("hex"), "0000000000000008")
        acks++
      } else {
        assert.strictEqual(type, 0xfc)
        const length = (await take(slot, 4)).readUInt32BE()
        if (length > 0) seen.push(await take(slot, length))
      }
    }
    assert.strictEqual(Buffer.concat(seen).toString(), "abcd")
    slot.write(fin)
    assert.deepStrictEqual(await take(slot, 1), fin)
    await gone(slot)
  })

  it("that breaks its rules loses the client, and the origin is cut off", async () => {
    const ends: Array<string> = []
    let reached = Promise.withResolvers<void>()
    let cut = Promise.withResolvers<void>()
    await using stage = await relaying((socket) => {
      socket.once("data", () => reached.resolve())
      socket.on("close", (broken) => {
        ends.push(broken ? "reset" : "closed")
        cut.resolve()
      })
    })
    for (const wrong of [
      Buffer.of(0x16),
      Buffer.of(0xf9),
      Buffer.concat([Buffer.of(0xfc), u32(262_145)]),
      Buffer.concat([fin, framedData("x")]),
      Buffer.concat([fin, fin])
    ]) {
      reached = Promise.withResolvers()
      cut = Promise.withResolvers()
      const slot = await stage.next()
      slot.write(framedData("hello"))
      await reached.promise
      slot.write(wrong)
      await gone(slot)
      await cut.promise
    }
    assert.strictEqual(ends.length, 5)
  })

  it("may send 262144 bytes in one frame", async () => {
    await using stage = await relaying(echo)
    const slot = await stage.next()
    slot.write(Buffer.concat([framedData("x".repeat(262_144)), fin]))
    const answer = Buffer.concat(await slot.toArray())
    let bytes = 0
    let at = 0
    for (; answer[at] === 0xfc; at += 5 + answer.readUInt32BE(at + 1)) {
      assert.isAtMost(answer.readUInt32BE(at + 1), 262_144)
      bytes += answer.readUInt32BE(at + 1)
    }
    assert.strictEqual(bytes, 262_144)
    assert.deepStrictEqual(answer.subarray(at), fin)
  })
})
