/** The bounds of an endpoint, which its callers share. */
import { Scheduler } from "@catenet/platform/Scheduler"
import { eventually } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import type { IncomingMessage } from "node:http"
import { PassThrough } from "node:stream"
import { type Caller, Callers } from "../../src/mcp/Callers.ts"
import * as RequestBody from "../../src/mcp/RequestBody.ts"
import { ServerProcess } from "../../src/mcp/ServerProcess.ts"
import { beatMillis, maxEndpointSessions, Sessions } from "../../src/mcp/Sessions.ts"

const callerOf = (name: string): Caller => ({ key: `account ${name}`, name, tools: undefined })
const [ada, bob] = [callerOf("ada"), callerOf("bob")]

/** Puts other functions in the place of some; the result brings back the ones of before. */
const replace = (others: Partial<Scheduler>) => {
  const before = { ...Scheduler }
  Object.assign(Scheduler, others)
  return () => void Object.assign(Scheduler, before)
}

/** Sessions whose servers are no processes; how many have been closed, and how to let time pass. */
const made = () => {
  let [now, closed] = [0, 0]
  let tend = () => {}
  const restore = replace({
    monotonicMillis: () => now,
    setInterval: (task) => {
      tend = task
      return undefined as never
    },
    clearInterval: () => {}
  })
  const launch = async () => {
    const child = { stdin: new PassThrough(), stdout: new PassThrough() }
    return { server: new ServerProcess(child as never, false, () => {}), close: () => void closed++ }
  }
  const sessions = new Sessions(launch, false)
  return {
    sessions,
    closed: () => closed,
    pass: (millis: number) => {
      now += millis
      tend()
    },
    [Symbol.dispose]: restore
  }
}

describe("the sessions of an MCP endpoint", () => {
  it("leave room for another caller when one has taken all places, and the newest idle one of that gives way", async () => {
    using held = made()
    const { closed, sessions } = held
    const all = []
    for (let n = 0; n < maxEndpointSessions; n++) all.push(await sessions.open(ada))
    assert.notInclude(all, undefined)
    assert.isDefined(await sessions.open(bob))
    assert.deepStrictEqual([closed(), sessions.size], [1, maxEndpointSessions])
    assert.isUndefined(sessions.get(all.at(-1)?.id ?? "", ada))
    assert.isDefined(sessions.get(all[0]?.id ?? "", ada))
  })

  it("end when they have had no connection and no request for fifteen minutes, and not before", async () => {
    using held = made()
    const { closed, pass, sessions } = held
    const session = await sessions.open(ada)
    const outlet = { send: () => {}, answer: () => {}, abandon: () => {} }
    const message = { jsonrpc: "2.0", id: 1n, method: "ping" }
    session?.server.request(session, message, Buffer.from("{}"), outlet)
    pass(900_001)
    assert.strictEqual(closed(), 0, "a request waits for its answer")
    session?.server.over("done")
    pass(beatMillis)
    assert.strictEqual(closed(), 1, "its server has ended")
    const other = await sessions.open(ada)
    pass(900_000)
    assert.isDefined(sessions.get(other?.id ?? "", ada))
    pass(900_001)
    assert.strictEqual(closed(), 2)
  })

  it("are one for all requests of a caller that belong to none", async () => {
    using held = made()
    const { sessions } = held
    const [one, two, other] = await Promise.all([ada, ada, bob].map((caller) => sessions.ofRequests(caller)))
    assert.strictEqual(one, two)
    assert.notStrictEqual(one, other)
    one?.close()
    assert.notStrictEqual(await sessions.ofRequests(ada), one)
  })
})

/** A body under way: what it has got, and the request that reads it. */
const body = () => {
  const stream = new PassThrough()
  const request = Object.assign(stream, { headers: {} }) as unknown as IncomingMessage
  return { stream, request }
}

describe("large bodies", () => {
  it("of one caller leave room for another's, and small ones need no place", async () => {
    const large = Buffer.alloc(100_000, " ")
    const held = Array.from({ length: RequestBody.maxLargeBodies }, body)
    const outcomes = held.map(({ request, stream }) => {
      stream.write(large)
      return RequestBody.read(request, "account ada").then(
        ({ length }) => length,
        (error: RequestBody.Unacceptable) => error.status
      )
    })
    const isRefused = async () => {
      const more = body()
      more.stream.end(large)
      const read = RequestBody.read(more.request, "account ada")
      return read.then(
        () => false,
        (error: RequestBody.Unacceptable) => error.status === 429
      )
    }
    await eventually(isRefused, "all places are taken")
    const other = body()
    other.stream.end(large)
    assert.strictEqual((await RequestBody.read(other.request, "account bob")).length, 100_000)
    const small = body()
    small.stream.end("{}")
    assert.strictEqual((await RequestBody.read(small.request, "account ada")).length, 2)
    for (const { stream } of held) stream.end("  ")
    const ended = await Promise.all(outcomes)
    assert.deepStrictEqual(
      ended.toSorted((a, b) => a - b),
      [429, ...Array.from({ length: RequestBody.maxLargeBodies - 1 }, () => 100_002)]
    )
  })
})

const shown = (token: string, address: string) =>
  ({ headers: { authorization: `Bearer ${token}`, "x-forwarded-for": address } }) as unknown as IncomingMessage

describe("refused access tokens", () => {
  it("of one network are no longer asked about after thirty in a minute, while another network is served", async () => {
    let asked = 0
    const callers = new Callers({
      isPublic: false,
      tools: new Map(),
      ask: async (token) => {
        asked++
        return token === "good"
          ? { _tag: "Admitted", subject: "1", email: null, client: null, expiresAt: 4_000_000_000 }
          : { _tag: "Invalid" }
      }
    })
    const status = async (token: string, address: string) => {
      const said = await callers.admit(shown(token, address))
      return "status" in said ? said.status : 200
    }
    for (let n = 0; n < 30; n++) assert.strictEqual(await status(`bad-${n}`, "192.0.2.1"), 401)
    assert.strictEqual(await status("bad", "192.0.2.1"), 429)
    assert.strictEqual(await status("good", "192.0.2.1"), 429)
    assert.strictEqual(asked, 30)
    assert.strictEqual(await status("good", "198.51.100.1"), 200)
  })

  it("end with their time, whatever was said of them before", async () => {
    let seconds = 1000
    using _ = { [Symbol.dispose]: replace({ wallMillis: () => seconds * 1000 }) }
    const callers = new Callers({
      isPublic: false,
      tools: new Map(),
      ask: async () => ({ _tag: "Admitted", subject: "1", email: null, client: null, expiresAt: 1060 })
    })
    assert.notProperty(await callers.admit(shown("a", "192.0.2.1")), "status")
    seconds = 1060
    assert.propertyVal(await callers.admit(shown("a", "192.0.2.1")), "status", 401)
  })
})
