/** What 5,000 agents, and 2,000 visitors that keep their connection after one request, cost an edge that carries nothing. */
import { muxAlpn, Mux } from "@catenet/wire/transport/Mux"
import { Result } from "effect"
import { connect } from "node:tls"
import { residentMegabytes } from "../../test/e2e/Memory.ts"
import { secondsOf } from "../api/Processor.ts"
import type { Row } from "../Report.ts"
import { allowed } from "./Descriptors.ts"
import { Kept } from "./Kept.ts"
import { Relay } from "./Relay.ts"

const wanted = 5000
/** Below an address's share of the streams to one agent (`maxPerAddress` of the edge's stream shares). */
const wantedVisitors = 2000
const atOnce = 20
/** Addresses of the visitors: an agent serves one of them 2,048 at a time. */
const addresses = 8
const settleMillis = 5000

const dial = async (relay: Relay, ca: string, token: Buffer) => {
  const { mesh: port } = relay.ports
  const socket = connect({ host: "127.0.0.1", port, servername: "localhost", ca, ALPNProtocols: [muxAlpn] })
  await new Promise<void>((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject))
  const mux = new Mux(socket, { side: "dialler" })
  await mux.ready
  const registered = await mux.register({ token, hosts: [], agentId: "bench", wishes: { proxyProtocol: false } })
  if (Result.isFailure(registered)) throw new Error(registered.failure.sentence)
  return mux
}

const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** Resident megabytes once nothing happens any more, and the share of a core that the edge uses at rest. */
const atRest = async (pid: number) => {
  await sleep(settleMillis)
  const from = secondsOf(pid)
  await sleep(settleMillis)
  return { megabytes: residentMegabytes(pid), busy: ((secondsOf(pid) - from) * 1000) / settleMillis }
}

const agents = async (relay: Relay): Promise<ReadonlyArray<Row>> => {
  const edge = relay.edge.child.pid ?? -1
  const ca = relay.meshRoot
  const count = allowed(wanted, 1)
  const sessions = [await dial(relay, ca, Buffer.alloc(32, 1))]
  const before = await atRest(edge)
  const from = performance.now()
  for (let made = 0; made < count; made += atOnce) {
    const tokens = Array.from({ length: atOnce }, (_, index) => {
      const token = Buffer.alloc(32, 2)
      token.writeUInt32BE(made + index)
      return token
    })
    sessions.push(...(await Promise.all(tokens.map((token) => dial(relay, ca, token)))))
  }
  const seconds = (performance.now() - from) / 1000
  const after = await atRest(edge)
  for (const session of sessions) session.close("normal")
  const kibibytes = ((after.megabytes - before.megabytes) * 1024) / count
  return [
    { name: `edge memory for each of ${count} idle agents`, value: kibibytes, unit: "KiB" },
    { name: "edge at rest with them (an echo every 5 s each)", value: after.busy * 100, unit: "% of a core" },
    { name: "registrations (TLS, echo, registration)", value: count / seconds, unit: "/s" }
  ]
}

const visitors = async (relay: Relay, tier: "gelb" | "gruen", terminates = false): Promise<ReadonlyArray<Row>> => {
  const { plain, tls } = relay.origin.said
  const tunnel = await relay.tunnel(`idle-${tier}`, tier)
  const origin = { CT_AGENT_ORIGIN: `127.0.0.1:${tier === "gelb" || terminates ? plain : tls}` }
  const agent = await relay.agent(tunnel, relay.ports.mesh, terminates ? { ...origin, ...relay.terminating } : origin)
  const pids = { edge: relay.edge.child.pid ?? -1, agent: agent.child.pid ?? -1 }
  const count = allowed(wantedVisitors, 1)
  const first = await Kept.open(tunnel.aim)
  await first.get()
  const before = { edge: await atRest(pids.edge), agent: residentMegabytes(pids.agent) }
  const opened: Array<Kept> = [first]
  let begun = 0
  const worker = async () => {
    while (begun++ < count) {
      const kept = await Kept.open(tunnel.aim, `127.0.1.${1 + (begun % addresses)}`)
      await kept.get()
      opened.push(kept)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  const after = { edge: await atRest(pids.edge), agent: residentMegabytes(pids.agent) }
  for (const kept of opened) kept.close()
  const each = (megabytes: number) => (megabytes * 1024) / count
  const of = `for each of ${count} idle visitors, ${tier}${terminates ? ", TLS ends at the agent" : ""}`
  return [
    { name: `edge memory ${of}`, value: each(after.edge.megabytes - before.edge.megabytes), unit: "KiB" },
    { name: `agent memory ${of}`, value: each(after.agent - before.agent), unit: "KiB" }
  ]
}

/** Each on an edge of its own: memory that one leaves free would hide what the next needs. */
const measures = [
  agents,
  (relay: Relay) => visitors(relay, "gelb"),
  (relay: Relay) => visitors(relay, "gruen"),
  (relay: Relay) => visitors(relay, "gruen", true)
]

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const result: Array<Row> = []
  for (const measure of measures) {
    const relay = await Relay.make()
    try {
      result.push(...(await measure(relay)))
    } finally {
      await relay.dispose()
    }
  }
  return result
}
