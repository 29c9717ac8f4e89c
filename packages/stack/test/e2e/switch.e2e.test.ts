import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { eventually } from "../../../domain/test/Eventually.ts"
import { order, shown, tunnel } from "./OrderingAgent.ts"
import { httpOrigin } from "./Origins.ts"
import { Stack } from "./Stack.ts"
import { ask } from "./Visitor.ts"

let stack: Stack

describe("the switch from gelb to gruen", () => {
  beforeAll(async () => {
    stack = await Stack.make()
    await stack.up(["--no-demo"])
  })
  afterAll(() => stack.dispose())

  it.concurrent("loses no visitor of a tunnel with two agents, and both get a certificate", async () => {
    const origin = await httpOrigin()
    const shared = await tunnel(stack, "pair.localhost", origin)
    const agents = [await order(stack, shared, "one"), await order(stack, shared, "two")]
    const done = new AbortController()
    const answers = new Map<string, number>()
    const visitor = async () => {
      while (!done.signal.aborted) {
        const said = await ask(shared.target).then(
          ({ status }) => String(status),
          (error: Error) => error.message
        )
        answers.set(said, (answers.get(said) ?? 0) + 1)
      }
    }
    const visitors = [visitor(), visitor(), visitor(), visitor()]
    const all = () => [...answers.values()].reduce((sum, count) => sum + count, 0)
    await eventually(() => agents.every(({ certificate }) => certificate() !== undefined), "both have a certificate")
    const own = new Set(agents.map(({ certificate }) => certificate()?.fingerprint256))
    await eventually(async () => own.has((await shown(shared))?.fingerprint256), "one of them is shown")
    const before = all()
    await eventually(() => all() > before + 50, "visitors go on")
    done.abort()
    await Promise.all(visitors)
    assert.deepStrictEqual([...answers.keys()], ["200"], JSON.stringify([...answers]))
    assert.strictEqual(own.size, 2)
    const orders = agents.map(({ process }) => process.stderr + process.stdout)
    for (const log of orders) assert.notInclude(log, "dns-01")
    for (const { process } of agents) await process.stop()
    await origin.close()
  })
})
