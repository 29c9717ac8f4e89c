/** `npm run bench [group ...]`: prints ratios, each from one interleaved run. Never fails on a time. */
import { Stack } from "@catenet/testing/stack/e2e/Stack"
import { print, type Row } from "./Report.ts"

type Group = () => Promise<ReadonlyArray<Row>>

const onStack =
  (measure: (stack: Stack) => Promise<ReadonlyArray<Row>>): Group =>
  async () => {
    const stack = await Stack.make()
    try {
      await stack.up(["--no-demo"])
      return await measure(stack)
    } finally {
      await stack.dispose()
    }
  }

/** Run only when asked for by name. */
const long = new Set([
  "soak",
  "rest",
  "services",
  "api",
  "scale",
  "portal",
  "peers",
  "drain",
  "terminate",
  "routes",
  "mcp"
])

const groups: Readonly<Record<string, { readonly title: string; readonly run: Group }>> = {
  start: { title: "Cold start", run: async () => (await import("./coldStart.ts")).rows() },
  bundles: { title: "Programs as one file", run: async () => (await import("./bundles.ts")).rows() },
  rest: { title: "Published programs at rest", run: async () => (await import("./rest.ts")).rows() },
  services: { title: "Many services in one published agent", run: async () => (await import("./services.ts")).rows() },
  tunnel: { title: "Through the tunnel", run: onStack(async (stack) => (await import("./tunnel.ts")).rows(stack)) },
  carriers: { title: "Through each carrier", run: async () => (await import("./data/carriers.ts")).rows() },
  mesh: { title: "Through the mesh plane (Noise)", run: async () => (await import("./data/mesh.ts")).rows() },
  ports: { title: "Through public ports", run: async () => (await import("./data/ports.ts")).rows() },
  routes: { title: "Through routes and the inspector", run: async () => (await import("./data/routes.ts")).rows() },
  channels: { title: "Channels", run: async () => (await import("./data/channels.ts")).rows() },
  mcp: { title: "Calls of MCP tools", run: async () => (await import("./mcp.ts")).rows() },
  ladder: { title: "At a constant rate", run: async () => (await import("./data/ladder.ts")).rows() },
  processor: { title: "Processor time of relaying", run: async () => (await import("./data/processor.ts")).rows() },
  terminate: { title: "TLS that ends at the agent", run: async () => (await import("./data/terminate.ts")).rows() },
  processes: {
    title: "An edge of one process and of two",
    run: async () => (await import("./data/processes.ts")).rows()
  },
  compared: {
    title: "Beside programs that people use today",
    run: onStack(async (stack) => (await import("./compared.ts")).rows(stack))
  },
  peers: {
    title: "Beside other makers' tunnels, in turns",
    run: async () => (await import("./peers/rows.ts")).rows()
  },
  idle: { title: "Idle agents and visitors", run: async () => (await import("./data/idle.ts")).rows() },
  members: { title: "Members of channels", run: async () => (await import("./data/members.ts")).rows() },
  joins: { title: "Joins while strangers flood", run: async () => (await import("./data/joinFloods.ts")).rows() },
  status: { title: "Control plane", run: onStack(async (stack) => (await import("./status.ts")).rows(stack)) },
  api: { title: "Control plane beside a bare server", run: async () => (await import("./api/rows.ts")).rows() },
  scale: { title: "Control plane on a full database", run: async () => (await import("./scale/rows.ts")).rows() },
  portal: { title: "Pages of a large account", run: async () => (await import("./portal/rows.ts")).rows() },
  drain: { title: "Stops under a thousand busy clients", run: async () => (await import("./drain.ts")).rows() },
  soak: {
    title: "Thirty minutes of mixed visitors",
    run: onStack(async (stack) => (await import("./soak.ts")).rows(stack))
  },
  floods: {
    title: "One tunnel while another is flooded",
    run: onStack(async (stack) => (await import("./floods.ts")).rows(stack))
  },
  wire: { title: "Carriers", run: async () => (await import("../../wire/bench/rows.ts")).rows() },
  crypto: { title: "Signing and sealing", run: async () => (await import("../../crypto/bench/rows.ts")).rows() }
}

const wanted = process.argv.slice(2)
if (wanted.includes("--help")) {
  const lines = Object.entries(groups).map(
    ([name, { title }]) => `  ${name.padEnd(12)}${title}${long.has(name) ? " (only when named)" : ""}\n`
  )
  process.stdout.write(`npm run bench -- [name ...]\n\n${lines.join("")}`)
  process.exit(0)
}
const unknown = wanted.filter((name) => !Object.hasOwn(groups, name))
if (unknown.length > 0) {
  process.stderr.write(`There is no benchmark ${unknown.join(", ")}. There are: ${Object.keys(groups).join(", ")}.\n`)
  process.exit(2)
}
for (const [name, { run, title }] of Object.entries(groups)) {
  if (wanted.length === 0 ? long.has(name) : !wanted.includes(name)) continue
  try {
    print(title, await run())
  } catch (error) {
    process.exitCode = 1
    process.stderr.write(
      `\n${title}: FAILED\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`
    )
  }
}
