/** Both halves of the TLS-TCP carrier: against each other, and each against a peer scripted byte by byte. */
import { Dice } from "@catenet/testing/wire/dice"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { type Duplex, duplexPair } from "node:stream"
import { decoded, needMore } from "../../src/frames/Frame.ts"
import { encodePong, stopFrame } from "../../src/frames/ParkPing.ts"
import type { Admission, BrowserSlot, MeshSlot, SlotRole } from "../../src/frames/Role.ts"
import { type AgentSlot, parkAgentSlot } from "../../src/transport/AgentSlot.ts"
import { answerAdmission, EdgeSlot, readAdmission } from "../../src/transport/EdgeSlot.ts"
import { FrameReader } from "../../src/transport/FrameReader.ts"
import { challengeClient, requestRendezvous } from "../../src/transport/MeshRendezvous.ts"
import { choppedPair } from "./pairs.ts"
import { collect, occurs } from "./sessions.ts"

const token = Uint8Array.from(Buffer.alloc(32, 7))
const slotOf = (role: SlotRole): MeshSlot | BrowserSlot =>
  role === "A" || role === "K" ? { role, token } : { role, token, host: "demo.test" }
const roles: ReadonlyArray<SlotRole> = ["A", "K", "B", "L", "F"]

const reasonOf = (result: Result.Result<unknown, { readonly reason: string }>) =>
  Result.isFailure(result) ? result.failure.reason : "fine"

/** Longer than any answer of this process takes, on the slowest machine. */
const patienceMillis = 30_000

/** Exactly `length` bytes as hex. */
const take = (reader: FrameReader, length: number): Promise<string> =>
  reader
    .next(
      (bytes) =>
        bytes.length < length ? needMore : decoded(Buffer.from(bytes.subarray(0, length)).toString("hex"), length),
      patienceMillis
    )
    .then((result) => Result.getOrElse(result, ({ reason }) => reason))

/** A parked slot, both halves. */
const parked = async ([a, b]: readonly [Duplex, Duplex], role: SlotRole, pingMillis = 8000) => {
  const agent = parkAgentSlot(a, slotOf(role))
  const admission = Result.getOrThrow(await readAdmission(b))
  assert.deepStrictEqual(admission, slotOf(role))
  answerAdmission(b, true)
  const edge = new EdgeSlot(b, role, { pingMillis, pongMillis: patienceMillis })
  return { edge, agent: Result.getOrThrow(await agent) }
}

const talk = async (edge: EdgeSlot, agent: AgentSlot) => {
  const visitor = Result.getOrThrow(await edge.deliver())
  visitor.write("GET / ")
  visitor.end("HTTP/1.1")
  const taken = Result.getOrThrow(await agent.taken)
  assert.strictEqual((await collect(taken)).toString(), "GET / HTTP/1.1")
  taken.end("200 OK, long after the visitor's own end")
  assert.strictEqual((await collect(visitor)).toString(), "200 OK, long after the visitor's own end")
}

describe("slots", () => {
  for (const role of roles) {
    it(`${role}: park, deliver, half-close, close`, async () => {
      const [a, b] = duplexPair()
      const { agent, edge } = await parked([a, b], role)
      assert.strictEqual(edge.state, "parked")
      await talk(edge, agent)
      assert.strictEqual(edge.state, "taken")
      assert.strictEqual(reasonOf(await edge.deliver()), "taken")
      await Promise.all([occurs(a, "close"), occurs(b, "close")])
    })

    it(`${role}: in any segmentation, with pings running`, async () => {
      for (let seed = 1; seed <= 30; seed++) {
        const { agent, edge } = await parked(choppedPair(new Dice(seed)), role, 2)
        await new Promise((resolve) => setTimeout(resolve, 5))
        await talk(edge, agent)
      }
    })

    it(`${role}: an agent that goes away is noticed`, async () => {
      const { agent, edge } = await parked(duplexPair(), role)
      agent.close()
      await edge.lost
      assert.strictEqual(edge.state, "lost")
      assert.strictEqual(reasonOf(await edge.deliver()), "closed")
    })
  }

  it("carry bulk both ways", async () => {
    for (const role of ["L", "F"] as const) {
      const { agent, edge } = await parked(duplexPair(), role)
      const bulk = new Dice(3).bytes(3_000_000)
      const visitor = Result.getOrThrow(await edge.deliver())
      visitor.end(bulk)
      const taken = Result.getOrThrow(await agent.taken)
      taken.end(bulk)
      const [up, down] = await Promise.all([collect(taken), collect(visitor)])
      assert.isTrue(up.equals(bulk) && down.equals(bulk))
    }
  })

  it("distinguish a lost edge from a taken slot", async () => {
    const { agent, edge } = await parked(duplexPair(), "L")
    edge.close()
    assert.strictEqual(reasonOf(await agent.taken), "closed")
  })
})

describe("edge half", () => {
  it("speaks the bytes of the specification", async () => {
    const [peer, stream] = duplexPair()
    const reader = new FrameReader(peer)
    const admission = readAdmission(stream)
    peer.write(Buffer.concat([Buffer.from("L"), token, Buffer.from("0010", "hex"), Buffer.from("demo.example.com")]))
    assert.deepStrictEqual(Result.getOrThrow(await admission), { role: "L", token, host: "demo.example.com" })
    answerAdmission(stream, true)
    assert.strictEqual(await take(reader, 2), "4f4b")
    const slot = new EdgeSlot(stream, "L", { pingMillis: 5 })
    assert.strictEqual(await take(reader, 9), "f90000000000000000")
    peer.write(Buffer.from("fa0000000000000000", "hex"))
    assert.strictEqual(await take(reader, 9), "f90000000000000001")
    // A client that comes during a round trip shares it; only the first byte of the answer counts.
    const delivered = slot.deliver()
    peer.write(Buffer.from("faffffffffffffffff", "hex"))
    const visitor = Result.getOrThrow(await delivered)
    visitor.write(Buffer.from("160301", "hex"))
    assert.strictEqual(await take(reader, 4), "fb160301")
  })

  it("answers NO before the host when there is no room, and closes in order", async () => {
    const [peer, stream] = duplexPair()
    const admission = readAdmission(stream, { acceptHead: (head) => head.role === "C" })
    peer.write(Buffer.concat([Buffer.from("B"), token]))
    assert.strictEqual(reasonOf(await admission), "full")
    assert.strictEqual((await collect(peer)).toString(), "NO")
  })

  it("answers nothing to an unknown role, a malformed host, silence or a half frame", async () => {
    const cases: ReadonlyArray<readonly [Buffer, string]> = [
      [Buffer.from("Z"), "malformed"],
      [Buffer.concat([Buffer.from("L"), token, Buffer.from("0000", "hex")]), "malformed"],
      [Buffer.concat([Buffer.from("L"), token, Buffer.from("00fe", "hex")]), "malformed"],
      [Buffer.alloc(0), "timeout"],
      [Buffer.concat([Buffer.from("K"), token.subarray(1)]), "timeout"]
    ]
    for (const [bytes, reason] of cases) {
      const [peer, stream] = duplexPair()
      peer.write(bytes)
      const timeoutMillis = reason === "timeout" ? 30 : patienceMillis
      assert.strictEqual(reasonOf(await readAdmission(stream, { timeoutMillis })), reason)
      stream.end()
      assert.strictEqual((await collect(peer)).length, 0)
    }
  })

  it("closes a slot that answers wrongly, late or unasked", async () => {
    const answers: ReadonlyArray<Buffer> = [
      Buffer.from("f90000000000000000", "hex"),
      Buffer.alloc(0),
      Buffer.from("GET")
    ]
    for (const role of ["K", "L", "F"] as const) {
      for (const answer of answers) {
        const [peer, stream] = duplexPair()
        const slot = new EdgeSlot(stream, role, { pingMillis: 10_000, pongMillis: 20 })
        peer.write(answer)
        assert.strictEqual(reasonOf(await slot.deliver()), "silent")
        await slot.lost
        peer.resume()
        await occurs(peer, "end")
      }
    }
    for (const role of ["A", "B"] as const) {
      const [peer, stream] = duplexPair()
      const slot = new EdgeSlot(stream, role)
      peer.write("unasked")
      await slot.lost
      assert.strictEqual(reasonOf(await slot.deliver()), "closed")
      peer.resume()
      await occurs(peer, "end")
    }
  })

  it("is lost from the start when its connection is gone before it parks", async () => {
    for (const role of roles) {
      const [, stream] = duplexPair()
      stream.destroy()
      const slot = new EdgeSlot(stream, role)
      await slot.lost
      assert.strictEqual(slot.state, "lost")
    }
  })
})

describe("agent half", () => {
  const admitted = async (role: SlotRole, replyMillis = patienceMillis) => {
    const [peer, stream] = duplexPair()
    const asked = parkAgentSlot(stream, slotOf(role), { replyMillis })
    const reader = new FrameReader(peer)
    const slot = async () => {
      await take(reader, role === "K" || role === "A" ? 33 : 44)
      peer.write("OK")
      return Result.getOrThrow(await asked)
    }
    return { peer, reader, asked, slot }
  }

  it("reads NO, silence, an end and other bytes as different refusals", async () => {
    const cases = [
      { act: (peer: Duplex) => peer.write("NO"), reason: "no" },
      { act: () => {}, reason: "timeout" },
      { act: (peer: Duplex) => peer.end(), reason: "closed" },
      { act: (peer: Duplex) => peer.write("HTTP/1.1 400"), reason: "malformed" }
    ]
    for (const { act, reason } of cases) {
      const { asked, peer } = await admitted("L", reason === "timeout" ? 30 : patienceMillis)
      act(peer)
      assert.strictEqual(reasonOf(await asked), reason)
    }
  })

  it("answers any number of pings, and takes the client's bytes that came with STOP", async () => {
    const { reader, peer, slot } = await admitted("K")
    const { taken } = await slot()
    for (const counter of ["0000000000000000", "0000000000000001", "ffffffffffffffff"]) {
      peer.write(Buffer.from(`f9${counter}`, "hex"))
      assert.strictEqual(await take(reader, 9), `fa${counter}`)
    }
    peer.write(Buffer.concat([stopFrame, Buffer.from("client")]))
    peer.end()
    assert.strictEqual((await collect(Result.getOrThrow(await taken))).toString(), "client")
  })

  it("closes on any other byte before STOP", async () => {
    for (const bytes of [encodePong(0n), Buffer.from([0x16]), Buffer.from([0x00])]) {
      const { peer, slot } = await admitted("L")
      const { taken } = await slot()
      peer.write(bytes)
      assert.strictEqual(reasonOf(await taken), "malformed")
    }
  })

  it("begins a silent slot with the first byte, whatever it is", async () => {
    const { peer, slot } = await admitted("B")
    const { taken } = await slot()
    peer.end(Buffer.from("f9", "hex"))
    assert.strictEqual((await collect(Result.getOrThrow(await taken))).toString("hex"), "f9")
  })

  it("cuts a framed relay that breaks its rules", async () => {
    const { peer, slot } = await admitted("F")
    const { taken } = await slot()
    peer.write(Buffer.concat([stopFrame, Buffer.from("fc0000000161", "hex")]))
    const stream = Result.getOrThrow(await taken)
    assert.strictEqual(String(await new Promise((resolve) => stream.once("data", resolve))), "a")
    const failed = new Promise<Error>((resolve) => stream.once("error", resolve))
    peer.write(Buffer.from([0x16]))
    assert.strictEqual((await failed).message, "not a relay frame")
  })

  it("breaks a framed relay without a listener, and nothing else", async () => {
    const { peer, slot } = await admitted("F")
    const { taken } = await slot()
    peer.write(Buffer.concat([stopFrame, Buffer.from([0x16])]))
    const stream = Result.getOrThrow(await taken)
    // An error event without a listener would be the end of the process, and fail this run.
    await occurs(stream, "close")
    assert.strictEqual(stream.errored?.message, "not a relay frame")
  })
})

describe("mesh rendezvous", () => {
  it("asks for a proof and carries it with the token", async () => {
    const [client, edge] = duplexPair()
    const nonce = Uint8Array.from(Buffer.alloc(16, 3))
    const requested = requestRendezvous(client, token, (challenge) => {
      assert.deepStrictEqual(challenge, { nonce, difficulty: 12 })
      return Promise.resolve(77n)
    })
    assert.deepStrictEqual(Result.getOrThrow(await readAdmission(edge)), { role: "C" } satisfies Admission)
    assert.deepStrictEqual(Result.getOrThrow(await challengeClient(edge, { nonce, difficulty: 12 })), {
      solution: 77n,
      token
    })
    Result.getOrThrow(await requested)
    client.end("noise")
    assert.strictEqual((await collect(edge)).toString(), "noise")
  })

  it("bounds the wait for the challenge and the search for a proof", async () => {
    const [client, edge] = duplexPair()
    assert.strictEqual(reasonOf(await challengeClient(edge, { nonce: Buffer.alloc(16), difficulty: 1 }, 20)), "timeout")
    edge.destroy()
    client.destroy()
    const [eager, hostile] = duplexPair()
    const requested = requestRendezvous(eager, token, () => Promise.reject(new Error("unreachable")))
    hostile.write(Buffer.alloc(17, 33))
    assert.strictEqual(reasonOf(await requested), "malformed")
  })
})
