import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { WebSocketServer } from "ws"
import { eventually } from "../../../domain/test/Eventually.ts"
import { order, shown, tunnel } from "./OrderingAgent.ts"
import { httpOrigin } from "./Origins.ts"
import { Stack } from "./Stack.ts"
import { goOn, visitors } from "./SwitchVisitors.ts"
import { ask } from "./Visitor.ts"

/** Visitors a second, and for how long they come behind the switch; a campaign sets both. */
const rate = Number(process.env["CATENET_SWITCH_RATE"] ?? 40)
const seconds = Number(process.env["CATENET_SWITCH_SECONDS"] ?? 1)

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

  it.concurrent(
    `finishes or serves each of ${rate} visitors a second over HTTP/1.1, HTTP/2 and WebSocket`,
    async () => {
      const origin = await httpOrigin()
      const sockets = new WebSocketServer({ server: origin.server })
      sockets.on("connection", (client) =>
        client.on("message", (data, isBinary) => client.send(data, { binary: isBinary }))
      )
      const named = await tunnel(stack, "switch.localhost", origin)
      const agent = await order(stack, named, "one")
      const done = new AbortController()
      const seen = visitors(named.target, rate, done.signal)
      await eventually(
        async () => {
          const own = agent.certificate()?.fingerprint256
          return own !== undefined && (await shown(named))?.fingerprint256 === own
        },
        () => `the certificate of the agent is shown: ${agent.process.stderr}`
      )
      await goOn(seconds)
      done.abort()
      const { answers, certificates, rate: came, stayed } = await seen
      const own = agent.certificate()?.fingerprint256 ?? ""
      const figures = JSON.stringify([[...answers], [...certificates], Math.round(came), stayed])
      process.stderr.write(`visitors over the switch: ${figures}\n`)
      assert.deepStrictEqual([...answers.keys()].sort(), ["http1 200", "http2 200", "websocket 200"], figures)
      assert.strictEqual(certificates.size, 2, figures)
      for (const shownTo of certificates.values()) assert.isAbove(shownTo, 0)
      assert.isTrue(certificates.has(own))
      assert.isAbove(stayed, 0)
      await agent.process.stop()
      sockets.close()
      await origin.close()
    }
  )
})
