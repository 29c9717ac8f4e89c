/** A fault is put into callbacks of a running agent; it must end what it belongs to and nothing else. */
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { agentSources } from "@catenet/testing/agent/AgentProgram"
import { exchange, makeSurroundings, registered } from "@catenet/testing/agent/Surroundings"
import { once } from "node:events"
import { assert, it } from "vitest"
import { startOrigin } from "./harness/Origins.ts"

const faults = async (base: string) => {
  const text = await (await fetch(`${base}/metrics`)).text()
  return Number(/^ct_agent_connection_faults_total (\d+)$/m.exec(text)?.[1] ?? 0)
}

it("a fault in a callback ends its own stream or session, is counted, and is logged once in a minute", async () => {
  await using stage = await makeSurroundings()
  await using origin = await startOrigin((socket) => {
    socket.on("data", (chunk: Buffer) => socket.write(chunk.toString().toUpperCase()))
    socket.on("end", () => socket.end())
  })
  await using home = await makeHome()
  const env = {
    ...stage.env,
    CT_AGENT_ORIGIN: origin.address,
    CT_AGENT_METRICS_LISTEN: "127.0.0.1:0",
    CT_AGENT_RECONNECT_BASE_MS: "100",
    NODE_OPTIONS: `--import ${new URL("./harness/Inject.ts", import.meta.url)}`
  }
  await using agent = runAgent(home, env, [], "", undefined, agentSources)
  await registered(agent)
  const base = /http:\/\/[^/]+/.exec(await agent.said("status, metrics and events at"))?.[0] ?? ""
  const bystander = await stage.edge.open()
  const says = async (words: string) => {
    bystander.write(words)
    const [answer] = await once(bystander, "data")
    assert.strictEqual(String(answer), words.toUpperCase())
  }
  await says("hello")
  await says("fail in a timer")
  await agent.said("injected: a timer")
  for (const where of ["client", "origin"]) {
    const stream = await stage.edge.open()
    stream.write(`fail at the ${where}`)
    const [error] = await once(stream, "error")
    assert.strictEqual(error.code, where === "client" ? "internal" : "cancelled")
    await says(`still here after the ${where}`)
  }
  const stream = await stage.edge.open()
  stream.write("fail at the session")
  await Promise.allSettled([once(stream, "close"), once(bystander, "close")])
  await stage.edge.until(() => stage.edge.registrations.length === 2)
  assert.strictEqual(await exchange(await stage.edge.open(), "again"), "AGAIN")
  assert.isAtLeast(await faults(base), 4)
  assert.lengthOf(
    agent.lines.filter((line) => line.includes("a callback of a connection failed")),
    1
  )
  agent.kill()
  assert.strictEqual(await agent.exited, 0)
})
