import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { startEdge } from "@catenet/testing/agent/Edge"
import { exchange, makeSurroundings, registered } from "@catenet/testing/agent/Surroundings"
import { eventually } from "@catenet/testing/Eventually"
import { once } from "node:events"
import { assert, describe, it } from "vitest"
import { counter, echo, startOrigin } from "../harness/Origins.ts"

const slotsOnly = ["ct-edge"]

describe("a browser tunnel over parked slots", () => {
  it("fills the pool, answers pings, and parks a replacement for every slot that is taken", async () => {
    await using stage = await makeSurroundings({ alpn: slotsOnly })
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    const env = { ...stage.env, CT_AGENT_ORIGIN: origin.address, CT_AGENT_TCP_FALLBACK_POOL_SIZE: "3" }
    await using agent = runAgent(home, env)
    await registered(agent)
    const parked = () => stage.edge.slots.filter(({ state }) => state === "parked").length
    await stage.edge.until(() => parked() === 3)
    assert.isTrue(stage.edge.slots.every(({ role }) => role === "L"))
    for (let i = 0; i < 5; i++) {
      assert.strictEqual(await exchange(await stage.edge.open(), `client ${i}`), `client ${i}`)
      await stage.edge.until(() => parked() === 3)
    }
    assert.strictEqual(stage.edge.slots.length, 8)
    // A parked slot has no place for the version of the agent.
    await eventually(() => stage.plane.calls.includes("POST /agent/version"), "the control plane hears the version")
  })

  it("asks for the framed relay when that is wanted, also of an edge that multiplexes", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(counter)
    await using home = await makeHome()
    const env = {
      CT_AGENT_REGISTER_TCP_ONLY: "1",
      CT_AGENT_TRANSPORTS: "",
      CT_AGENT_FRAMED_FALLBACK: "yes",
      CT_AGENT_TCP_FALLBACK_POOL_SIZE: "2"
    }
    await using agent = runAgent(home, { ...stage.env, ...env, CT_AGENT_ORIGIN: origin.address })
    await registered(agent)
    for (const length of [1, 300_000])
      assert.strictEqual(await exchange(await stage.edge.open(), "x".repeat(length)), `${length} bytes`)
    assert.deepStrictEqual(new Set(stage.edge.slots.map(({ role }) => role)), new Set(["F"]))
    assert.strictEqual(stage.edge.registrations.length, 0)
  })

  it("steps down from the framed role to the pinged one and from there to the silent one", async () => {
    await using stage = await makeSurroundings({ alpn: slotsOnly, unknownRoles: "FL" })
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    const env = { ...stage.env, CT_AGENT_FRAMED_FALLBACK: "1", CT_AGENT_TCP_FALLBACK_POOL_SIZE: "1" }
    await using agent = runAgent(home, { ...env, CT_AGENT_ORIGIN: origin.address })
    await registered(agent)
    await stage.edge.until(() => stage.edge.slots.length > 0)
    assert.strictEqual(stage.edge.slots[0]?.role, "B")
    assert.deepStrictEqual(stage.edge.asked, ["F", "L", "B"])
    assert.strictEqual(await exchange(await stage.edge.open(), "hello"), "hello")
  })

  it("steps down to the silent role for an edge that does not know the pinged one", async () => {
    await using stage = await makeSurroundings({ alpn: slotsOnly, unknownRoles: "L" })
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    const env = { ...stage.env, CT_AGENT_ORIGIN: origin.address, CT_AGENT_TCP_FALLBACK_POOL_SIZE: "1" }
    await using agent = runAgent(home, env)
    await registered(agent)
    await stage.edge.until(() => stage.edge.slots.length > 0)
    assert.strictEqual(stage.edge.slots[0]?.role, "B")
    assert.strictEqual(await exchange(await stage.edge.open(), "hello"), "hello")
  })

  it("parks no slot while it serves CT_AGENT_TCP_FALLBACK_MAX_SERVING connections", async () => {
    await using stage = await makeSurroundings({ alpn: slotsOnly })
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    const env = { CT_AGENT_TCP_FALLBACK_POOL_SIZE: "1", CT_AGENT_TCP_FALLBACK_MAX_SERVING: "2" }
    await using agent = runAgent(home, { ...stage.env, ...env, CT_AGENT_ORIGIN: origin.address })
    await registered(agent)
    const open = async () => {
      const stream = await stage.edge.open()
      stream.write("here")
      await once(stream, "readable")
      return stream
    }
    const first = await open()
    await stage.edge.until(() => stage.edge.slots.length === 2)
    await open()
    // The pause between two looks is 500 ms; a third slot would be there by now.
    await new Promise((resolve) => setTimeout(resolve, 1200))
    assert.strictEqual(stage.edge.slots.length, 2)
    await exchange(first, "")
    await stage.edge.until(() => stage.edge.slots.length === 3)
  })

  it("reports the loss of its edge as events and reconnects, until its attempts are used up", async () => {
    await using stage = await makeSurroundings({ alpn: slotsOnly })
    await using home = await makeHome()
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_RECONNECT_MAX_ATTEMPTS: "3" })
    await registered(agent)
    await stage.edge[Symbol.asyncDispose]()
    assert.strictEqual(await agent.exited, 5)
    const events = agent.lines.flatMap((line) => /event: (\w+)/.exec(line)?.[1] ?? [])
    assert.deepStrictEqual(events, [
      "transport_switch",
      "registered",
      "disconnected",
      "transport_switch",
      "registration_failed",
      "registration_failed",
      "registration_failed",
      "fallback_exhausted"
    ])
  })

  for (const poolSize of ["1", "6"])
    it(`reports that all of its ${poolSize} slots were lost, and registers again at once when the edge is back`, async () => {
      await using stage = await makeSurroundings({ alpn: slotsOnly })
      await using origin = await startOrigin(echo)
      await using home = await makeHome()
      const env = { CT_AGENT_ORIGIN: origin.address, CT_AGENT_TCP_FALLBACK_POOL_SIZE: poolSize }
      await using agent = runAgent(home, { ...stage.env, ...env })
      await registered(agent)
      await stage.edge.until(() => stage.edge.slots.length === Number(poolSize))
      const from = agent.lines.length
      stage.edge.cut()
      assert.include(await agent.said("event: disconnected", from), "every parked connection was lost")
      await registered(agent, from)
      assert.strictEqual(await exchange(await stage.edge.open(), "hello"), "hello")
      assert.notInclude(agent.lines.join("\n"), "fallback_exhausted")
    })

  it("does not take one lost slot for the loss of its edge", async () => {
    await using stage = await makeSurroundings({ alpn: slotsOnly })
    await using home = await makeHome()
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_TCP_FALLBACK_POOL_SIZE: "3" })
    await registered(agent)
    await stage.edge.until(() => stage.edge.slots.length === 3)
    // The agent holds all three: each of them answers a ping.
    const before = new Map([...stage.edge.sockets].map((socket) => [socket, socket.bytesRead]))
    const answers = () => [...before].filter(([socket, size]) => socket.bytesRead > size).length
    await eventually(() => answers() === 3, "all slots answer pings")
    stage.edge.slots[0]?.close()
    await stage.edge.until(() => stage.edge.slots.length === 4)
    assert.notInclude(agent.lines.join("\n"), "disconnected")
  })

  it("keeps trying an edge that answers NO, and logs what NO can mean", async () => {
    await using stage = await makeSurroundings({ alpn: slotsOnly, no: true })
    await using home = await makeHome()
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_RECONNECT_MAX_ATTEMPTS: "1" })
    assert.strictEqual(await agent.exited, 5)
    await agent.said("the token is revoked, the host is not authorized for it, the edge is full, or it takes only")
  })

  it("reconnects when all slots are cut, multiplexed when the edge supports it by now", async () => {
    await using stage = await makeSurroundings({ alpn: slotsOnly })
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_ORIGIN: origin.address })
    await registered(agent)
    const from = agent.lines.length
    await stage.edge[Symbol.asyncDispose]()
    await using edge = await startEdge({ leaf: stage.leaf, alpn: ["ct-edge-mux"], port: stage.edge.port })
    await registered(agent, from)
    assert.strictEqual(await exchange(await edge.open(), "hello"), "hello")
    assert.strictEqual(edge.registrations.length, 1)
  })
})
