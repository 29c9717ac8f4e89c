import { eventually } from "@catenet/testing/Eventually"
import { onThisMachine } from "@catenet/testing/Promptness"
import { agent, type Spawned } from "@catenet/testing/stack/e2e/Stack"
import { ask, serves, type Target } from "@catenet/testing/stack/e2e/Visitor"
import { spawn } from "node:child_process"
import { cpSync } from "node:fs"
import { createServer } from "node:http"
import { request } from "node:https"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { provision, type Tunnel } from "../e2e/Tunnel.ts"
import { Fleet } from "./Fleet.ts"
import { Link } from "./Link.ts"
import { percentile, slowest, steadyVisitors } from "./Visitors.ts"

const failOverMillis = 5_000
const restartMillis = 10_000
/** The campaign has 1,000 agents reconnect. */
const stormAgents = Number(process.env["CATENET_STORM_AGENTS"] ?? 200)

/** An origin that says its name, or says a byte now and then until it has said `drips` of them. */
const drips = 20
const dripMillis = 400
const origin = async (name: string) => {
  const server = createServer((request, response) => {
    if (request.url !== "/drip") return void response.end(name)
    response.writeHead(200, { "content-length": String(drips) })
    let said = 0
    const timer = setInterval(() => {
      response.write(".")
      if (++said === drips) response.end()
    }, dripMillis)
    response.once("close", () => clearInterval(timer))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  return { server, port: address !== null && typeof address === "object" ? address.port : 0 }
}

/** A visitor who reads `/drip` to its end. `began` resolves with the first byte, `ended` with how many came and whether all did. */
const reader = ({ ca, host, port }: Target) => {
  const began = Promise.withResolvers<void>()
  const ended = new Promise<{ readonly bytes: number; readonly whole: boolean; readonly at: number }>((resolve) => {
    let bytes = 0
    const end = (whole: boolean) => {
      began.reject(new Error("the answer ended before its first byte"))
      resolve({ bytes, whole, at: performance.now() })
    }
    const options = { host: "127.0.0.1", port, servername: host, ca, agent: false, path: "/drip", headers: { host } }
    request(options, (response) => {
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length
        began.resolve()
      })
      response.on("error", () => end(false))
      response.on("end", () => end(response.complete))
    })
      .on("error", () => end(false))
      .end()
  })
  began.promise.catch(() => {})
  return { began: began.promise, ended }
}

let fleet: Fleet
let shop: Tunnel
let shopAtSecond: Target
let other: Tunnel
const origins: Array<Awaited<ReturnType<typeof origin>>> = []
const links: Array<Link> = []
const agents = new Map<string, Spawned>()

/** Starts an agent of a tunnel whose way to the edge is a link and whose origin says the agent's name. */
const startAgent = (name: string, tunnel: Tunnel, link: Link, originPort: number) => {
  const state = join(fleet.folder, `agent-${name}`)
  agents.set(
    name,
    agent([], {
      ...tunnel.variables,
      CT_AGENT_EDGE: `127.0.0.1:${link.port}`,
      CT_AGENT_ORIGIN: `127.0.0.1:${originPort}`,
      CT_AGENT_STATE_DIR: state,
      // What is measured of a restart is the edge, not how long an agent has waited by chance.
      CT_AGENT_RECONNECT_MAX_MS: "2000",
      CT_AGENT_EDGE_CERT: join(state, "edge-cert.der")
    })
  )
}

const nameSuffix = Math.random().toString(36).slice(2, 8)

beforeAll(async () => {
  fleet = await Fleet.start()
  for (const name of ["one", "two", "three"]) origins.push(await origin(name))
  const [one, two, three] = origins.map(({ port }) => port)
  shop = await provision(fleet, `shop-${nameSuffix}.catenet.localhost`, one ?? 0)
  other = await fleet.move(await provision(fleet, `other-${nameSuffix}.catenet.localhost`, three ?? 0))
  shopAtSecond = { ...shop.target, port: fleet.second.ports.frontDoor }
  for (const { ports } of [fleet.first, fleet.first, fleet.second]) links.push(await Link.open(ports.mesh))
  const [linkOne, linkTwo, linkThree] = links
  if (linkOne === undefined || linkTwo === undefined || linkThree === undefined) throw new Error("no links")
  startAgent("one", shop, linkOne, one ?? 0)
  startAgent("three", other, linkThree, three ?? 0)
  await fleet.registered(fleet.first, shop.token, 1)
  // A redundant agent shares the identity of the first, and so the visitors.
  cpSync(join(fleet.folder, "agent-one"), join(fleet.folder, "agent-two"), { recursive: true })
  startAgent("two", shop, linkTwo, two ?? 0)
  await fleet.registered(fleet.first, shop.token, 2)
  await fleet.registered(fleet.second, other.token, 1)
})
afterAll(async () => {
  await Promise.all(Array.from(agents.values(), (program) => program.stop("SIGKILL")))
  await Promise.all(links.map((link) => link.close()))
  for (const { server } of origins) server.close().closeAllConnections()
  await fleet?.dispose()
})

describe("two edges and three agents", () => {
  it("bring a visitor of any edge to the agent's edge", async () => {
    assert.include(["one", "two"], (await ask(shopAtSecond)).body.toString())
    assert.strictEqual((await ask(other.target)).body.toString(), "three")
  })

  it("and of a third bring a visitor of any of them to an agent of any, nine pairs", async () => {
    const edge = await fleet.another("third")
    const link = await Link.open(edge.ports.mesh)
    links.push(link)
    const far = await provision(fleet, `far-${nameSuffix}.catenet.localhost`, origins[2]?.port ?? 0)
    startAgent("far", far, link, origins[2]?.port ?? 0)
    await fleet.registered(edge, far.token, 1)
    const served = { first: shop, second: other, third: far }
    for (const [name, { hostname }] of Object.entries(served))
      await eventually(async () => {
        const { edge_id } = (await (await fleet.admin("GET", `/internal/edges/lookup?host=${hostname}`)).json()) as {
          readonly edge_id?: string
        }
        return edge_id?.startsWith(`${name}-`) === true
      }, `the control plane knows of the agent at the ${name} edge`)
    const doors = [fleet.first, fleet.second, edge].map(({ ports }) => ports.frontDoor)
    for (const { target } of Object.values(served))
      for (const port of doors) assert.strictEqual((await ask({ ...target, port })).status, 200)
    await agents.get("far")?.stop("SIGKILL")
    await edge.stop()
  })

  /** What visitors of both edges saw when the agent that served them was struck, and who answered those who came 5 s later. */
  const watched = async (victim: string, strike: () => unknown) => {
    const doors = [shop.target, shopAtSecond].map((target) => steadyVisitors(target, 50))
    await eventually(async () => doors.some(({ answers }) => answers.has(victim)), `an answer of agent ${victim}`)
    const struck = performance.now()
    await strike()
    await sleep(struck + failOverMillis + 1000 - performance.now())
    const visits = (await Promise.all(doors.map(({ stop }) => stop()))).flat()
    const later = visits.filter(({ begun }) => begun >= struck + failOverMillis)
    for (const { answer, failure } of later) assert.isDefined(answer, failure)
    return { visits, later: new Set(later.map(({ answer }) => answer)), slowest: slowest(visits) }
  }

  const holds = ({ slowest: longest, visits }: Awaited<ReturnType<typeof watched>>, what: string) => {
    const failed = visits.filter(({ answer }) => answer === undefined)
    process.stderr.write(
      `${what}: ${failed.length} of ${visits.length} visitors failed, slowest ${Math.round(longest)} ms\n`
    )
    // Who had been handed to the agent before comes to the other one: what they ask may be asked twice.
    assert.deepStrictEqual(failed, [])
    assert.isBelow(longest, onThisMachine(failOverMillis))
  }

  it("fail over within 5 s from an agent that is killed", async () => {
    const seen = await watched("one", () => agents.get("one")?.child.kill("SIGKILL"))
    assert.deepStrictEqual(seen.later, new Set(["two"]))
    holds(seen, "agent killed")
  })

  it("fail over within 5 s from an agent whose network is cut silently", async () => {
    const [linkOne, linkTwo] = links
    if (linkOne === undefined || linkTwo === undefined) throw new Error("no links")
    startAgent("one", shop, linkOne, origins[0]?.port ?? 0)
    await fleet.registered(fleet.first, shop.token, 2)
    const seen = await watched("two", () => linkTwo.hold())
    assert.deepStrictEqual(seen.later, new Set(["one"]))
    holds(seen, "agent cut off")
    linkTwo.release()
    await fleet.registered(fleet.first, shop.token, 2)
  })

  it("lose with a killed edge only its own visitors, and serve through it again within 10 s", async () => {
    const through = Array.from({ length: 200 }, () => reader(shop.target))
    const others = Array.from({ length: 50 }, () => reader(other.target))
    await Promise.all([...through, ...others].map(({ began }) => began))
    const killed = performance.now()
    await fleet.first.stop("SIGKILL")
    await fleet.first.start()
    await serves(shop.target, onThisMachine(restartMillis))
    const back = performance.now() - killed
    assert.isBelow(back, onThisMachine(restartMillis))
    for (const { at, whole } of await Promise.all(through.map(({ ended }) => ended))) {
      assert.isFalse(whole)
      assert.isBelow(at - killed, onThisMachine(failOverMillis))
    }
    for (const outcome of await Promise.all(others.map(({ ended }) => ended)))
      assert.deepInclude(outcome, { bytes: drips, whole: true })
    process.stderr.write(`edge killed under 250 visitors: serves again after ${Math.round(back)} ms\n`)
  })

  it(`serve their visitors while ${stormAgents} agents reconnect at once`, async () => {
    const program = join(dirname(fileURLToPath(import.meta.url)), "Storm.ts")
    const args = [
      program,
      String(fleet.first.ports.mesh),
      join(fleet.folder, "first", "edge-cert.der"),
      String(stormAgents)
    ]
    const storm = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] })
    try {
      const lines = storm.stdout.setEncoding("utf8")[Symbol.asyncIterator]()
      assert.strictEqual((await lines.next()).value, "registered\n")
      const calm = steadyVisitors(shop.target, 25)
      await sleep(1000)
      const before = await calm.stop()
      const visitors = steadyVisitors(shop.target, 25)
      storm.stdin.write("\n")
      const outcome = JSON.parse((await lines.next()).value as string) as { registered: number; seconds: number }
      const visits = await visitors.stop()
      const p99 = Math.round(percentile(visits, 0.99))
      process.stderr.write(
        `${stormAgents} agents back in ${outcome.seconds.toFixed(1)} s: p50 ${Math.round(percentile(visits, 0.5))} ms, p99 ${p99} ms of ` +
          `${visits.length} visitors (${Math.round(percentile(before, 0.99))} ms before)\n`
      )
      assert.strictEqual(outcome.registered, stormAgents)
      for (const { answer, failure } of visits) assert.isDefined(answer, failure)
      assert.isBelow(p99, onThisMachine(3_000))
    } finally {
      storm.kill("SIGKILL")
    }
  })
})
