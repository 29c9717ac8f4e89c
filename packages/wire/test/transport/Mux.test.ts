/**
 * A multiplexed session: registrations, streams, back-pressure.
 * One file, since all cases join the two ends of a session in the same way.
 */
import { eventually } from "@catenet/testing/Eventually"
import { Dice } from "@catenet/testing/wire/dice"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { duplexPair } from "node:stream"
import type { RegisterRequest } from "../../src/frames/MuxRegister.ts"
import { channelBinding } from "../../src/transport/ChannelBinding.ts"
import { Mux, muxAlpn } from "../../src/transport/Mux.ts"
import type { MuxStream } from "../../src/transport/MuxStream.ts"
import type { InboundRegistration } from "../../src/transport/Registrations.ts"
import { tlsPair } from "./pairs.ts"
import { collect, header, occurs, sessions } from "./sessions.ts"

const MiB = 1024 * 1024
const request: RegisterRequest = {
  token: Buffer.alloc(32, 9),
  hosts: ["demo.test"],
  agentId: "agent-1",
  wishes: { proxyProtocol: true }
}

const refusedAs = (result: Result.Result<unknown, { readonly reason: string }>) =>
  Result.isFailure(result) ? result.failure.reason : "opened"

/** Answers with what it gets. */
const echo = (stream: MuxStream) => {
  stream.on("data", (chunk: Buffer) => {
    if (!stream.write(chunk)) stream.pause()
  })
  stream.on("drain", () => stream.resume())
  stream.on("end", () => stream.end())
}

describe("Mux registration", () => {
  const registered = async () => {
    const inbound: Array<InboundRegistration> = []
    const pair = await sessions(duplexPair(), {
      edge: { onRegister: (registration) => inbound.push(registration), limits: { registrations: 2 } }
    })
    return { ...pair, inbound }
  }

  it("is accepted with the edge's terms", async () => {
    const { agent, edge, inbound } = await registered()
    const asked = agent.register({ ...request, version: "1.2.3" })
    await edge.ping()
    assert.deepStrictEqual(inbound[0]!.request, { ...request, token: Uint8Array.from(request.token), version: "1.2.3" })
    const answer = { sessionId: "s-1", keepAliveMillis: 8000, maxStreams: 100 }
    inbound[0]!.accept(answer)
    inbound[0]!.refuse({ code: "internal", sentence: "too late to refuse" })
    const registration = Result.getOrThrow(await asked)
    assert.deepStrictEqual(registration.answer, answer)
    assert.strictEqual(registration.id, inbound[0]!.id)
    registration.withdraw()
    await inbound[0]!.withdrawn
    assert.strictEqual((await registration.ended).code, "closed")
  })

  it("is refused with code, sentence and host", async () => {
    const { agent, edge, inbound } = await registered()
    const asked = agent.register(request)
    await edge.ping()
    const refusal = { code: "host-taken", sentence: "demo.test belongs to another tunnel.", host: "demo.test" } as const
    inbound[0]!.refuse(refusal)
    assert.deepStrictEqual(await asked, Result.fail(refusal))
    await inbound[0]!.withdrawn
  })

  it("can be ended later, one of several", async () => {
    const { agent, edge, inbound } = await registered()
    const asked = [agent.register(request), agent.register({ ...request, hosts: [] })]
    await edge.ping()
    for (const one of inbound) one.accept({ sessionId: "s", keepAliveMillis: 1, maxStreams: 1 })
    const [first, second] = (await Promise.all(asked)).map((one) => Result.getOrThrow(one))
    inbound[0]!.end({ code: "revoked", sentence: "The token was revoked." })
    assert.deepStrictEqual(await first!.ended, { code: "revoked", sentence: "The token was revoked." })
    edge.close("normal")
    assert.strictEqual((await second!.ended).code, "closed")
    await inbound[1]!.withdrawn
  })

  it("is bounded per session", async () => {
    const { agent } = await registered()
    void agent.register(request)
    void agent.register(request)
    const third = await agent.register(request)
    assert.isTrue(Result.isFailure(third) && third.failure.code === "full")
  })

  it("is refused as closed when the session closes, and where the peer takes no registrations", async () => {
    const { agent, edge } = await registered()
    const pending = agent.register(request)
    await agent.ping()
    edge.close("superseded", "a newer session took over")
    for (const answer of [await pending, await agent.register(request)]) {
      assert.deepStrictEqual(answer, Result.fail({ code: "closed", sentence: "a newer session took over" }))
    }
    const deaf = await sessions(duplexPair())
    const answer = await deaf.agent.register(request)
    assert.isTrue(Result.isFailure(answer) && answer.failure.code === "malformed")
  })
})

describe("Mux session", () => {
  it("hands the edge's challenge to the agent", async () => {
    const { agent } = await sessions(duplexPair())
    assert.deepStrictEqual(Result.getOrThrow(await agent.ready).challenge, new Uint8Array(32).fill(1))
    assert.throws(() => new Mux(duplexPair()[0], { side: "acceptor" }), RangeError)
  })

  it("echoes through the peer's program", async () => {
    const { edge } = await sessions(duplexPair())
    const rtts = await Promise.all([edge.ping(), edge.ping(), edge.ping()])
    for (const rtt of rtts) assert.isAtLeast(rtt!, 0)
    assert.strictEqual(edge.counters.rttMillis, rtts[2])
  })

  it("opens nothing before the hello, after the end, or against the peer's will", async () => {
    const [a, b] = duplexPair()
    const early = new Mux(a, { side: "acceptor", challenge: Buffer.alloc(32), keepAlive: false })
    assert.strictEqual(refusedAs(early.open(header)), "not-ready")
    b.destroy()
    a.destroy()
    await early.closed
    assert.strictEqual(refusedAs(early.open(header)), "closed")
    assert.isUndefined(await early.ping())
    const { agent } = await sessions(duplexPair())
    assert.strictEqual(refusedAs(agent.open(header)), "full")
  })

  it("respects the peer's limit of open streams, which ended streams do not count for", async () => {
    const { edge, open } = await sessions(duplexPair(), { agent: { limits: { maxStreams: 2 } } })
    const first = await open()
    await open()
    assert.strictEqual(refusedAs(edge.open(header)), "full")
    first.near.reset("cancelled")
    await open()
  })

  it("gives the header to the agent as the edge wrote it", async () => {
    const { edge, open } = await sessions(duplexPair())
    const { far, near } = await open()
    assert.deepStrictEqual(far.header, header)
    assert.strictEqual(far.id, near.id)
    assert.strictEqual(edge.counters.streamsOpened, 1)
  })

  it("sends the reason of a cut stream to the other side", async () => {
    const { agent, edge, open } = await sessions(duplexPair())
    const { far, near } = await open()
    const error = new Promise<unknown>((resolve) => near.once("error", resolve))
    far.reset("origin-unreachable", "connect ECONNREFUSED 127.0.0.1:8080")
    await occurs(near, "close")
    assert.deepInclude(near.resetBy, {
      code: "origin-unreachable",
      sentence: "connect ECONNREFUSED 127.0.0.1:8080",
      by: "remote"
    })
    assert.strictEqual(await error, near.resetBy)
    assert.deepInclude(far.resetBy, { code: "origin-unreachable", by: "local" })
    assert.strictEqual(agent.counters.resetsSent, 1)
    assert.strictEqual(edge.counters.resetsReceived, 1)
  })

  it("ends directions on their own", async () => {
    const { open } = await sessions(duplexPair())
    const { far, near } = await open()
    near.end("question")
    assert.strictEqual((await collect(far)).toString(), "question")
    far.write("late ")
    far.end("answer")
    assert.strictEqual((await collect(near)).toString(), "late answer")
    await Promise.all([occurs(near, "close"), occurs(far, "close")])
    assert.isUndefined(near.resetBy)
  })

  it("drains: no new streams, crossing ones served, closed when the last is done", async () => {
    const { agent, edge, open } = await sessions(duplexPair())
    const running = await open()
    agent.goAway("restart")
    const crossing = await open()
    assert.strictEqual(await edge.draining, "restart")
    assert.strictEqual(refusedAs(edge.open(header)), "draining")
    for (const { far, near } of [running, crossing]) {
      near.end("x")
      assert.strictEqual((await collect(far)).toString(), "x")
      far.end()
      near.resume()
    }
    assert.deepInclude(await edge.closed, { code: "draining", by: "remote" })
    assert.deepInclude(await agent.closed, { code: "draining", by: "local" })
    assert.isUndefined(crossing.near.resetBy)
  })

  it("cuts what is incomplete when the session is lost, and lets complete streams be read", async () => {
    const [a, b] = duplexPair()
    const { edge, open } = await sessions([a, b])
    const torn = await open()
    const whole = await open()
    whole.far.end("all of it")
    whole.near.end()
    whole.far.resume()
    torn.far.write("part")
    await edge.ping()
    a.destroy()
    b.destroy()
    assert.deepInclude(await edge.closed, { code: "lost", by: "carrier" })
    await occurs(torn.near, "close")
    assert.deepInclude(torn.near.resetBy, { code: "lost", by: "remote" })
    assert.strictEqual((await collect(whole.near)).toString(), "all of it")
  })

  it("closes the session of a silent peer", async () => {
    const [a, b] = duplexPair()
    const edge = new Mux(b, {
      side: "acceptor",
      challenge: Buffer.alloc(32),
      keepAlive: { everyMillis: 10, deadMillis: 40 }
    })
    a.resume()
    assert.deepInclude(await edge.closed, { code: "dead", by: "local" })
  })

  it("closes a session without a hello at its timeout", async () => {
    const [a, b] = duplexPair()
    a.resume()
    const edge = new Mux(b, { side: "acceptor", challenge: Buffer.alloc(32), helloMillis: 20 })
    assert.deepInclude(await edge.closed, { code: "timeout", by: "local" })
    assert.isTrue(Result.isFailure(await edge.ready))
  })
})

describe("Mux back-pressure", () => {
  it("holds no more for a slow reader than its window, and delivers all in the end", async () => {
    const { edge, open } = await sessions(duplexPair())
    const slow = await open()
    const quick = await open()
    const total = 8 * MiB
    let written = 0
    const chunk = Buffer.alloc(64 * 1024, 1)
    const fill = () => {
      while (written < total && slow.far.write(chunk)) written += chunk.length
      if (written >= total) slow.far.end()
    }
    slow.far.on("drain", () => {
      written += chunk.length
      fill()
    })
    fill()
    await edge.ping()
    await edge.ping()
    assert.isAtMost(slow.near.held, 256 * 1024)
    assert.isAtMost(written, 256 * 1024 + 2 * chunk.length)
    quick.far.end("not held up")
    assert.strictEqual((await collect(quick.near)).toString(), "not held up")
    assert.strictEqual((await collect(slow.near)).length, total)
  })

  it("opens the window for a reader that keeps up", async () => {
    const { edge, open } = await sessions(duplexPair())
    const { far, near } = await open()
    far.write(Buffer.alloc(4 * MiB))
    let got = 0
    near.on("data", (chunk: Buffer) => {
      got += chunk.length
      if (got >= 2 * MiB) near.pause()
    })
    await eventually(() => near.isPaused(), "the reader pauses")
    await eventually(() => far.sendable === 0, "the window is used up")
    await edge.ping()
    assert.isAbove(near.held, 512 * 1024)
    assert.isAtMost(near.held, MiB)
    assert.isFalse(near.destroyed)
  })

  it("resets the readers that hold the most when the session holds too much", async () => {
    const limits = { initialWindow: 1000, window: 1000, receiveBudget: 2000, receiveLimit: 4000 }
    const { edge, open } = await sessions(duplexPair(), { edge: { limits } })
    const streams = await Promise.all(Array.from({ length: 8 }, () => open()))
    for (const { far } of streams) far.write(Buffer.alloc(1000))
    await edge.ping()
    const cut = streams.filter(({ near }) => near.resetBy?.code === "overloaded")
    assert.isAtLeast(cut.length, 3)
    assert.isBelow(cut.length, 8)
    const held = streams.reduce((sum, { near }) => sum + near.held, 0)
    assert.isAtMost(held, 4000)
  })
})

describe("Mux over TLS", () => {
  it("binds proofs to the session: both ends export the same bytes, two sessions do not", async () => {
    const challenge = Buffer.alloc(32, 4)
    const [a, b] = await tlsPair(muxAlpn)
    const [c, d] = await tlsPair(muxAlpn)
    assert.strictEqual(a.alpnProtocol, muxAlpn)
    const [ours, theirs, others] = [a, b, c].map((socket) => Result.getOrThrow(channelBinding(socket, challenge)))
    assert.strictEqual(ours!.length, 32)
    assert.deepStrictEqual(ours, theirs)
    assert.notDeepEqual(ours, others)
    assert.notDeepEqual(ours, Result.getOrThrow(channelBinding(a, Buffer.alloc(32, 5))))
    for (const socket of [a, b, c, d]) socket.destroy()
    assert.isTrue(Result.isFailure(channelBinding(a, challenge)))
  })

  it("carries 500 streams at a time", async () => {
    const { edge, agent } = await sessions(await tlsPair(muxAlpn), { agent: { onStream: echo } })
    const dice = new Dice(5)
    const data = dice.bytes(20_000)
    const streams = Array.from({ length: 500 }, () => Result.getOrThrow(edge.open(header)))
    assert.strictEqual(edge.counters.streamsOpen, 500)
    await Promise.all(
      streams.map(async (stream, index) => {
        const sent = data.subarray(index, index + 10_000)
        stream.end(sent)
        assert.isTrue((await collect(stream)).equals(sent))
      })
    )
    await edge.ping()
    assert.strictEqual(edge.counters.streamsOpen, 0)
    assert.strictEqual(agent.counters.bytesSent, 500 * 10_000)
    edge.close("normal")
    assert.deepInclude(await agent.closed, { code: "normal", by: "remote" })
  })

  it("shares the connection fairly: a small answer does not wait for a bulk stream", async () => {
    const { edge, open } = await sessions(await tlsPair(muxAlpn))
    const bulk = await Promise.all(Array.from({ length: 4 }, () => open()))
    let done = 0
    for (const { far, near } of bulk) {
      far.end(Buffer.alloc(24 * MiB))
      near.resume()
      near.on("end", () => done++)
    }
    const { far, near } = await open()
    far.on("data", (chunk) => far.write(chunk))
    for (let round = 0; round < 20; round++) {
      near.write("ping")
      await occurs(near, "data")
    }
    assert.isBelow(done, 4)
    for (const { near } of bulk) if (!near.readableEnded) await occurs(near, "end")
    edge.close("normal")
  })

  it("loses a killed peer at once", async () => {
    const [a, b] = await tlsPair(muxAlpn)
    const { edge } = await sessions([a, b])
    a.destroy()
    assert.deepInclude(await edge.closed, { code: "lost", by: "carrier" })
  })
})
