/** An agent that registers by QUIC, at edges of the reference kind and of ours, on good and on bad networks. */
import { type Agent, makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { bothProtocols, exchange, makeSurroundings, registered } from "@catenet/testing/agent/Surroundings"
import { eventually } from "@catenet/testing/Eventually"
import { Effect } from "effect"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { text } from "node:stream/consumers"
import { assert, describe, it } from "vitest"
import { freePort } from "../../../stack/src/Ports.ts"
import { echo, startOrigin } from "../harness/Origins.ts"
import { noQuic, startQuicEdge } from "../harness/QuicEdge.ts"

const slotsOnly = ["ct-edge"]

interface Wanted {
  readonly transports?: string
  readonly alpn?: ReadonlyArray<string>
  readonly isDark?: boolean
  /** The idle timeout of the edge. */
  readonly idle?: number
  /** The edge refuses by QUIC. */
  readonly refuse?: boolean
  readonly more?: Readonly<Record<string, string>>
}

const started = async ({
  alpn = slotsOnly,
  idle = 10_000,
  isDark = false,
  more = {},
  refuse = false,
  transports = ""
}: Wanted) => {
  const stack = new AsyncDisposableStack()
  const stage = stack.use(await makeSurroundings({ alpn }))
  const quic = stack.use(await startQuicEdge(stage.leaf, stage.edge.port, idle))
  quic.link.weather = { isDark }
  quic.refuse = refuse
  const origin = stack.use(await startOrigin(echo))
  const home = stack.use(await makeHome())
  const metrics = await Effect.runPromise(freePort("127.0.0.1"))
  const env = {
    ...stage.env,
    CT_AGENT_ORIGIN: origin.address,
    CT_AGENT_TRANSPORTS: transports,
    CT_AGENT_METRICS_LISTEN: `127.0.0.1:${metrics}`,
    ...more
  }
  const agent = stack.use(runAgent(home, env))
  const page = async (path: string) => (await fetch(`http://127.0.0.1:${metrics}/${path}`)).text()
  const status = async () => JSON.parse(await page("status")) as Readonly<Record<string, unknown>>
  return { agent, page, quic, stage, status, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() }
}

/** The process that the agent has started, if any. */
const sideOf = (agent: Agent) =>
  readdirSync("/proc").find((entry) => {
    try {
      const parent = Number(/^PPid:\s*(\d+)$/mu.exec(readFileSync(`/proc/${entry}/status`, "utf8"))?.[1])
      return /^\d+$/u.test(entry) && parent === agent.pid
    } catch {
      return false
    }
  })

describe.skipIf(noQuic).concurrent("an agent with QUIC", () => {
  it("goes over to it at an edge that does not multiplex, and says so", async () => {
    await using world = await started({})
    const { agent, page, quic, status } = world
    await agent.said("transport_switch", 0)
    const { calls } = world.stage.plane
    await eventually(() => calls.includes("POST /agent/version"), "the control plane hears the version")
    await eventually(() => quic.registered.includes("hello.example"), "the name is bound")
    assert.deepStrictEqual(quic.registered, ["A", "hello.example"])
    await eventually(async () => (await status())["transport"] === "quic", "the status says so")
    const said = await status()
    assert.deepInclude(said, { transport: "quic", carrier: "quic", registered: true, healthy: true })
    assert.include(await page("metrics"), 'ct_agent_transport{transport="quic"} 1')
    for (const size of [1, 300_000])
      assert.strictEqual((await exchange(await quic.open(), "x".repeat(size))).length, size)
    await eventually(() => world.stage.edge.slots.every(({ state }) => state !== "parked"), "the slots are let go")
  })

  it("never starts the process where the edge multiplexes", async () => {
    await using world = await started({ alpn: bothProtocols })
    await registered(world.agent)
    assert.isUndefined(sideOf(world.agent))
    assert.strictEqual(world.quic.link.sent, 0)
    assert.notInclude(world.stage.plane.calls, "POST /agent/version", "the edge knows it")
  })

  it("is back when its process was killed, and serves what comes then", async () => {
    await using world = await started({ transports: "quic" })
    const { agent, quic } = world
    await registered(agent)
    assert.strictEqual(await exchange(await quic.open(), "before"), "before")
    const side = Number(sideOf(agent))
    process.kill(side, "SIGKILL")
    const killed = performance.now()
    await eventually(() => quic.registered.length === 4, "it registers again")
    const took = performance.now() - killed
    process.stderr.write(`an agent whose QUIC process was killed was back after ${took.toFixed(0)} ms\n`)
    assert.strictEqual(await exchange(await quic.open(), "after"), "after")
    assert.notStrictEqual(Number(sideOf(agent)), side)
  })

  it("serves by parked connections where UDP is blocked, before it tries QUIC, and goes on with them", async () => {
    await using world = await started({ isDark: true })
    const { agent, quic, stage, status } = world
    assert.include(await registered(agent), "transport=tcp-fallback")
    assert.strictEqual(await exchange(await stage.edge.open(), "by TLS"), "by TLS")
    await eventually(() => quic.link.sent > 0, "QUIC is tried")
    assert.deepInclude(await status(), { transport: "tcp-fallback", carrier: "slots" })
  })

  it("falls back after 5 s where QUIC is wanted first and UDP is blocked, and does not wait for it again", async () => {
    await using world = await started({ isDark: true, transports: "quic,slots" })
    const begun = performance.now()
    await registered(world.agent)
    const took = performance.now() - begun
    process.stderr.write(`an agent behind blocked UDP was registered after ${took.toFixed(0)} ms\n`)
    assert.isAtLeast(took, 5_000)
    const before = world.agent.lines.length
    const cut = performance.now()
    world.stage.edge.cut()
    await registered(world.agent, before)
    assert.isBelow(performance.now() - cut, took, "this registration did not wait for QUIC")
  })

  it("notices that UDP has died, moves to TLS, and loses nothing there", async () => {
    await using world = await started({ transports: "quic,slots", idle: 4_000 })
    const { agent, quic, stage, status } = world
    await registered(agent)
    const before = agent.lines.length
    quic.link.weather = { isDark: true }
    const died = performance.now()
    await registered(agent, before)
    const took = performance.now() - died
    process.stderr.write(`an agent whose UDP died was registered by TLS after ${took.toFixed(0)} ms\n`)
    assert.deepInclude(await status(), { transport: "tcp-fallback", carrier: "slots" })
    assert.strictEqual(await exchange(await stage.edge.open(), "by TLS"), "by TLS")
  })

  it("keeps its streams when its address changes, on a link that loses and delays", async () => {
    await using world = await started({ transports: "quic" })
    const { agent, quic } = world
    await registered(agent)
    quic.link.weather = { lost: 30, delayMillis: 20 }
    const [connection] = quic.agents
    const stream = await quic.open()
    stream.write("one ")
    await once(stream, "readable")
    quic.link.rebind()
    stream.end("two")
    assert.strictEqual(await text(stream), "one two")
    assert.isAbove(quic.link.sources.size, 1)
    assert.include(quic.agents, connection, "its connection goes on, whether or not a silence made it dial another one")
    assert.strictEqual((await exchange(await quic.open(), "x".repeat(200_000))).length, 200_000)
  })

  it("passes bodies through a path that swallows long datagrams", async () => {
    await using world = await started({ transports: "quic" })
    await registered(world.agent)
    world.quic.link.weather = { longest: 1_252 }
    assert.strictEqual((await exchange(await world.quic.open(), "x".repeat(200_000))).length, 200_000)
  })

  it("goes on to TLS where it is refused by QUIC, which proves no key", async () => {
    await using world = await started({ transports: "quic,mux", alpn: bothProtocols, refuse: true })
    await registered(world.agent)
    assert.deepInclude(await world.status(), { transport: "tcp-fallback", carrier: "mux" })
    assert.deepStrictEqual(world.quic.roles, ["A"])
  })

  it("ends for good when the edge closes the connection as revoked, and tries again when it is refused", async () => {
    await using world = await started({ transports: "quic" })
    const { agent, quic } = world
    await registered(agent)
    quic.refuse = true
    const before = agent.lines.length
    quic.agents.at(-1)?.close(0, "restarting")
    await agent.said("refused the registration (no)", before)
    await agent.said("let CT_AGENT_TRANSPORTS name mux", before)
    quic.refuse = false
    await registered(agent, before)
    quic.agents.at(-1)?.close(1, "revoked")
    assert.isAbove(await agent.exited, 0)
    await agent.said("revoked")
  })
})
