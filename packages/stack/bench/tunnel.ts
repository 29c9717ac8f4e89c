/** Through the tunnel against straight to the origin, in turns within one run. */
import { mintPair } from "@catenet/testing/edge/TestEdge"
import { eventually } from "@catenet/testing/Eventually"
import { httpOrigin } from "@catenet/testing/stack/e2e/Origins"
import { agent as startAgent, type Stack } from "@catenet/testing/stack/e2e/Stack"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { connected, provision, serve } from "../test/e2e/Tunnel.ts"
import { inTurns } from "./InTurns.ts"
import * as Load from "./Load.ts"
import { percentile, type Row } from "./Report.ts"

const seconds = 2

/** Routes to two origins against one origin, as two services of one agent that differ in nothing else. */
const routes = async (stack: Stack, port: number): Promise<ReadonlyArray<Row>> => {
  const names = ["single", "routed"] as const
  const at = (name: string) => join(stack.folder, name)
  const pair = mintPair(names.map((name) => `${name}.catenet.localhost`))
  writeFileSync(at("routes.pem"), pair.cert)
  writeFileSync(at("routes.key"), pair.key)
  const to = `http://127.0.0.1:${port}`
  const ways = {
    single: { to },
    routed: { routes: [{ path: "/api/*", strip_prefix: "/api", to }, { path: "/admin", to }, { to: [to, to] }] }
  }
  const services: Record<string, object> = {}
  const aims: Array<Load.Aim> = []
  const tokens: Array<string> = []
  for (const name of names) {
    const { hostname, token, variables } = await provision(stack, `${name}.catenet.localhost`, port)
    const tls = { tls_certificate: at("routes.pem"), tls_key: at("routes.key") }
    services[name] = { ...ways[name], host: hostname, token, join_token: variables["CT_AGENT_JOIN_TOKEN"], ...tls }
    aims.push({ port: stack.ports.frontDoor, servername: hostname, ca: stack.root })
    tokens.push(token)
  }
  const file = at("routes.json")
  writeFileSync(file, JSON.stringify({ control_plane: stack.url(""), state_dir: at("routes-state"), services }))
  const agent = startAgent(["--config", file], { CT_AGENT_EDGE_CERT: at("routes-edge-cert.der") })
  const [single, routed] = aims
  if (single === undefined || routed === undefined) throw new Error("two services")
  for (const token of tokens) await eventually(() => connected(stack, token), "the agent's registration", 120_000)
  for (const aim of aims) await Load.requests(aim, 16, 1000)
  const result: Array<Row> = []
  for (const inFlight of [1, 64]) {
    const measure = (aim: Load.Aim) => async () => (await Load.requests(aim, inFlight, seconds * 1000)).perSecond
    const { first, ratio } = await inTurns(measure(routed), measure(single))
    result.push({ name: `HTTP routes, ${inFlight} in flight`, value: first, unit: "/s", ratio, against: "one origin" })
  }
  await agent.stop()
  return result
}

export const rows = async (stack: Stack): Promise<ReadonlyArray<Row>> => {
  const origin = await httpOrigin()
  const tunnel = await provision(stack, "bench.catenet.localhost", origin.port)
  const agent = await serve(stack, tunnel)
  const through: Load.Aim = { port: stack.ports.frontDoor, servername: tunnel.hostname, ca: stack.root }
  const straight: Load.Aim = { port: origin.port }
  await Load.requests(through, 16, 1000)

  const result: Array<Row> = []
  for (const inFlight of [1, 64]) {
    const seen: { through: Array<number>; straight: Array<number> } = { through: [], straight: [] }
    const measure = (aim: Load.Aim, latencies: Array<number>) => async () => {
      const rate = await Load.requests(aim, inFlight, seconds * 1000)
      latencies.push(...rate.latencies)
      return rate.perSecond
    }
    const { first, ratio } = await inTurns(measure(through, seen.through), measure(straight, seen.straight))
    const against = "straight to the origin"
    result.push({ name: `requests, ${inFlight} in flight`, value: first, unit: "/s", ratio, against })
    for (const share of [0.5, 0.99]) {
      const value = percentile(seen.through, share)
      const name = `  p${share * 100}`
      result.push({ name, value, unit: "ms", ratio: value / percentile(seen.straight, share), against })
    }
  }
  for (const connections of [1, 16]) {
    const size = Math.ceil(256 / connections)
    const { first, ratio } = await inTurns(
      () => Load.megabytesPerSecond(through, connections, size),
      () => Load.megabytesPerSecond(straight, connections, size)
    )
    const name = `download on ${connections} connection${connections === 1 ? "" : "s"}`
    result.push({ name, value: first, unit: "MB/s", ratio, against: "straight to the origin" })
  }
  const fresh = await inTurns(
    () => Load.connectionsPerSecond(through, 32, seconds * 1000),
    () => Load.connectionsPerSecond(straight, 32, seconds * 1000)
  )
  result.push({
    name: "new connections (TLS at the edge)",
    value: fresh.first,
    unit: "/s",
    ratio: fresh.ratio,
    against: "straight TCP to the origin"
  })
  await agent.stop()
  result.push(...(await routes(stack, origin.port)))
  await origin.close()
  return result
}
