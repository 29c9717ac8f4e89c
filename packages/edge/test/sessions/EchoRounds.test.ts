import type { Sight } from "@catenet/domain/tunnels/Reachability"
import type { OriginEcho } from "@catenet/wire/frames/MuxEcho"
import { Mux } from "@catenet/wire/transport/Mux"
import { assert, describe, it } from "@effect/vitest"
import { duplexPair } from "node:stream"
import { type MuxAgent, AgentPool } from "../../src/sessions/AgentPool.ts"
import { EchoRounds } from "../../src/sessions/EchoRounds.ts"

const up: OriginEcho = { verdict: "up", millis: 1, origin: "127.0.0.1:1", keyExchange: "x25519mlkem768" }
const refused: OriginEcho = { verdict: "refused", millis: 1, origin: "127.0.0.1:1" }
const isUp: Sight = { _tag: "Echoed", origin: "127.0.0.1:1", key_exchange: "x25519mlkem768" }
const isDown: Sight = { _tag: "OriginSilent", origin: "127.0.0.1:1", fault: "refused", http_status: null }

/** An agent whose answers the test gives, and how often it was asked. */
const makeAgent = (id: number, more: Partial<MuxAgent> = {}) => {
  const asked: Array<(echo: OriginEcho | undefined) => void> = []
  const session = new Mux(duplexPair()[0], { side: "dialler", keepAlive: false })
  const agent: MuxAgent = {
    id,
    session: Object.assign(session, {
      echo: () => new Promise<OriginEcho | undefined>((answer) => void asked.push(answer))
    }),
    hosts: new Set(["a.test"]),
    key: undefined,
    owner: true,
    instance: undefined,
    answersChallenges: false,
    certificates: new Map(),
    answersEchoes: true,
    end: () => undefined,
    ...more
  }
  const answer = async (echo: OriginEcho | undefined) => {
    asked.at(-1)?.(echo)
    await Promise.resolve()
    await Promise.resolve()
  }
  return { agent, asked, answer }
}

const stage = (...agents: ReadonlyArray<MuxAgent>) => {
  const clock = { now: 1_000_000 }
  const found: Array<Sight> = []
  const counted: Array<string> = []
  const tunnel = new AgentPool("ab".repeat(32))
  for (const agent of agents) tunnel.addMux(agent)
  const rounds = new EchoRounds({
    now: () => clock.now,
    guarded: (act) => act,
    answered: (verdict) => counted.push(verdict),
    found: (_tunnel, sight) => found.push(sight)
  })
  const pass = (millis: number) => {
    clock.now += millis
    rounds.sweep([tunnel])
  }
  return { counted, found, pass, rounds, tunnel }
}

describe("the rounds of echoes", () => {
  it("ask at once, then a period later, and one at a time", async () => {
    const one = makeAgent(1)
    const { found, pass, rounds, tunnel } = stage(one.agent)
    rounds.begin(tunnel)
    rounds.begin(tunnel)
    pass(500)
    assert.strictEqual(one.asked.length, 1)
    await one.answer(up)
    assert.deepStrictEqual(found, [isUp])
    pass(11_999)
    assert.strictEqual(one.asked.length, 1)
    pass(6_001)
    assert.strictEqual(one.asked.length, 2)
  })

  it("ask sooner while the origin is down, and sooner still while somebody looks", async () => {
    const one = makeAgent(1)
    const { found, pass, rounds, tunnel } = stage(one.agent)
    rounds.begin(tunnel)
    await one.answer(refused)
    assert.deepStrictEqual(found, [isDown])
    pass(3_999)
    assert.strictEqual(one.asked.length, 1)
    pass(2_001)
    assert.strictEqual(one.asked.length, 2)
    await one.answer(up)
    pass(2_999)
    rounds.watch(tunnel)
    assert.strictEqual(one.asked.length, 2)
    pass(1)
    assert.strictEqual(one.asked.length, 3)
    await one.answer(up)
    pass(3_600)
    assert.strictEqual(one.asked.length, 4)
    await one.answer(up)
    pass(3_600)
    await one.answer(up)
    pass(4_000)
    assert.strictEqual(one.asked.length, 6)
    // The last look was ten seconds ago and more.
    await one.answer(up)
    pass(11_999)
    assert.strictEqual(one.asked.length, 6)
    pass(6_001)
    assert.strictEqual(one.asked.length, 7)
  })

  it("call an agent silent that does not answer for eight seconds, and take no answer after that", async () => {
    const one = makeAgent(1)
    const { counted, found, pass, rounds, tunnel } = stage(one.agent)
    rounds.begin(tunnel)
    pass(7_999)
    assert.deepStrictEqual(found, [])
    pass(1)
    assert.deepStrictEqual(found, [{ _tag: "AgentSilent" }])
    assert.deepStrictEqual(counted, ["silence"])
    await one.answer(up)
    assert.strictEqual(found.length, 1)
  })

  it("ask the next agent when one has no origin, each running agent once", async () => {
    const [first, second, third] = [makeAgent(1), makeAgent(2, { owner: false }), makeAgent(3, { owner: false })]
    const twin = makeAgent(4, { instance: "aa", sibling: "mux" })
    const { found, rounds, tunnel } = stage({ ...twin.agent }, third.agent, second.agent, {
      ...first.agent,
      instance: "aa"
    })
    rounds.begin(tunnel)
    assert.deepStrictEqual(
      [first, second, third, twin].map(({ asked }) => asked.length),
      [1, 0, 0, 0]
    )
    await first.answer(refused)
    await third.answer(undefined)
    assert.deepStrictEqual(
      [first, second, third, twin].map(({ asked }) => asked.length),
      [1, 1, 1, 0]
    )
    await second.answer(refused)
    assert.deepStrictEqual(found, [isDown])
  })

  it("do not ask agents of before, and know no more than that they are connected", async () => {
    const old = makeAgent(1, { answersEchoes: false })
    const { found, rounds, tunnel } = stage(old.agent)
    rounds.begin(tunnel)
    assert.deepStrictEqual(found, [{ _tag: "Connected" }])
    const fresh = makeAgent(2)
    tunnel.addMux(fresh.agent)
    rounds.begin(tunnel)
    await fresh.answer(refused)
    assert.deepStrictEqual([old.asked.length, found.at(-1)], [0, { _tag: "Connected" }])
  })

  it("begin anew without an agent that has withdrawn, and forget the round of a tunnel that is gone", async () => {
    const [leaving, staying] = [makeAgent(1), makeAgent(2, { owner: false })]
    const { found, pass, rounds, tunnel } = stage(leaving.agent, staying.agent)
    rounds.begin(tunnel)
    tunnel.muxes.delete(leaving.agent)
    pass(500)
    assert.strictEqual(staying.asked.length, 1)
    rounds.end(tunnel)
    await staying.answer(up)
    assert.deepStrictEqual(found, [])
  })

  it("begin five hundred in a sweep, so that a storm is asked in turn", () => {
    const clock = { now: 0 }
    const rounds = new EchoRounds({
      now: () => clock.now,
      guarded: (act) => act,
      answered: () => undefined,
      found: () => undefined
    })
    const { agent, asked } = makeAgent(1)
    const tunnels = Array.from({ length: 1201 }, (_, n) => new AgentPool(n.toString(16).padStart(64, "0")))
    for (const tunnel of tunnels) {
      tunnel.addMux(agent)
      rounds.begin(tunnel)
    }
    assert.strictEqual(asked.length, 500)
    rounds.sweep(tunnels)
    assert.strictEqual(asked.length, 1000)
    rounds.sweep(tunnels)
    assert.strictEqual(asked.length, 1201)
  })
})
