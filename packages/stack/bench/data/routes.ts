/** A service with routes, and one that is inspected, beside the same service with one origin, in turns, in both tiers. */
import { eventually } from "@catenet/testing/Eventually"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Row } from "../Report.ts"
import { Relay, type Tier } from "./Relay.ts"
import { asking, inTurns, type Way } from "./terminate.ts"

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const relay = await Relay.make()
  try {
    const to = `http://127.0.0.1:${relay.origin.said.plain}`
    const way = async (name: string, tier: Tier, service: object, flags: ReadonlyArray<string> = []): Promise<Way> => {
      const id = `${tier}-${name.replaceAll(" ", "-")}`
      const { aim, host, token } = await relay.tunnel(id, tier)
      const file = join(relay.folder, `${id}.json`)
      const pair = tier === "gruen" ? { tls_certificate: relay.certFile, tls_key: relay.keyFile } : {}
      const services = { only: { host, token, ...pair, ...service } }
      const state_dir = join(relay.folder, id)
      writeFileSync(file, JSON.stringify({ control_plane: "http://127.0.0.1:1", state_dir, services }), { mode: 0o600 })
      const { child } = relay.run(["--config", file, ...flags], {
        CT_AGENT_EDGE: `127.0.0.1:${relay.ports.mesh}`,
        CT_AGENT_EDGE_CERT: join(relay.folder, "edge-cert.der")
      })
      await eventually(() => relay.connected(token), `the registration of ${host}`, 30_000)
      return { name, aim, pid: child.pid ?? -1 }
    }
    const result: Array<Row> = []
    for (const tier of ["gelb", "gruen"] as const) {
      const ways = [
        await way("one origin", tier, { to }),
        await way("routes", tier, { routes: [{ path: "/elsewhere/*", to: "http://127.0.0.1:1" }, { to }] }),
        await way("inspected", tier, { to }, ["--inspect"])
      ]
      result.push(...(await inTurns(ways, `${tier}, requests on 64 connections`, asking)))
    }
    return result
  } finally {
    await relay.dispose()
  }
}
