/** One platform that is given bad input, and whose programs are killed after that. */
import { eventually } from "@catenet/testing/Eventually"
import { onThisMachine } from "@catenet/testing/Promptness"
import { Stack } from "@catenet/testing/stack/e2e/Stack"
import { ask, serves, type Target } from "@catenet/testing/stack/e2e/Visitor"
import { readdirSync, readFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { badInput } from "./BadInput.ts"
import { killEdge } from "./Outage.ts"

const programs = ["agent", "edge", "control-plane", "postgres"] as const
const recoverWithin = 15_000

let stack: Stack
const hello = (): Target => ({ host: "hello.localhost", port: stack.ports.frontDoor, ca: stack.root })

/** Zombies among the descendants of a process, from the kernel. */
const zombiesBelow = (ancestor: number): ReadonlyArray<number> => {
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "utf8")
        const [state = "", parent = "0"] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
        return [{ pid: Number(name), state, parent: Number(parent) }]
      } catch {
        return []
      }
    })
  const below = new Set([ancestor])
  for (let grown = true; grown;) {
    grown = false
    for (const { parent, pid } of processes)
      if (below.has(parent) && !below.has(pid)) {
        below.add(pid)
        grown = true
      }
  }
  return processes.filter(({ pid, state }) => below.has(pid) && state === "Z").map(({ pid }) => pid)
}

beforeAll(async () => {
  stack = await Stack.make()
  await stack.up()
})
afterAll(() => stack.dispose())

badInput(() => stack)

describe("kill -9 under light traffic", () => {
  let traffic = { stop: () => {}, done: Promise.resolve() }
  let agents: unknown

  beforeAll(async () => {
    agents = (await stack.status())["agents"]
    const going = new AbortController()
    const visit = async () => {
      while (!going.signal.aborted) {
        await ask(hello(), { timeout: 2000 }).catch(() => {})
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
    traffic = { stop: () => going.abort(), done: visit() }
  })
  afterAll(async () => {
    traffic.stop()
    await traffic.done
  })

  for (const name of programs)
    it(`of the ${name} recovers within 15 s`, async () => {
      const old = stack.pid(name)
      process.kill(old, "SIGKILL")
      const from = performance.now()
      await eventually(() => stack.pid(name) !== old, `a new process of the ${name}`, recoverWithin)
      const left = recoverWithin - (performance.now() - from)
      await serves(hello(), left)
      assert.isBelow(performance.now() - from, onThisMachine(recoverWithin))
      // The control plane is back too, also when another program was killed.
      const isReady = () =>
        fetch(stack.url("/readyz"), { signal: AbortSignal.timeout(2000) }).then(
          ({ status }) => status === 200,
          () => false
        )
      await eventually(isReady, "the control plane is ready", recoverWithin)
      // Every process is one for the moment between its end and its parent's knowing of it.
      await eventually(async () => zombiesBelow(stack.running.child.pid ?? -1).length === 0, "the end of all zombies")
    })

  it("of the edge under load turns away no visitor who comes once its front door is open again", async () => {
    await serves(hello(), recoverWithin)
    const { closed, failed, longestWait, silent } = await killEdge(stack, hello())
    assert.deepStrictEqual(failed, [])
    assert.isBelow(silent - closed, onThisMachine(5_000), "the agent was away for longer")
    assert.isBelow(longestWait, recoverWithin)
  })

  it("redeemed no token twice", async () => {
    assert.strictEqual((await stack.status())["agents"], agents)
    assert.strictEqual((await ask(hello())).status, 200)
  })
})
