import { eventually } from "@catenet/testing/Eventually"
import { onThisMachine } from "@catenet/testing/Promptness"
import { agent, catenet } from "@catenet/testing/stack/e2e/Stack"
import { ask, serves } from "@catenet/testing/stack/e2e/Visitor"
import { randomBytes } from "node:crypto"
import { existsSync } from "node:fs"
import { createServer } from "node:http"
import { request } from "node:https"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { CountingAgents, SharedEdge } from "./SharedEdge.ts"

const processes = 3
const visitors = 200
/** As many that hardly ever all of them are in one process. */
const shopAgents = 24
const healMillis = 10_000

/** While true, who reads `/drip` gets only its first byte. */
let held = false

/** Says the visitor's address, or for `/drip` two bytes. */
const answering = (edge: SharedEdge, name: string) => {
  const agents: CountingAgents = new CountingAgents(edge, `${name}.catenet.localhost`, (stream, head) => {
    const address = /^x-forwarded-for: (\S+)/im.exec(head)?.[1] ?? "no address"
    if (!head.startsWith("GET /drip")) {
      const said = `HTTP/1.1 200 OK\r\nContent-Length: ${address.length}\r\nConnection: close\r\n\r\n${address}`
      return agents.say(stream, said, true)
    }
    agents.say(stream, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n.")
    const timer = setInterval(() => {
      if (held && !stream.destroyed) return
      clearInterval(timer)
      agents.say(stream, ".", true)
    }, 50)
    return undefined
  })
  return agents
}

/** A visitor who reads `/drip`; `began` with its first byte, `whole` tells whether it came to the end. */
const reader = (edge: SharedEdge, host: string) => {
  const began = Promise.withResolvers<void>()
  const { ca, port } = edge.target(host)
  const whole = new Promise<boolean>((resolve) => {
    const end = (complete: boolean) => {
      began.reject(new Error("no first byte"))
      resolve(complete)
    }
    const options = { host: "127.0.0.1", port, servername: host, ca, agent: false, path: "/drip", headers: { host } }
    request(options, (response) => {
      response.on("data", () => began.resolve())
      response.on("error", () => end(false))
      response.on("end", () => end(response.complete))
    })
      .on("error", () => end(false))
      .end()
  })
  began.promise.catch(() => {})
  return { began: began.promise, whole }
}

/** Visitors who have heard their first byte, and hear the second when they are not held any more. */
const readers = async (edge: SharedEdge, host: string, count: number) => {
  held = true
  const all = Array.from({ length: count }, () => reader(edge, host))
  await Promise.all(all.map(({ began }) => began))
  return all.map(({ whole }) => whole)
}

interface SessionReceipt {
  readonly kind: string
  readonly payload: Readonly<Record<string, unknown>>
}

const runs = (pid: number) => existsSync(`/proc/${pid}`)

let edge: SharedEdge
const tunnels: Array<CountingAgents> = []
const [shop, blog] = ["shop", "blog"]

beforeAll(async () => {
  edge = await SharedEdge.start(processes)
  for (const name of [shop, blog]) {
    const agents = answering(edge, name)
    tunnels.push(agents)
    await agents.start(name === shop ? shopAgents : 1)
  }
})
afterAll(async () => {
  for (const agents of tunnels) agents.stop()
  await edge?.dispose()
})

describe("an edge of several processes", () => {
  it("refuses more processes than the system supports with one sentence and exit code 3", async () => {
    const variables = { CT_EDGE_PROCESSES: "65", CT_EDGE_CERT_OUT: join(edge.folder, "never.der") }
    const { code, stderr } = await catenet(["edge"], variables).ended
    assert.strictEqual(code, 3)
    assert.match(stderr, /^Error: CT_EDGE_PROCESSES is "65", which is not auto or a whole number from 1 to 64; .+\n$/)
  })

  it("serves every visitor whichever process it came to, and counts all of them once", async () => {
    assert.lengthOf(edge.workers, processes - 1)
    const answers = await Promise.all(
      Array.from({ length: visitors }, (_, index) => ask(edge.target(tunnels[index % 2]?.host ?? "")))
    )
    for (const { body, status } of answers) assert.deepStrictEqual([status, body.toString()], [200, "127.0.0.1"])
    for (const agents of tunnels) {
      // Each process reports by itself, and each direction of a stream when it has ended.
      const isCounted = async () => {
        const { bytes_received, bytes_sent } = await edge.status(agents.token)
        return bytes_sent === agents.sent && bytes_received === agents.received
      }
      await eventually(isCounted, "all bytes are counted", onThisMachine(healMillis)).catch(() => undefined)
      const status = await edge.status(agents.token)
      const { received, sent, streams } = agents
      const { bytes_received, bytes_sent } = status
      assert.deepStrictEqual(
        { bytes_received, bytes_sent, streams },
        { bytes_received: received, bytes_sent: sent, streams: visitors / 2 }
      )
      assert.strictEqual(status.registrations, agents === tunnels[0] ? shopAgents : 1)
    }
    await eventually(async () => (await edge.metric("active_relays")) === 0, "all relays have ended")
    assert.strictEqual(await edge.metric("relays_total"), visitors)
    assert.strictEqual(await edge.metric("registrations_total"), shopAgents + 1)
    assert.strictEqual(await edge.metric("active_agents"), shopAgents + 1)
  })

  it("has an agent in each process, and again when a process is back", async () => {
    const token = randomBytes(32).toString("hex")
    const host = "real.catenet.localhost"
    const origin = createServer((_request, response) => void response.end("real"))
    await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve))
    const address = origin.address()
    await edge.call("POST", `/admin/authorize-host/${token}/${host}?channel_tier=gelb`)
    const real = agent([], {
      CT_AGENT_CP_URL: "http://127.0.0.1:1",
      CT_AGENT_TOKEN: token,
      CT_AGENT_HOSTNAME: host,
      CT_AGENT_MODE: "browser",
      CT_AGENT_EDGE: `127.0.0.1:${edge.ports.mesh}`,
      CT_AGENT_EDGE_CERT: join(edge.folder, "edge-cert.der"),
      CT_AGENT_STATE_DIR: join(edge.folder, "agent"),
      CT_AGENT_ORIGIN: `127.0.0.1:${typeof address === "object" ? address?.port : 0}`
    })
    try {
      const everywhere = async () => (await edge.status(token)).registrations === processes
      await eventually(everywhere, "the agent is in each process", onThisMachine(healMillis))
      const [victim = -1] = edge.workers
      process.kill(victim, "SIGKILL")
      await eventually(async () => !(await everywhere()), "the process is gone")
      await eventually(everywhere, "the agent is in each process again", onThisMachine(healMillis))
      for (let visitor = 0; visitor < 12; visitor++)
        assert.strictEqual((await ask(edge.target(host))).body.toString(), "real")
    } finally {
      await real.stop("SIGKILL")
      origin.close()
    }
  })

  it("loses with a killed process only its own connections, and restarts it", async () => {
    const [agents] = tunnels
    assert.isDefined(agents)
    const reading = await readers(edge, agents.host, 60)
    await eventually(() => edge.isHealthy(), "the process of the test before is back", onThisMachine(healMillis))
    const before = edge.workers
    const [victim = -1] = before
    process.kill(victim, "SIGKILL")
    const killed = performance.now()
    await eventually(
      async () => !(await edge.isHealthy()),
      "the edge says that a process is gone",
      onThisMachine(healMillis)
    )
    held = false
    const whole = (await Promise.all(reading)).filter(Boolean).length
    process.stderr.write(`a process killed under 60 visitors: ${whole} were not touched\n`)
    assert.isAbove(whole, 0)
    assert.isBelow(whole, 60)
    await eventually(
      async () => edge.workers.filter((pid) => !before.includes(pid)).length === 1 && (await edge.isHealthy()),
      "the process is back",
      onThisMachine(healMillis)
    )
    await eventually(
      async () => (await edge.status(agents.token)).registrations === shopAgents,
      "its agents are back",
      onThisMachine(healMillis)
    )
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask(edge.target(agents.host))))
    for (const { status } of answers) assert.strictEqual(status, 200)
    process.stderr.write(`healed after ${Math.round(performance.now() - killed)} ms\n`)
  })

  it("cuts the visitors of all processes before it acknowledges a revocation", async () => {
    const [agents] = tunnels
    assert.isDefined(agents)
    const reading = await readers(edge, agents.host, 40)
    await edge.call("POST", `/admin/revoke/${agents.token}`)
    const { streams } = agents
    assert.deepStrictEqual(new Set(await Promise.all(reading)), new Set([false]))
    for (let visitor = 0; visitor < 12; visitor++)
      await ask(edge.target(agents.host)).then(
        ({ status }) => assert.notStrictEqual(status, 200),
        () => undefined
      )
    assert.strictEqual(agents.streams, streams)
    assert.isFalse((await edge.status(agents.token)).connected)
  })

  it("keeps one chain of receipts, whose bytes are those of all processes", async () => {
    const [, agents] = tunnels
    assert.isDefined(agents)
    const reading = await readers(edge, agents.host, 10)
    held = false
    await Promise.all(reading)
    agents.stop()
    const receipts = async () => {
      const page = await (await edge.call("GET", `/internal/tunnel/receipts/${agents.token}`)).json()
      return (page as { readonly receipts: ReadonlyArray<SessionReceipt> }).receipts
    }
    // A session's end is written down when every process has reported.
    await eventually(async () => (await receipts()).at(-1)?.kind === "session_close", "the last session is closed")
    const closed = (await receipts()).filter(({ kind }) => kind === "session_close")
    const sum = (of: "bytes_in" | "bytes_out") => closed.reduce((all, { payload }) => all + Number(payload[of]), 0)
    assert.deepStrictEqual([sum("bytes_in"), sum("bytes_out")], [agents.received, agents.sent])
  })

  it("lets visitors finish on SIGTERM, and leaves no process behind", async () => {
    const agents = answering(edge, "late")
    tunnels.push(agents)
    await agents.start(1)
    const reading = await readers(edge, agents.host, 20)
    const all = edge.workers
    const ended = edge.process.stop("SIGTERM")
    await edge.process.printed("draining")
    held = false
    assert.deepStrictEqual(new Set(await Promise.all(reading)), new Set([true]))
    await ended
    await eventually(async () => all.filter(runs).length === 0, "all processes are gone")
  })

  it("leaves no process behind when the main one is killed", async () => {
    for (const agents of tunnels) agents.stop()
    await edge.dispose()
    edge = await SharedEdge.start(processes)
    const agents = answering(edge, "last")
    tunnels.push(agents)
    await agents.start(1)
    await serves(edge.target(agents.host), onThisMachine(healMillis))
    const all = edge.workers
    assert.lengthOf(all, processes - 1)
    await edge.process.stop("SIGKILL")
    await eventually(async () => all.filter(runs).length === 0, "all processes are gone")
  })
})
