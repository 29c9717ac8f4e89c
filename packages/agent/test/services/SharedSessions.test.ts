/** The services of one agent share a connection to the edge. */
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import type { EdgeOptions } from "@catenet/testing/agent/Edge"
import { exchange, makeSurroundings, type Surroundings } from "@catenet/testing/agent/Surroundings"
import { Result } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { writeFile } from "node:fs/promises"
import { assert, describe, it } from "vitest"
import { echo, startOrigin } from "../harness/Origins.ts"

const tokenOf = (name: string) => createHash("sha256").update(name).digest("hex")

/** An agent with services of these names, each at an origin of its own that answers with the name. */
const agentWith = async (names: ReadonlyArray<string>, options: Partial<EdgeOptions> = {}) => {
  const stack = new AsyncDisposableStack()
  const stage: Surroundings = stack.use(await makeSurroundings(options))
  const home = stack.use(await makeHome())
  const ports = new Map<string, number>()
  const origin = async (name: string) => {
    const known = ports.get(name)
    if (known !== undefined) return known
    const { port } = stack.use(
      await startOrigin((socket) => (name.startsWith("echo") ? echo(socket) : socket.end(name)))
    )
    ports.set(name, port)
    return port
  }
  const write = async (services: ReadonlyArray<string>) => {
    const entries = await Promise.all(
      services.map(async (name) => [
        name,
        { to: await origin(name), host: `${name}.example`, token: tokenOf(name), tls: "passthrough" }
      ])
    )
    const file = { control_plane: stage.plane.url, watch: true, services: Object.fromEntries(entries) }
    await writeFile(`${home.path}/ct-agent.json`, JSON.stringify(file), { mode: 0o600 })
  }
  await write(names)
  const { edge } = stage
  const env = { CT_AGENT_TRANSPORTS: "mux,slots", CT_AGENT_RECONNECT_BASE_MS: "100" }
  const agent = stack.use(runAgent(home, env, ["--config", "ct-agent.json"]))
  const newest = (name: string) =>
    edge.registrations.findLast(({ request }) => Buffer.from(request.token).toString("hex") === tokenOf(name))
  const open = (name: string, session = [...edge.sessions].at(-1)) => {
    const registration = newest(name)?.id ?? assert.fail(`no registration of ${name}`)
    const header = { registration, kind: "visitor", tls: "passthrough", host: `${name}.example` } as const
    return Result.getOrThrow(session?.open(header) ?? assert.fail("no session"))
  }
  return { agent, edge, write, open, newest, home, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

describe("the services of one agent", () => {
  it("share one connection, on which each gets its own visitors, and share the next one when it is cut", async () => {
    const names = ["a", "b", "c", "d", "echo"]
    await using run = await agentWith(names)
    const { edge, open } = run
    await edge.until(() => edge.registrations.length === names.length)
    assert.strictEqual(edge.sessions.size, 1)
    for (const name of names.slice(0, 4)) assert.strictEqual(await exchange(open(name), "?"), name)
    assert.strictEqual(await exchange(open("echo"), "twelve bytes"), "twelve bytes")
    edge.cut()
    await edge.until(() => edge.registrations.length === 2 * names.length && edge.sessions.size === 1)
    for (const name of names.slice(0, 4)) assert.strictEqual(await exchange(open(name), "?"), name)
    run.agent.kill()
    assert.strictEqual(await run.agent.exited, 0, run.agent.lines.join("\n"))
  })

  it("open another connection where the edge takes no more registrations on one", async () => {
    await using run = await agentWith(["a", "b", "c", "d", "e"], { maxRegistrations: 2 })
    await run.edge.until(() => run.edge.registrations.length === 5)
    assert.strictEqual(run.edge.sessions.size, 3)
  })

  it("that go withdraw from the connection when their visits have ended, and the others do not notice", async () => {
    await using run = await agentWith(["a", "echo"])
    const { agent, edge, newest, open } = run
    await edge.until(() => edge.registrations.length === 2)
    const visit = open("echo")
    visit.write("first ")
    await new Promise<void>((resolve) => visit.once("readable", () => resolve()))
    await run.write(["a", "b"])
    agent.kill("SIGHUP")
    await newest("echo")?.withdrawn
    await edge.until(() => edge.registrations.length === 3)
    const rest = randomBytes(500_000).toString("hex")
    assert.strictEqual(await exchange(visit, rest), `first ${rest}`)
    assert.strictEqual(await exchange(open("b"), "?"), "b")
    assert.strictEqual(await exchange(open("a"), "?"), "a")
    assert.strictEqual(edge.sessions.size, 1)
    assert.strictEqual(edge.registrations.filter(({ request }) => request.hosts.includes("a.example")).length, 1)
    agent.kill()
    assert.strictEqual(await agent.exited, 0)
  })

  it("are those of the file as it is, where the file is watched", async () => {
    await using run = await agentWith(["a"])
    const { agent, edge, newest } = run
    await edge.until(() => edge.registrations.length === 1)
    await run.write(["a", "b"])
    await edge.until(() => newest("b") !== undefined)
    await agent.said("applied ct-agent.json: added b")
    const from = agent.lines.length
    await writeFile(`${run.home.path}/ct-agent.json`, "{}")
    await agent.said("was not applied; the services are as before", from)
    await agent.said("ct-agent.json:1:1: services is missing", from)
    assert.strictEqual(edge.registrations.length, 2)
  })

  it("that the edge refuses do not disturb the others", async () => {
    await using run = await agentWith(["a", "b"])
    const { agent, edge, newest, open } = run
    await edge.until(() => edge.registrations.length === 2)
    newest("a")?.end({ code: "revoked", sentence: "this tunnel was revoked" })
    await agent.said("This service is not served until the file changes")
    assert.strictEqual(await exchange(open("b"), "?"), "b")
    newest("b")?.end({ code: "revoked", sentence: "this tunnel was revoked" })
    assert.strictEqual(await agent.exited, 4)
  })

  it("have connections of their own to an edge that does not multiplex", async () => {
    await using run = await agentWith(["a", "b"], { alpn: ["ct-edge"] })
    await run.edge.until(() => run.edge.slots.length === 12)
    assert.strictEqual(run.edge.sessions.size, 0)
  })
})
