/**
 * What people install, with 1, 100 and 1,000 services in one process: resident memory at rest, and the time until the last service
 * is registered. Each ends its visitors' TLS, is enrolled and waits for its certificate, and none has had a visitor.
 */
import { Spawned } from "@catenet/testing/stack/e2e/Stack"
import { randomBytes } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { residentMegabytes } from "../test/e2e/Memory.ts"
import { secondsOf } from "./api/Processor.ts"
import { Relay } from "./data/Relay.ts"
import type { Row } from "./Report.ts"
import { published } from "./rest.ts"

const counts = [1, 100, 1_000]
/** The processor is looked at so often until it rests, and memory is measured then. */
const lookMillis = 5_000
const mostLooks = 24
const restingShare = 0.1

const policy = { revision: 1, require_login: false, sign_in: null, share_epoch: 0, access: null, options: {} }
const admission = { status: "gelb", may_issue_now: false, assigned_ca: null, claim_deadline: null }

/** In the place of a control plane: every tunnel has the same policy, and waits for its certificate. */
const controlPlane = async () => {
  const server = createServer((request, response) => {
    const path = request.url ?? ""
    const found = path.startsWith("/agent/policy") ? policy : path.includes("acme-admission") ? admission : undefined
    response.writeHead(found === undefined ? 404 : 200, { "content-type": "application/json", etag: '"1"' })
    request.resume().on("end", () => response.end(JSON.stringify(found ?? {})))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, stop: () => (server.closeAllConnections(), void server.close()) }
}

/** Names of the tunnels, with what an enrolled agent has of them in its state folder. */
const enrolled = async (relay: Relay, folder: string, count: number) => {
  const services: Record<string, object> = {}
  const tokens: Array<string> = []
  for (let made = 0; made < count; made++) {
    const name = `s${made}`
    const { host, token } = await relay.tunnel(name, "gelb")
    const state = join(folder, "services", name)
    mkdirSync(state, { recursive: true, mode: 0o700 })
    for (const [file, content] of [
      ["identity.key", randomBytes(32)],
      ["agent", "bench"],
      ["tenant", "bench"]
    ] as const)
      writeFileSync(join(state, file), content, { mode: 0o600 })
    tokens.push(token)
    services[name] = { to: relay.origin.said.plain, host, token }
  }
  return { services, tokens }
}

/** The running agent of one edge with so many services; `measure` is called once all are registered. */
export const withServices = async <A>(
  program: string,
  count: number,
  measure: (pid: number, startMillis: number, relay: Relay) => Promise<A>,
  env: Readonly<Record<string, string>> = {}
): Promise<A> => {
  const plane = await controlPlane()
  const relay = await Relay.make()
  try {
    const state = join(relay.folder, "state")
    const { services, tokens } = await enrolled(relay, state, count)
    const file = join(relay.folder, "ct-agent.yaml")
    writeFileSync(file, JSON.stringify({ control_plane: plane.url, state_dir: state, services }))
    const from = performance.now()
    const agent = new Spawned([program, "--config", file], {
      CT_AGENT_EDGE: `127.0.0.1:${relay.ports.mesh}`,
      CT_AGENT_EDGE_CERT: join(relay.folder, "edge-cert.der"),
      ...env
    })
    try {
      const patience = performance.now() + 120_000
      for (const token of tokens)
        while (!(await relay.connected(token))) {
          if (performance.now() > patience) throw new Error("not all services were registered")
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      return await measure(agent.child.pid ?? -1, performance.now() - from, relay)
    } finally {
      await agent.stop("SIGKILL")
    }
  } finally {
    await relay.dispose()
    plane.stop()
  }
}

/** The share of a core that it uses at rest, or after so many looks. */
const atRest = async (pid: number): Promise<number> => {
  let busy = 1
  for (let look = 0; look < mostLooks && busy > restingShare; look++) {
    const from = secondsOf(pid)
    await new Promise((resolve) => setTimeout(resolve, lookMillis))
    busy = ((secondsOf(pid) - from) * 1_000) / lookMillis
  }
  // What rests may only now give memory back.
  await new Promise((resolve) => setTimeout(resolve, 2 * lookMillis))
  return busy
}

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const { dispose, folder } = published()
  try {
    const result: Array<Row> = []
    for (const count of counts)
      await withServices(join(folder, "ct-agent", "ct-agent.js"), count, async (pid, startMillis) => {
        const busy = await atRest(pid)
        const note = `start ${(startMillis / 1_000).toFixed(1)} s, at rest ${(busy * 100).toFixed(1)} % of a core`
        result.push({ name: `services in one agent: ${count}`, value: residentMegabytes(pid), unit: "MiB", note })
      })
    return result
  } finally {
    dispose()
  }
}
