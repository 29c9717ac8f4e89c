import { EdgeSlot } from "@catenet/wire/transport/EdgeSlot"
import { Mux } from "@catenet/wire/transport/Mux"
import { assert, describe, it } from "@effect/vitest"
import { duplexPair } from "node:stream"
import { type AgentTarget, type MuxAgent, type SlotAgent, AgentPool } from "../../src/sessions/AgentPool.ts"

const here: AgentTarget = { _tag: "Host", host: "a.test" }
const elsewhere: AgentTarget = { _tag: "Host", host: "b.test" }
const slot = (host: string): SlotAgent => ({ slot: new EdgeSlot(duplexPair()[0], "B"), host })

const waiting = () => {
  const tunnel = new AgentPool("token")
  const called: Array<string> = []
  const wait = (name: string, target: AgentTarget) => tunnel.onArrival(target, () => void called.push(name))
  return { tunnel, called, wait }
}

describe("the order in which agents get visitors", () => {
  const agent = (owner: boolean, sibling?: "mux" | "slots"): MuxAgent => ({
    id: 1,
    session: new Mux(duplexPair()[0], { side: "dialler", keepAlive: false }),
    hosts: new Set(["a.test"]),
    key: undefined,
    owner,
    instance: undefined,
    answersChallenges: false,
    certificates: new Map(),
    answersEchoes: false,
    end: () => undefined,
    ...(sibling === undefined ? {} : { sibling })
  })

  it("is owners in any process, then agents of this process, then slots of other processes", () => {
    const tunnel = new AgentPool("token")
    const [slots, standbyThere, standbyHere] = [agent(false, "slots"), agent(false, "mux"), agent(false)]
    const [ownerThere, ownerHere] = [agent(true, "mux"), agent(true)]
    for (const each of [slots, standbyThere, standbyHere, ownerThere, ownerHere]) tunnel.addMux(each)
    assert.deepStrictEqual(tunnel.candidates(here), [ownerHere, ownerThere, standbyHere, standbyThere])
    assert.deepStrictEqual(tunnel.slotsElsewhere(here), [slots])
    assert.deepStrictEqual(tunnel.candidates(elsewhere), [])
    assert.strictEqual(tunnel.registrations, 4)
  })

  it("the first of the candidates is found without ordering them, whatever order they came in", () => {
    const agents = [agent(false, "slots"), agent(false, "mux"), agent(false), agent(true, "mux"), agent(true)]
    const ordering: MuxAgent = {
      ...agent(false),
      certificates: new Map([["a.test", { certificate: "none", order: "open" }]])
    }
    for (let from = 0; from < agents.length; from++) {
      const tunnel = new AgentPool("token")
      for (const each of [...agents.slice(from), ...agents.slice(0, from)]) tunnel.addMux(each)
      assert.strictEqual(tunnel.best(here), tunnel.candidates(here)[0])
      assert.strictEqual(tunnel.best(elsewhere), undefined)
      tunnel.addMux(ordering)
      const validation: AgentTarget = { _tag: "Host", host: "a.test", needs: "order" }
      assert.strictEqual(tunnel.best(validation), ordering)
      assert.strictEqual(tunnel.candidates(validation)[0], ordering)
    }
  })

  it("a full tunnel ends its oldest standby for a newcomer, and an owner only for an owner", () => {
    const tunnel = new AgentPool("token")
    const ended: Array<string> = []
    const add = (name: string, owner: boolean) => {
      const added: MuxAgent = {
        ...agent(owner),
        end: () => {
          ended.push(name)
          tunnel.muxes.delete(added)
        }
      }
      tunnel.addMux(added)
    }
    add("owner", true)
    assert.isTrue(tunnel.makeRoom(2, false))
    add("standby", false)
    assert.isTrue(tunnel.makeRoom(2, false))
    add("newer standby", false)
    assert.isTrue(tunnel.makeRoom(2, true))
    add("newer owner", true)
    assert.deepStrictEqual(ended, ["standby", "newer standby"])
    assert.isFalse(tunnel.makeRoom(2, false))
    assert.isTrue(tunnel.makeRoom(2, true))
    assert.deepStrictEqual(ended, ["standby", "newer standby", "owner"])
  })
})

describe("visitors who wait for an agent", () => {
  it("are woken one for each slot, the longest waiting first", () => {
    const { called, tunnel, wait } = waiting()
    for (const name of ["first", "second", "third"]) wait(name, here)
    tunnel.park(slot("a.test"))
    assert.deepStrictEqual(called, ["first"])
    tunnel.park(slot("a.test"))
    assert.deepStrictEqual(called, ["first", "second"])
  })

  it("are woken when an agent can serve what it could not", () => {
    const { called, tunnel, wait } = waiting()
    for (const name of ["first", "second"]) wait(name, here)
    tunnel.wakeAll()
    assert.deepStrictEqual(called, ["first", "second"])
  })

  it("are not woken for a slot of another host", () => {
    const { called, tunnel, wait } = waiting()
    wait("other", elsewhere)
    wait("mesh", { _tag: "Mesh" })
    wait("mine", here)
    tunnel.park(slot("a.test"))
    assert.deepStrictEqual(called, ["mine"])
  })

  it("leave the slot they were woken for to the next when they go", () => {
    const { called, tunnel, wait } = waiting()
    const leave = wait("first", here)
    wait("second", here)
    tunnel.park(slot("a.test"))
    leave()
    assert.deepStrictEqual(called, ["first", "second"])
  })

  it("wake no other visitor when they go after the slot was taken", () => {
    const { called, tunnel, wait } = waiting()
    const leave = wait("first", here)
    wait("second", here)
    tunnel.park(slot("a.test"))
    tunnel.takeSlot(here)
    leave()
    assert.deepStrictEqual(called, ["first"])
  })
})
