import { assert, describe, it } from "vitest"
import { readFile, stat } from "node:fs/promises"
import { text } from "node:stream/consumers"
import type { Duplex } from "node:stream"
import { type Agent, type Home, makeHome, runAgent } from "./stage/Agent.ts"
import { makeAuthority } from "./stage/Authority.ts"
import { startControlPlane } from "./stage/ControlPlane.ts"
import { type EdgeOptions, startEdge } from "./stage/Edge.ts"
import { counter, echo, startOrigin } from "./stage/Origins.ts"

const token = "ab".repeat(32)
const join = "cd".repeat(32)
const mux = ["ct-edge-mux", "ct-edge"]

const stage = async (edgeOptions: Partial<EdgeOptions> = {}) => {
  const authority = makeAuthority()
  const leaf = authority.leaf("localhost")
  const plane = await startControlPlane(authority.der)
  plane.joinTokens.set(join, "fresh")
  const edge = await startEdge({ leaf, alpn: mux, ...edgeOptions })
  plane.meshPort = edge.port
  const env = {
    CT_AGENT_CP_URL: plane.url,
    CT_AGENT_TOKEN: token,
    CT_AGENT_HOSTNAME: "hello.example",
    CT_AGENT_MODE: "browser",
    CT_AGENT_RECONNECT_BASE_MS: "100"
  }
  return { authority, leaf, plane, edge, env }
}

const exchange = async (stream: Duplex, request: string) => {
  stream.end(request)
  return text(stream)
}

const registered = (agent: Agent, from = 0) => agent.said("event: registered", from)
const home = (): Promise<Home> => makeHome()

describe("a browser tunnel over the multiplexed carrier", () => {
  it("enrols, registers with a proof, and brings bytes to the origin and back", async () => {
    const { plane, edge, env } = await stage()
    await using _plane = plane
    await using _edge = edge
    await using origin = await startOrigin(counter)
    await using folder = await home()
    await using agent = runAgent(folder, { ...env, CT_AGENT_JOIN_TOKEN: join, CT_AGENT_ORIGIN: origin.address })
    await registered(agent)
    assert.strictEqual(await exchange(await edge.open(), "twelve bytes"), "12 bytes")
    const registration = edge.registrations[0]
    assert.isTrue(registration?.proven)
    assert.deepStrictEqual(registration?.request.hosts, ["hello.example"])
    assert.strictEqual(Buffer.from(registration?.request.token ?? []).toString("hex"), token)
    const state = `${folder.path}/.ct-agent-state`
    assert.strictEqual((await stat(`${state}/identity.key`)).mode & 0o777, 0o600)
    assert.strictEqual((await readFile(`${state}/tenant`)).toString(), "tenant-1")
    assert.match((await readFile(`${state}/agent`)).toString(), /^agent-\d+-\d+$/)
    agent.kill()
    assert.strictEqual(await agent.exited, 0)
  })

  it("does not dial the origin for a client that says nothing", async () => {
    const { plane, edge, env } = await stage()
    await using _plane = plane
    await using _edge = edge
    await using origin = await startOrigin(echo)
    await using folder = await home()
    await using agent = runAgent(folder, { ...env, CT_AGENT_ORIGIN: origin.address })
    await registered(agent)
    const silent = await edge.open()
    assert.strictEqual(await exchange(await edge.open(), "hello"), "hello")
    assert.strictEqual(origin.connections(), 1)
    assert.strictEqual(await exchange(silent, ""), "")
    assert.strictEqual(origin.connections(), 1)
  })
})
