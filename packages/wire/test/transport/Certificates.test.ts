import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { Buffer } from "node:buffer"
import { duplexPair } from "node:stream"
import type { CertificateState, HostCertificate } from "../../src/frames/MuxCertificate.ts"
import { encodeMuxFrame } from "../../src/frames/MuxFrame.ts"
import type { InboundRegistration } from "../../src/transport/Registrations.ts"
import { sessions } from "./sessions.ts"

const none: HostCertificate = { host: "a.test", certificate: "none", order: "none" }
const ordering: HostCertificate = { host: "a.test", certificate: "none", order: "open" }
const held: HostCertificate = { host: "a.test", certificate: "held", order: "none" }

const registered = async (certificates?: ReadonlyArray<HostCertificate>) => {
  const pair = duplexPair()
  const heard: Array<ReadonlyArray<readonly [string, CertificateState]>> = []
  let inbound: InboundRegistration | undefined
  const both = await sessions(pair, {
    agent: {},
    edge: {
      onRegister: (registration) => {
        inbound = registration
        heard.push([...registration.certificates])
        registration.onCertificate(() => heard.push([...registration.certificates]))
        registration.accept({ sessionId: "s", keepAliveMillis: 8000, maxStreams: 1, heedsCertificates: true })
      }
    }
  })
  const request = {
    token: Buffer.alloc(32, 9),
    hosts: ["a.test", "b.test"],
    agentId: "agent-1",
    wishes: { proxyProtocol: false },
    ...(certificates && { certificates })
  }
  const registration = Result.getOrThrow(await both.agent.register(request))
  return { ...both, registration, heard, inbound: () => inbound, toEdge: pair[0] }
}
const stateOf = ({ host, ...state }: HostCertificate) => [host, state] as const

describe("what an edge says of the policy of a tunnel", () => {
  it("is heard by the registration that it is about while that holds, and by no other", async () => {
    const { agent, edge, inbound, registration, toEdge } = await registered()
    const heard: Array<bigint> = []
    registration.onPolicy((revision) => void heard.push(revision))
    inbound()?.announce(7n)
    await edge.ping()
    assert.deepStrictEqual(heard, [7n])
    toEdge.write(encodeMuxFrame({ _tag: "Policy", id: registration.id, revision: 8n }))
    assert.isDefined(await agent.ping(), "an edge that is told of one takes no harm")
    inbound()?.end({ code: "revoked", sentence: "" })
    inbound()?.announce(9n)
    assert.isDefined(await edge.ping())
    assert.deepStrictEqual(heard, [7n])
  })
})

describe("what an agent says of its certificates", () => {
  it("comes with the registration and with every change", async () => {
    const { agent, heard, registration } = await registered([none])
    assert.isTrue(registration.answer.heedsCertificates)
    for (const said of [ordering, held]) registration.report(said)
    await agent.ping()
    assert.deepStrictEqual(heard, [[stateOf(none)], [stateOf(ordering)], [stateOf(held)]])
  })

  it("is nothing of an agent of before", async () => {
    const { heard } = await registered()
    assert.deepStrictEqual(heard, [[]])
  })

  it("is heard for the hosts of the registration only", async () => {
    const { agent, heard, inbound, registration } = await registered([none, { ...held, host: "c.test" }])
    registration.report({ ...held, host: "c.test" })
    registration.report({ ...held, host: "b.test" })
    await agent.ping()
    const both = [stateOf(none), stateOf({ ...held, host: "b.test" })]
    assert.deepStrictEqual(heard, [[stateOf(none)], both])
    assert.deepStrictEqual([...(inbound()?.certificates ?? [])], both)
  })

  it("is not heard any more when the registration has ended, and does not end the session", async () => {
    const { agent, heard, inbound, registration, toEdge } = await registered([none])
    inbound()?.end({ code: "revoked", sentence: "" })
    toEdge.write(encodeMuxFrame({ _tag: "Certificate", id: registration.id, certificate: held }))
    assert.isDefined(await agent.ping())
    registration.report(held)
    assert.isDefined(await agent.ping())
    assert.deepStrictEqual(heard, [[stateOf(none)]])
  })

  it("ends the session when it is said of no registration", async () => {
    const { edge, registration, toEdge } = await registered()
    toEdge.write(encodeMuxFrame({ _tag: "Certificate", id: registration.id + 1, certificate: held }))
    assert.strictEqual((await edge.closed).code, "protocol")
  })
})
