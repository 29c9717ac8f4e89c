/** A `ct-agent` process that serves a tunnel of an edge in this process. */
import { Effect } from "effect"
import { join } from "node:path"
import { temporaryFolder, type TestEdge } from "../../edge/TestEdge.ts"
import { agent, type Spawned } from "../e2e/Stack.ts"

export interface Serving {
  readonly stateDir: string
  readonly capability: string
  readonly process: Spawned
}

/**
 * Starts the agent and waits until the edge knows it; without a host it is a mesh agent. Its variables hold everything that it
 * would ask a control plane for. The origin is a port without a listener, unless `more` names one.
 */
export const serving = Effect.fn("serving")(function* (
  world: TestEdge,
  token: string,
  host: string | undefined,
  more: Readonly<Record<string, string>> = {}
) {
  const folder = yield* temporaryFolder
  const stateDir = join(folder, "state")
  const capability = join(folder, "capability.bin")
  const process = yield* Effect.acquireRelease(
    Effect.sync(() =>
      agent([], {
        CT_AGENT_CP_URL: "http://127.0.0.1:1",
        CT_AGENT_TOKEN: token,
        CT_AGENT_EDGE: `127.0.0.1:${world.mesh}`,
        CT_AGENT_EDGE_CERT: join(world.folder, "edge-cert.der"),
        CT_AGENT_STATE_DIR: stateDir,
        CT_AGENT_CAPABILITY_OUT: capability,
        CT_AGENT_ORIGIN: "127.0.0.1:1",
        CT_AGENT_RECONNECT_BASE_MS: "100",
        ...(host === undefined ? {} : { CT_AGENT_MODE: "browser", CT_AGENT_HOSTNAME: host }),
        ...more
      })
    ),
    (started) => Effect.promise(() => started.stop("SIGKILL"))
  )
  yield* Effect.promise(() => process.printed("event: registered"))
  const serving: Serving = { stateDir, capability, process }
  return serving
})
