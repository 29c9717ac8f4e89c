/** What a client sends reaches the origin, whatever it looks like at first, and without a wait where there is nothing to decide. */
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { exchange, makeSurroundings, registered } from "@catenet/testing/agent/Surroundings"
import { writeFile } from "node:fs/promises"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "vitest"
import { startOrigin } from "../harness/Origins.ts"
import { noQuic, startQuicEdge } from "../harness/QuicEdge.ts"

/** Says what it got, in hex, when the client has ended. */
const recorder = (socket: Socket) => {
  const chunks: Array<Buffer> = []
  socket.on("data", (chunk: Buffer) => chunks.push(chunk))
  socket.on("end", () => socket.end(Buffer.concat(chunks).toString("hex")))
}

/** Answers every chunk at once. */
const echo = (socket: Socket) => void socket.pipe(socket)

const firstOf = (stream: Duplex) => {
  const first = new Promise<Buffer>((resolve) => stream.once("data", resolve))
  stream.resume()
  return Promise.race([first, sleep(5000)])
}

const carriers = [
  ["the multiplexed carrier", ["ct-edge-mux", "ct-edge"]],
  ["parked slots", ["ct-edge"]],
  ...(noQuic ? [] : ([["QUIC", []]] as const))
] as const

const modes = [
  ["passthrough", {}],
  ["terminate", { CT_AGENT_ORIGIN_TLS: "terminate" }]
] as const

/** Beginnings of a TLS session that are none, or are not all of it. */
const beginnings = ["16", "1603", "160301", "16030100", "1603010100", "160301010001", "16030102000100"]

const half = Buffer.from("16030102000100", "hex")

const started = async (
  alpn: ReadonlyArray<string>,
  more: Readonly<Record<string, string>>,
  serve: (socket: Socket) => void
) => {
  const stack = new AsyncDisposableStack()
  const stage = stack.use(await makeSurroundings({ alpn }))
  const origin = stack.use(await startOrigin(serve))
  const home = stack.use(await makeHome())
  const { cert, key } = stage.authority.leaf("hello.example")
  await writeFile(`${home.path}/fullchain.pem`, cert)
  await writeFile(`${home.path}/privkey.pem`, key)
  const quic = alpn.length === 0 ? stack.use(await startQuicEdge(stage.leaf, stage.edge.port)) : undefined
  const env = {
    ...stage.env,
    ...(quic && { CT_AGENT_TRANSPORTS: "quic" }),
    CT_AGENT_ORIGIN: origin.address,
    CT_ACME_CERT_OUT_DIR: home.path,
    ...more
  }
  const agent = stack.use(runAgent(home, env))
  await registered(agent)
  const open = () => (quic ?? stage.edge).open()
  return { open, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() }
}

describe.each(carriers)("over %s", (_, alpn) => {
  for (const [mode, more] of modes)
    it(`a client that sends little and ends reaches a raw origin (${mode})`, async () => {
      await using world = await started(alpn, more, recorder)
      // Five bytes that begin TLS are TLS to an agent that ends it.
      const raw = beginnings.filter((bytes) => mode === "passthrough" || bytes.length < 10)
      for (const bytes of raw) {
        const got = await exchange(await world.open(), Buffer.from(bytes, "hex"))
        assert.strictEqual(got, bytes)
      }
    })

  it("half a ClientHello reaches a passthrough origin at once", async () => {
    await using world = await started(alpn, {}, echo)
    const stream = await world.open()
    stream.write(half)
    const first = await firstOf(stream)
    assert.strictEqual(first?.toString("hex"), half.toString("hex"))
    stream.destroy()
  })

  it("a client that sends two letters and waits gets the answer of a raw origin behind terminate", async () => {
    await using world = await started(alpn, { CT_AGENT_ORIGIN_TLS: "terminate" }, echo)
    const stream = await world.open()
    stream.write("ok")
    const first = await firstOf(stream)
    assert.strictEqual(first?.toString(), "ok")
    stream.destroy()
  })
})
