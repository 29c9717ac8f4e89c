import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { startEdge } from "@catenet/testing/agent/Edge"
import {
  bothProtocols,
  exchange,
  joinToken,
  makeSurroundings,
  registered,
  token
} from "@catenet/testing/agent/Surroundings"
import { createHash, randomBytes } from "node:crypto"
import { once } from "node:events"
import { stat } from "node:fs/promises"
import { assert, describe, it } from "vitest"
import { counter, echo, startOrigin } from "../harness/Origins.ts"

describe("a browser tunnel over the multiplexed carrier", () => {
  it("registers with a proof and brings bytes to the origin and back", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(counter)
    await using home = await makeHome()
    await using agent = runAgent(home, {
      ...stage.env,
      CT_AGENT_JOIN_TOKEN: joinToken,
      CT_AGENT_ORIGIN: origin.address
    })
    await registered(agent)
    assert.strictEqual(await exchange(await stage.edge.open(), "twelve bytes"), "12 bytes")
    const registration = stage.edge.registrations[0]
    assert.isTrue(registration?.proven)
    assert.deepStrictEqual(registration?.request.hosts, ["hello.example"])
    assert.strictEqual(Buffer.from(registration?.request.token ?? []).toString("hex"), token)
    agent.kill()
    assert.strictEqual(await agent.exited, 0)
  })

  it("does not dial the origin for a silent client", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_ORIGIN: origin.address })
    await registered(agent)
    const silent = await stage.edge.open()
    assert.strictEqual(await exchange(await stage.edge.open(), "hello"), "hello")
    assert.strictEqual(await exchange(silent, ""), "")
    assert.strictEqual(origin.connections(), 1)
  })

  it("carries 32 MB both ways unchanged, and many streams at once", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_ORIGIN: origin.address })
    await registered(agent)
    const block = randomBytes(1 << 20)
    const sent = createHash("sha256")
    const received = createHash("sha256")
    const stream = await stage.edge.open()
    stream.on("data", (chunk: Buffer) => received.update(chunk))
    for (let i = 0; i < 32; i++) {
      sent.update(block)
      if (!stream.write(block)) await once(stream, "drain")
    }
    stream.end()
    await once(stream, "end")
    assert.strictEqual(received.digest("hex"), sent.digest("hex"))
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => exchange(await stage.edge.open(), `request ${i}`))
    )
    assert.deepStrictEqual(
      answers,
      Array.from({ length: 200 }, (_, i) => `request ${i}`)
    )
  })

  it("logs once that the origin is down, sends the edge the reason, and serves when the origin is back", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    const gone = await startOrigin(echo)
    await gone[Symbol.asyncDispose]()
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_ORIGIN: gone.address })
    await registered(agent)
    for (let i = 0; i < 3; i++) {
      const stream = await stage.edge.open()
      stream.write("hello")
      const [error] = await once(stream, "error")
      assert.strictEqual(error.code, "origin-unreachable")
    }
    await using origin = await startOrigin(echo, gone.port)
    assert.strictEqual(await exchange(await stage.edge.open(), "hello"), "hello")
    assert.strictEqual(origin.connections(), 1)
    await agent.said("the origin answers again")
    assert.strictEqual(agent.lines.filter((line) => line.includes("Start the local service")).length, 1)
  })

  it("registers again when the connection breaks and when the edge is restarted", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_ORIGIN: origin.address })
    await registered(agent)
    const first = agent.lines.length
    stage.edge.cut()
    await registered(agent, first)
    const second = agent.lines.length
    await stage.edge[Symbol.asyncDispose]()
    await agent.said("event: registration_failed", second)
    await using edge = await startEdge({ leaf: stage.leaf, alpn: bothProtocols, port: stage.edge.port })
    await registered(agent, second)
    assert.strictEqual(await exchange(await edge.open(), "hello"), "hello")
  })

  it("keeps serving when its output is no longer read", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_ORIGIN: origin.address })
    await registered(agent)
    agent.deafen()
    stage.edge.cut()
    await stage.edge.until(() => stage.edge.registrations.length === 2)
    assert.strictEqual(await exchange(await stage.edge.open(), "hello"), "hello")
  })

  it("moves on when the edge drains, and lets the running stream finish", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_ORIGIN: origin.address })
    await registered(agent)
    const running = await stage.edge.open()
    running.write("one ")
    await once(running, "readable")
    const from = agent.lines.length
    for (const session of stage.edge.sessions) session.goAway("restart")
    await registered(agent, from)
    assert.strictEqual(await exchange(running, "two"), "one two")
  })

  it.each(["SIGTERM", "SIGHUP"] as const)("drains on %s: the running stream finishes, then it ends", async (signal) => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_ORIGIN: origin.address })
    await registered(agent)
    const running = await stage.edge.open()
    running.write("one ")
    await once(running, "readable")
    agent.kill(signal)
    await agent.said("event: disconnected conn=1 reason=the agent is stopping")
    await agent.said("waiting up to 10 s for 1 streams")
    assert.strictEqual(await exchange(running, "two"), "one two")
    assert.strictEqual(await agent.exited, 0)
  })

  it("ends at once on a second signal", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_ORIGIN: origin.address })
    await registered(agent)
    const running = await stage.edge.open()
    running.write("one ")
    await once(running, "readable")
    running.on("error", () => {})
    agent.kill()
    await agent.said("waiting up to 10 s")
    agent.kill()
    assert.strictEqual(await agent.exited, 143)
  })

  it("fetches the root again when the edge has a new one", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_ORIGIN: origin.address })
    await registered(agent)
    const from = agent.lines.length
    await using other = await makeSurroundings()
    stage.plane.ca = other.authority.der
    stage.plane.meshPort = stage.edge.port
    await stage.edge[Symbol.asyncDispose]()
    await using _edge = await startEdge({ leaf: other.leaf, alpn: bothProtocols, port: stage.edge.port })
    await agent.said("root certificate has changed", from)
    await registered(agent, from)
  })
})

describe("a refusal", () => {
  it("that is final ends the program with 4 and the reason", async () => {
    await using stage = await makeSurroundings({ refuse: { code: "revoked", sentence: "the tunnel was revoked" } })
    await using home = await makeHome()
    await using agent = runAgent(home, stage.env)
    assert.strictEqual(await agent.exited, 4)
    assert.include(agent.lines.at(-1), "(revoked): the tunnel was revoked; provision a new tunnel in the portal")
  })

  it("of a token that another one replaced is got over by an enrolled agent, once the control plane can say by which", async () => {
    await using stage = await makeSurroundings()
    stage.plane.successor = "away"
    await using home = await makeHome()
    const env = { ...stage.env, CT_AGENT_ID: "one", CT_AGENT_STATE_DIR: `${home.path}/state` }
    await using agent = runAgent(home, { ...env, CT_AGENT_JOIN_TOKEN: joinToken })
    await registered(agent)
    stage.edge.registrations[0]?.end({ code: "revoked", sentence: "replaced" })
    await agent.said("cannot say which routing token the tunnel has now")
    // This edge takes the old token once more, and ends it again.
    await stage.edge.until(() => stage.edge.registrations.length === 2)
    const fresh = "ef".repeat(32)
    stage.plane.successor = fresh
    stage.edge.registrations[1]?.end({ code: "revoked", sentence: "replaced" })
    await stage.edge.until(() =>
      stage.edge.registrations.some(({ request }) => Buffer.from(request.token).toString("hex") === fresh)
    )
    agent.kill()
    assert.strictEqual(await agent.exited, 0)
    assert.strictEqual((await stat(`${home.path}/state/routing-token`)).mode & 0o777, 0o600)

    // The next start has the token that it was given, and registers with the new one; another that it is given counts.
    for (const [given, used] of [
      [stage.env["CT_AGENT_TOKEN"] ?? "", fresh],
      ["12".repeat(32), "12".repeat(32)]
    ] as const) {
      await using again = runAgent(home, { ...env, CT_AGENT_TOKEN: given })
      await registered(again)
      assert.strictEqual(Buffer.from(stage.edge.registrations.at(-1)?.request.token ?? []).toString("hex"), used)
    }
  })

  it("of a tunnel that was being served ends the program with 4 too", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    await using agent = runAgent(home, stage.env)
    await registered(agent)
    stage.edge.registrations[0]?.end({ code: "revoked", sentence: "the owner removed it" })
    assert.strictEqual(await agent.exited, 4)
    await agent.said("event: disconnected")
    assert.include(agent.lines.at(-1), "the owner removed it")
  })

  it("that may pass is tried again until the attempts are used up", async () => {
    await using stage = await makeSurroundings({ refuse: { code: "host-not-authorized", sentence: "not yet" } })
    await using home = await makeHome()
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_RECONNECT_MAX_ATTEMPTS: "2" })
    assert.strictEqual(await agent.exited, 5)
    assert.strictEqual(agent.lines.filter((line) => line.includes("event: registration_failed")).length, 3)
    assert.include(agent.lines.at(-1), "Gave up after 2 attempts (CT_AGENT_RECONNECT_MAX_ATTEMPTS)")
  })

  it.each(["bad-proof", "proof-required"] as const)(
    "for %s is tried again, and never over slots instead",
    async (code) => {
      await using stage = await makeSurroundings({ refuse: { code, sentence: "not you" } })
      await using home = await makeHome()
      const env = { ...stage.env, CT_AGENT_JOIN_TOKEN: joinToken, CT_AGENT_RECONNECT_MAX_ATTEMPTS: "2" }
      await using agent = runAgent(home, env)
      assert.strictEqual(await agent.exited, 5)
      assert.strictEqual(agent.lines.filter((line) => line.includes(`registration (${code})`)).length, 4)
      assert.deepStrictEqual(stage.edge.asked, [])
    }
  )

  it.each([
    { how: "multiplexed", alpn: ["ct-edge-mux"] },
    { how: "on slots", alpn: ["ct-edge"] }
  ])("that follows an acceptance at once, $how, uses up the attempts as one before it does", async ({ alpn }) => {
    await using stage = await makeSurroundings({ drops: true, alpn })
    await using home = await makeHome()
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_RECONNECT_MAX_ATTEMPTS: "3" })
    assert.strictEqual(await agent.exited, 5)
    assert.strictEqual(agent.lines.filter((line) => line.includes("event: registered")).length, 4)
    assert.include(agent.lines.at(-1), "Gave up after 3 attempts (CT_AGENT_RECONNECT_MAX_ATTEMPTS)")
  })

  it("by an edge with a foreign certificate is a failed dial, not a registration", async () => {
    await using stage = await makeSurroundings()
    await using other = await makeSurroundings()
    stage.plane.ca = other.authority.der
    await using home = await makeHome()
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_RECONNECT_MAX_ATTEMPTS: "1" })
    assert.strictEqual(await agent.exited, 5)
    assert.strictEqual(stage.edge.registrations.length, 0)
  })
})
