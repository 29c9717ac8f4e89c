import { Mux } from "@catenet/wire/transport/Mux"
import type { MuxStream } from "@catenet/wire/transport/MuxStream"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { randomBytes } from "node:crypto"
import { duplexPair } from "node:stream"
import { maxPerAddress, open, RequestShares } from "../../src/sessions/StreamShares.ts"

/** An edge's session with an agent that takes so many streams. */
const sessionWith = (maxStreams: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const [near, far] = duplexPair()
      const edge = new Mux(near, { side: "acceptor", keepAlive: false, challenge: randomBytes(32) })
      const agent = new Mux(far, {
        side: "dialler",
        keepAlive: false,
        limits: { maxStreams },
        onStream: (stream) => void stream.resume()
      })
      await Promise.all([edge.ready, agent.ready])
      return { edge, agent }
    }),
    ({ agent, edge }) =>
      Effect.sync(() => {
        edge.close("normal")
        agent.close("normal")
      })
  ).pipe(Effect.map(({ edge }) => edge))

const visit = (session: Mux, address: string, registration = 1) =>
  open(session, { registration, kind: "visitor", tls: "terminated", client: { address, port: 1 } })

const codeOf = (stream: Result.Result<unknown, unknown>) => (Result.getOrThrow(stream) as MuxStream).resetBy?.code

describe("the streams of an agent", () => {
  it.effect("go to an address that holds fewer, from the newest of the address that holds the most", () =>
    Effect.gen(function* () {
      const session = yield* sessionWith(4)
      const crowd = Array.from({ length: 4 }, () => visit(session, "192.0.2.1"))
      assert.isTrue(Result.isFailure(visit(session, "192.0.2.1")), "it holds the most itself")
      const others = [visit(session, "192.0.2.2"), visit(session, "2001:db8::1")]
      assert.isTrue(others.every(Result.isSuccess))
      assert.deepStrictEqual(crowd.map(codeOf), [undefined, undefined, "overloaded", "overloaded"])
      assert.isTrue(Result.isFailure(visit(session, "2001:db8::2")), "the /64 would hold as many as any other")
    }).pipe(Effect.scoped)
  )

  it.effect("go to a tunnel that has fewer, however many addresses crowd another tunnel of the same agent", () =>
    Effect.gen(function* () {
      const session = yield* sessionWith(4)
      const crowd = Array.from({ length: 4 }, (_, at) => visit(session, `192.0.2.${at}`))
      const others = [visit(session, "198.51.100.1", 2), visit(session, "198.51.100.2", 2)]
      assert.isTrue(others.every(Result.isSuccess))
      assert.deepStrictEqual(crowd.map(codeOf), [undefined, undefined, "overloaded", "overloaded"])
      assert.isTrue(Result.isFailure(visit(session, "198.51.100.3", 2)), "both tunnels have as many")
    }).pipe(Effect.scoped)
  )

  it.effect("are a quarter of an agent's for one address at most", () =>
    Effect.gen(function* () {
      const session = yield* sessionWith(8_192)
      for (let at = 0; at < maxPerAddress; at++) assert.isTrue(Result.isSuccess(visit(session, "192.0.2.1")))
      assert.isTrue(Result.isFailure(visit(session, "192.0.2.1")))
      assert.isTrue(Result.isSuccess(visit(session, "192.0.2.2")))
      assert.strictEqual(session.counters.streamsOpen, maxPerAddress + 1)
    }).pipe(Effect.scoped)
  )

  it.effect("are free again when they close", () =>
    Effect.gen(function* () {
      const session = yield* sessionWith(1)
      const first = Result.getOrThrow(visit(session, "192.0.2.1"))
      first.reset("cancelled")
      yield* Effect.promise(() => new Promise((resolve) => first.once("close", resolve)))
      assert.isTrue(Result.isSuccess(visit(session, "192.0.2.1")))
    }).pipe(Effect.scoped)
  )
})

describe("the requests of visitors", () => {
  it("are refused to an address that has 2,048 at a tunnel, until one of them ends; others have their own", () => {
    const shares = new RequestShares()
    const ends: Array<() => void> = []
    const stream = { once: (_: "close", done: () => void) => ends.push(done) }
    for (let at = 0; at < maxPerAddress; at++) assert.isTrue(shares.begin("t", "192.0.2.1", stream))
    assert.isFalse(shares.begin("t", "192.0.2.1", stream))
    assert.isTrue(shares.begin("u", "192.0.2.1", stream))
    assert.isTrue(shares.begin("t", "192.0.2.2", stream))
    ends[0]?.()
    assert.isTrue(shares.begin("t", "192.0.2.1", stream))
    assert.isFalse(shares.begin("t", "192.0.2.1", stream))
  })
})
