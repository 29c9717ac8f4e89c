/** A tunnel under mixed visitors for a while, and everything that should not have changed or must add up afterwards. */
import { native } from "@catenet/crypto/native"
import * as Export from "@catenet/crypto/receipt/Export"
import { eventually } from "@catenet/testing/Eventually"
import { httpOrigin } from "@catenet/testing/stack/e2e/Origins"
import type { Stack } from "@catenet/testing/stack/e2e/Stack"
import { freePorts } from "@catenet/testing/stack/e2e/Stack"
import { Result } from "effect"
import { readdirSync } from "node:fs"
import type { Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { WebSocketServer } from "ws"
import { residentMegabytes } from "./Memory.ts"
import { mixedVisitors, type Seen } from "./MixedVisitors.ts"
import { get, provision, serve } from "./Tunnel.ts"

export interface Outcome {
  readonly seen: Seen
  /** Connections that reached the origin, and what the agent counted of them. */
  readonly originConnections: number
  readonly agentOpened: number
  readonly edgeRelays: number
  /**
   * Resident megabytes by program: the median of the second quarter, and what the last one never fell below. The heap grows
   * in steps of tens of megabytes to its working size and back; only what leaks lifts the floor.
   */
  readonly memory: Readonly<Record<string, { readonly early: number; readonly late: number }>>
  /** Open descriptors at rest before and after, by program. */
  readonly descriptors: Readonly<Record<string, { readonly before: number; readonly after: number }>>
  readonly receipts: { readonly count: number; readonly verify: boolean }
}

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
const descriptorsOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length

const series = async (url: string, name: string) => {
  const text = await (await fetch(url)).text()
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1] ?? Number.NaN)
}

const receiptsOf = async (stack: Stack, token: string) => {
  const answer = await fetch(`http://127.0.0.1:${stack.ports.edgeAdmin}/internal/tunnel/receipts/${token}?limit=1000`, {
    headers: { "x-ct-admin-token": stack.secrets["edgeAdminToken"] ?? "" }
  })
  const { edge_id, pubkey, receipts } = (await answer.json()) as {
    pubkey: string
    edge_id: string
    receipts: ReadonlyArray<unknown>
  }
  const lines = [{ pubkey, edge_id }, ...receipts].map((line) => JSON.stringify(line)).join("\n")
  const exported = Export.parse(lines)
  const verify = Result.isSuccess(exported) && Result.isSuccess(Export.verifyUnderOwnKey(native, exported.success))
  return { count: receipts.length, verify }
}

export const soak = async (stack: Stack, seconds: number, atOnce: number): Promise<Outcome> => {
  const origin = await httpOrigin()
  const sockets = new WebSocketServer({ noServer: true })
  sockets.on("connection", (socket) => socket.on("message", (data) => socket.send(data)))
  origin.server.on("upgrade", (request, socket, first) =>
    sockets.handleUpgrade(request, socket, first, (client) => sockets.emit("connection", client, request))
  )
  let originConnections = 0
  // The agent's probes connect and say nothing.
  origin.server.on("connection", (socket: Socket) =>
    socket.once("close", () => {
      if (socket.bytesRead > 0) originConnections++
    })
  )

  const metricsPort = (await freePorts()).demoOrigin
  const tunnel = await provision(stack, "soak.catenet.localhost", origin.port)
  const agent = await serve(stack, tunnel, { CT_AGENT_METRICS_LISTEN: `127.0.0.1:${metricsPort}` })
  const pids = { edge: stack.pid("edge"), agent: agent.child.pid ?? -1 }
  const edgeMetrics = `http://127.0.0.1:${stack.ports.edgeMetrics}/metrics`
  const agentMetrics = `http://127.0.0.1:${metricsPort}/metrics`

  /** No visitor is served any more, and what was held for visitors is given back. */
  const quiet = async () => {
    const left = async () => [
      await series(edgeMetrics, "ct_edge_visitor_connections"),
      await series(edgeMetrics, "ct_edge_active_relays"),
      await series(agentMetrics, "ct_agent_tasks_live")
    ]
    await eventually(async () => (await left()).every((count) => count === 0), "the end of all relays")
    await sleep(3000)
  }

  const warm = new AbortController()
  const warming = mixedVisitors(tunnel.target, atOnce, warm.signal, 99)
  await sleep(Math.min(60, seconds / 3) * 1000)
  warm.abort()
  await warming
  await quiet()
  const before = { edge: descriptorsOf(pids.edge), agent: descriptorsOf(pids.agent) }
  const from = {
    origin: originConnections,
    agent: await series(agentMetrics, "ct_tunnels_opened_total"),
    edge: await series(edgeMetrics, "ct_edge_relays_total")
  }

  const samples: { edge: Array<number>; agent: Array<number> } = { edge: [], agent: [] }
  const stop = new AbortController()
  const visitors = mixedVisitors(tunnel.target, atOnce, stop.signal)
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    samples.edge.push(residentMegabytes(pids.edge))
    samples.agent.push(residentMegabytes(pids.agent))
    await sleep(500)
  }
  stop.abort()
  const seen = await visitors
  await quiet()
  const quarter = Math.floor(samples.edge.length / 4)
  const memory = (values: ReadonlyArray<number>) => ({
    early: median(values.slice(quarter, 2 * quarter)),
    late: Math.min(...values.slice(-quarter))
  })
  const outcome: Outcome = {
    seen,
    originConnections: originConnections - from.origin,
    agentOpened: (await series(agentMetrics, "ct_tunnels_opened_total")) - from.agent,
    edgeRelays: (await series(edgeMetrics, "ct_edge_relays_total")) - from.edge,
    memory: { edge: memory(samples.edge), agent: memory(samples.agent) },
    descriptors: {
      edge: { before: before.edge, after: descriptorsOf(pids.edge) },
      agent: { before: before.agent, after: descriptorsOf(pids.agent) }
    },
    receipts: await receiptsOf(stack, tunnel.token)
  }
  await get(tunnel, "/after")
  await agent.stop()
  sockets.close()
  await origin.close()
  return outcome
}
