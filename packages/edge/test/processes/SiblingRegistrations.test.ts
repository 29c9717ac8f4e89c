import { eventually, token } from "@catenet/testing/edge/TestEdge"
import type { CertificateState } from "@catenet/wire/frames/MuxCertificate"
import { Mux } from "@catenet/wire/transport/Mux"
import type { InboundRegistration } from "@catenet/wire/transport/Registrations"
import { assert, describe, it } from "@effect/vitest"
import { duplexPair } from "node:stream"
import { SiblingRegistrations } from "../../src/processes/SiblingRegistrations.ts"
import type { MuxAgent } from "../../src/sessions/AgentPool.ts"

const T = token("c")

/** A presence and what the sibling at the other end of it has heard. */
const pair = () => {
  const [here, there] = duplexPair()
  const heard = new Map<number, string>()
  const refusing = new Set<string>()
  const said = new Map<number, InboundRegistration["certificates"]>()
  const acceptor = new Mux(there, {
    side: "acceptor",
    challenge: Buffer.alloc(32, 1),
    onRegister: ({ accept, certificates, id, refuse, request, withdrawn }) => {
      if (refusing.has(request.hosts.join())) return refuse({ code: "host-not-authorized", sentence: "" })
      heard.set(id, `${request.agentId} ${request.hosts.join()}`)
      said.set(id, certificates)
      accept({ sessionId: "", keepAliveMillis: 1_000, maxStreams: 1 })
      void withdrawn.then(() => heard.delete(id))
    }
  })
  const session = new Mux(here, { side: "dialler" })
  const agent = (owner: boolean, ...hosts: ReadonlyArray<string>): MuxAgent => ({
    id: 1,
    session,
    hosts: new Set(hosts),
    key: undefined,
    owner,
    instance: undefined,
    answersChallenges: false,
    certificates: new Map(),
    answersEchoes: false,
    end: () => undefined
  })
  const close = () => {
    session.close("normal")
    acceptor.close("normal")
  }
  const hears = (...what: ReadonlyArray<string>) =>
    eventually(
      () => JSON.stringify([...heard.values()].sort()) === JSON.stringify([...what].sort()),
      () => `heard ${[...heard.values()].join("; ")} instead of ${what.join("; ")}`
    )
  return { agent, close, heard, hears, refusing, said, registrations: new SiblingRegistrations(session) }
}

describe("the agents that a process registers at a sibling", () => {
  it("are its multiplexed ones, each with its rank, until it leaves", async () => {
    const { agent, close, heard, hears, registrations } = pair()
    const [owner, standby, mesh] = [agent(true, "a.test", "b.test"), agent(false, "a.test"), agent(false)]
    for (const each of [owner, standby, mesh]) registrations.joined(T, each)
    await hears("owner a.test,b.test", "standby a.test", "standby ")
    const [id = -1] = heard.keys()
    await eventually(() => registrations.tokenOf(id) === T, "the answer has arrived")
    registrations.left(owner)
    await hears("standby a.test", "standby ")
    assert.isUndefined(registrations.tokenOf(id))
    close()
  })

  it("say there what they say here of their certificates, for as many hosts as they have", async () => {
    const { agent, close, hears, registrations, said } = pair()
    const name = (i: number) => `${`${i}`.padEnd(60, "x")}.${"y".repeat(63)}.${"z".repeat(63)}.${"w".repeat(60)}`
    const hosts = Array.from({ length: 32 }, (_, i) => name(i))
    const certificates = new Map<string, CertificateState>()
    for (const host of hosts) certificates.set(host, { certificate: "none", order: "none" })
    const one = { ...agent(true, ...hosts), certificates }
    registrations.joined(T, one)
    await hears(`owner ${hosts.join()}`)
    const [heard] = said.values()
    await eventually(() => JSON.stringify([...(heard ?? [])]) === JSON.stringify([...certificates]), "all were heard")
    certificates.set(name(31), { certificate: "held", order: "none" })
    registrations.changed(one)
    await eventually(() => heard?.get(name(31))?.certificate === "held", "the change was heard")
    close()
  })

  it("are registered again after a refusal, for as long as the agent is connected", async () => {
    const { agent, close, heard, hears, registrations, refusing } = pair()
    refusing.add("a.test")
    const [stays, leaves] = [agent(true, "a.test"), agent(false, "a.test")]
    for (const each of [stays, leaves, agent(true, "b.test")]) registrations.joined(T, each)
    await hears("owner b.test")
    registrations.left(leaves)
    refusing.clear()
    await eventually(
      () => {
        registrations.retryRefused()
        return heard.size === 2
      },
      () => `heard ${[...heard.values()].join("; ")}`
    )
    await hears("owner a.test", "owner b.test")
    registrations.left(stays)
    await hears("owner b.test")
    close()
  })

  it("are one registration for any number of slots of a host", async () => {
    const { close, hears, registrations } = pair()
    for (const parked of [1, 2, 3]) registrations.slots(T, "a.test", parked)
    registrations.slots(T, undefined, 1)
    await hears("slots a.test", "slots ")
    registrations.slots(T, "a.test", 0)
    await hears("slots ")
    close()
  })

  it("are withdrawn also before the sibling has answered", async () => {
    const { agent, close, hears, registrations } = pair()
    const [brief, lasting] = [agent(true, "brief.test"), agent(true, "lasting.test")]
    registrations.joined(T, brief)
    registrations.left(brief)
    registrations.joined(T, lasting)
    await hears("owner lasting.test")
    close()
  })
})
