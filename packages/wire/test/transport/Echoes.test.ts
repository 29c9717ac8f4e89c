import { eventually } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { Buffer } from "node:buffer"
import { duplexPair } from "node:stream"
import type { OriginEcho } from "../../src/frames/MuxEcho.ts"
import { encodeMuxFrame } from "../../src/frames/MuxFrame.ts"
import type { RegisterRequest } from "../../src/frames/MuxRegister.ts"
import type { MuxOptions } from "../../src/transport/MuxOptions.ts"
import { sessions } from "./sessions.ts"

const request: RegisterRequest = {
  token: Buffer.alloc(32, 9),
  hosts: ["demo.test"],
  agentId: "agent-1",
  wishes: { proxyProtocol: false }
}
const up: OriginEcho = { verdict: "up", millis: 3, origin: "127.0.0.1:8080" }
const down: OriginEcho = { verdict: "status", millis: 4, status: 503 }

/** A session with one registration. */
const registered = async (onEcho?: MuxOptions["onEcho"]) => {
  const pair = duplexPair()
  const both = await sessions(pair, {
    agent: onEcho === undefined ? {} : { onEcho },
    edge: {
      onRegister: (inbound) => inbound.accept({ sessionId: "s", keepAliveMillis: 8000, maxStreams: 1 })
    }
  })
  const registration = Result.getOrThrow(await both.agent.register(request))
  return { ...both, id: registration.id, toEdge: pair[0], toAgent: pair[1] }
}

describe("echoes of a session", () => {
  it("bring the agent's answer", async () => {
    const asked: Array<number> = []
    const { edge, id } = await registered((registration, answer) => {
      asked.push(registration)
      answer(asked.length === 1 ? up : down)
    })
    assert.deepStrictEqual(await edge.echo(id), up)
    assert.deepStrictEqual(await edge.echo(id), down)
    assert.deepStrictEqual(asked, [id, id])
  })

  it("ask an agent once that is asked again before it answers, and answer the last question", async () => {
    const waiting: Array<(echo: OriginEcho) => void> = []
    const { edge, id } = await registered((_registration, answer) => void waiting.push(answer))
    const questions = [edge.echo(id), edge.echo(id), edge.echo(id)]
    await edge.ping()
    assert.strictEqual(waiting.length, 1)
    waiting[0]!(up)
    waiting[0]!(down)
    assert.deepStrictEqual(await Promise.all(questions), [undefined, undefined, up])
  })

  it("ask an agent again that had nothing to say", async () => {
    const answers: Array<OriginEcho | undefined> = [undefined, up]
    const { edge, id } = await registered((_registration, answer) => answer(answers.shift()))
    const first = edge.echo(id)
    await edge.ping()
    assert.deepStrictEqual([await edge.echo(id), await first], [up, undefined])
  })

  it("are not answered for a registration that is not the agent's, nor by an agent of before", async () => {
    let asked = 0
    const { agent, edge, id } = await registered((_registration, answer) => {
      asked++
      answer(up)
    })
    void edge.echo(id + 1)
    await edge.ping()
    assert.strictEqual(asked, 0)
    const old = await registered()
    const silent = old.edge.echo(old.id)
    await old.edge.ping()
    old.edge.close("normal")
    assert.strictEqual(await silent, undefined)
    const ended = edge.echo(id + 1)
    agent.close("normal")
    assert.strictEqual(await ended, undefined)
    await edge.closed
    assert.strictEqual(await edge.echo(id), undefined)
  })

  it("take no answer to a question that was not asked", async () => {
    const { edge, id, toEdge } = await registered((_registration, answer) => answer(up))
    assert.deepStrictEqual(await edge.echo(id), up)
    toEdge.write(encodeMuxFrame({ _tag: "Echoed", id, serial: 4_000_000_000, echo: down }))
    toEdge.write(encodeMuxFrame({ _tag: "Echoed", id: 77, serial: 1, echo: down }))
    assert.deepStrictEqual(await edge.echo(id), up)
  })

  it("end the session whose answer throws, and no other", async () => {
    const faults: Array<unknown> = []
    const other = await registered((_registration, answer) => answer(up))
    const broken = await sessions(duplexPair(), {
      agent: {
        onEcho: () => {
          throw new Error("the prober is broken")
        },
        onFault: (error) => faults.push(error)
      },
      edge: { onRegister: (inbound) => inbound.accept({ sessionId: "s", keepAliveMillis: 8000, maxStreams: 1 }) }
    })
    const { id } = Result.getOrThrow(await broken.agent.register(request))
    assert.strictEqual(await broken.edge.echo(id), undefined)
    await eventually(() => faults.length === 1, "the fault is reported")
    assert.deepStrictEqual(await other.edge.echo(other.id), up)
  })
})
