/** `npm run bench [group ...]`: prints ratios, each from one interleaved run. Never fails on a time. */
import { Stack } from "../test/e2e/Stack.ts"
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
const long = new Set(["soak"])

const groups: Readonly<Record<string, { readonly title: string; readonly run: Group }>> = {
  start: { title: "Cold start", run: async () => (await import("./coldStart.ts")).rows() },
  bundles: { title: "Programs as one file", run: async () => (await import("./bundles.ts")).rows() },
  tunnel: { title: "Through the tunnel", run: onStack(async (stack) => (await import("./tunnel.ts")).rows(stack)) },
  compared: {
    title: "Beside programs that people use today",
    run: onStack(async (stack) => (await import("./compared.ts")).rows(stack))
  },
  agents: { title: "Idle agents", run: onStack(async (stack) => (await import("./idleAgents.ts")).rows(stack)) },
  status: { title: "Control plane", run: onStack(async (stack) => (await import("./status.ts")).rows(stack)) },
  soak: {
    title: "Thirty minutes of mixed visitors",
    run: onStack(async (stack) => (await import("./soak.ts")).rows(stack))
  },
  wire: { title: "Carriers", run: async () => (await import("../../wire/bench/rows.ts")).rows() },
  crypto: { title: "Signing and sealing", run: async () => (await import("../../crypto/bench/rows.ts")).rows() }
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !Object.hasOwn(groups, name))
if (unknown.length > 0) {
  process.stderr.write(`There is no benchmark ${unknown.join(", ")}. There are: ${Object.keys(groups).join(", ")}.\n`)
  process.exit(2)
}
for (const [name, { run, title }] of Object.entries(groups))
  if (wanted.length === 0 ? !long.has(name) : wanted.includes(name)) print(title, await run())
