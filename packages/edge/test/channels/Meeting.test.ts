/** Data-plane 17.2 at a real edge over real TLS: two members meet, and every way in which they do not. */
import { native } from "@catenet/crypto/native"
import * as Members from "@catenet/testing/edge/Members"
import { eventually, start, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"

const life = Effect.runSync(Scope.make())
let world: TestEdge
beforeAll(async () => {
  world = await Effect.runPromise(start().pipe(Scope.provide(life)))
})
afterAll(() => Effect.runPromise(Scope.close(life, Exit.void)))

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

const pair = (a: Parameters<typeof Members.member>[1] = {}, b: Parameters<typeof Members.member>[1] = {}) => {
  const channel = Members.channel()
  const members = [Members.member(channel, a), Members.member(channel, b)] as const
  Members.register(world, ...members)
  return members
}

/** What the edge answers to these bytes until it ends. */
const answered = async (bytes: Uint8Array, options: Members.JoinOptions = {}) => {
  const peer = await Members.dial(world, options)
  peer.send(bytes)
  return (await peer.rest()).toString("latin1")
}

const refusal = (token: string) => `NO${String.fromCharCode(token.length)}${token}`

describe.concurrent("members of a channel at the front door", () => {
  it("learn of each other in the rendezvous phase, and meet on the same streams in the relay phase", async () => {
    const [a, b] = pair({ direction: "initiate", rights: "r", expiresAt: 3_000_000_001n }, { direction: "accept" })
    const first = await Members.join(world, a, { phase: 1 })
    const second = await Members.join(world, b, { phase: 1 })
    const [toA, toB] = [await Members.acknowledged(first), await Members.acknowledged(second)]
    const ok = ["OK", "relay-only", hex(b.noiseKey), hex(b.holder), hex(b.attestation)]
    assert.deepStrictEqual(toA.slice(0, 5), ok)
    assert.match(toA[5] ?? "", /^r=127\.0\.0\.1:\d+$/)
    assert.deepStrictEqual(toA.slice(6), ["sp=1", "rs=initiate", "pr=rw", "pe=4000000000", "ln=close"])
    assert.deepStrictEqual(toB.slice(1, 4), ["relay-only", hex(a.noiseKey), hex(a.holder)])
    assert.deepStrictEqual(toB.slice(6), ["sp=1", "rs=accept", "pr=r", "pe=3000000001", "ln=close"])
    assert.strictEqual((await first.rest()).length + (await second.rest()).length, 0)
    const talking = await Members.join(world, b, { phase: 2 })
    const other = await Members.join(world, a, { phase: 2 })
    const again = await Promise.all([Members.acknowledged(talking), Members.acknowledged(other)])
    assert.deepStrictEqual(
      again.map((line) => line.at(-1)),
      ["ln=peer", "ln=peer"]
    )
    other.send(Members.ascii("hello"))
    assert.strictEqual((await talking.take(5)).toString(), "hello")
    talking.send(Members.ascii("good day"))
    talking.socket.end()
    assert.strictEqual((await other.rest()).toString(), "good day")
    other.send(Members.ascii("bye"))
    other.socket.end()
    assert.strictEqual((await talking.rest()).toString(), "bye")
  })

  for (const [name, options] of [
    ["the plain dialect", { alpn: Members.plain }],
    ["the disguised form", { alpn: ["h2", "http/1.1"], serverName: "edge-cdn.invalid" }],
    ["the disguised form over h2 alone", { alpn: ["h2"], serverName: "edge-cdn.invalid" }],
    ["no protocol at all", { alpn: [], serverName: "edge-cdn.invalid" }]
  ] as const)
    it(`in ${name} are spliced without a phase`, async () => {
      const [a, b] = pair()
      const one = await Members.join(world, a, options)
      const two = await Members.join(world, b)
      await Promise.all([Members.acknowledged(one), Members.acknowledged(two)])
      one.send(Members.ascii("x".repeat(100_000)))
      assert.strictEqual((await two.take(100_000)).length, 100_000)
      one.socket.destroy()
      two.socket.destroy()
    })

  it("keep what they say before they are acknowledged", async () => {
    const [a, b] = pair()
    const early = await Members.join(world, a, { alpn: Members.plain })
    early.send(Members.ascii("early"))
    early.socket.end()
    const late = await Members.join(world, b)
    await Members.acknowledged(late)
    assert.strictEqual((await late.take(5)).toString(), "early")
    late.socket.destroy()
  })

  it("let the smaller key begin where both may", async () => {
    const [a, b] = pair()
    const smaller = Buffer.compare(a.holder, b.holder) < 0 ? a : b
    const one = await Members.join(world, a)
    const two = await Members.join(world, b)
    const roles = [(await Members.acknowledged(one)).at(7), (await Members.acknowledged(two)).at(7)]
    assert.deepStrictEqual(roles, smaller === a ? ["rs=initiate", "rs=accept"] : ["rs=accept", "rs=initiate"])
    one.socket.destroy()
    two.socket.destroy()
  })

  it("never meet themselves", async () => {
    const [a, b] = pair()
    const parks = [await Members.join(world, a), await Members.join(world, a)]
    const other = await Members.join(world, b)
    await Members.acknowledged(other)
    await Members.acknowledged(parks[0]!)
    for (const peer of [...parks, other]) peer.socket.destroy()
  })

  it("do not meet across the phases", async () => {
    const [a, b] = pair()
    const relay = await Members.join(world, a, { phase: 2 })
    const meeting = await Members.join(world, b, { phase: 1 })
    const unmarked = await Members.join(world, b)
    await Members.acknowledged(unmarked)
    await Members.acknowledged(relay)
    for (const peer of [meeting, unmarked, relay]) peer.socket.destroy()
  })

  it("are forgotten when they leave while they wait", async () => {
    const [a, b] = pair()
    for (const leave of ["end", "destroy"] as const) {
      const gone = await Members.join(world, a)
      gone.socket[leave]()
      await gone.rest()
    }
    const present = await Members.join(world, a)
    const other = await Members.join(world, b)
    await Promise.all([Members.acknowledged(present), Members.acknowledged(other)])
    for (const peer of [present, other]) peer.socket.destroy()
  })

  it("end their oldest park with the fifth", async () => {
    const [a, b] = pair()
    const parks = []
    for (let each = 0; each < 5; each++) parks.push(await Members.join(world, a))
    assert.strictEqual((await parks[0]!.rest()).toString(), "EX")
    const other = await Members.join(world, b)
    await Members.acknowledged(parks[1]!)
    for (const peer of [...parks, other]) peer.socket.destroy()
  })
})

describe.concurrent("a join is refused", () => {
  it("for its length", async () => {
    for (const length of [0, 1025]) assert.strictEqual(await answered(Members.u16(length)), refusal("len-oob"))
    const marked = Buffer.of(0xff, 1)
    assert.strictEqual(await answered(marked, { alpn: Members.plain }), refusal("len-oob"))
  })

  it("for its form", async () => {
    const [a] = pair()
    const short = Buffer.concat([Members.u16(138), a.grant.subarray(0, 138)])
    assert.strictEqual(await answered(short), refusal("malformed"))
    assert.strictEqual(await answered(Buffer.concat([Members.u16(139), a.grant])), refusal("malformed"))
  })

  it("for its endpoint", async () => {
    const [a] = pair()
    for (const endpoint of ["10.0.0.1:1", "relay-only ", "example.com:443", `1.2.3.4:${"0".repeat(100)}80`])
      assert.strictEqual(await answered(Members.joinFrame(a, { endpoint })), refusal("endpoint"))
  })

  it("for a holder that is no member, and for a grant that has ended or is signed by another", async () => {
    const [a] = pair({ expiresAt: 1_000n })
    assert.strictEqual(await answered(Members.joinFrame(a)), refusal("grant-verify"))
    const other = { ...Members.channel(), id: a.channel.id }
    const forged = Members.member(other, {}, a.seed)
    assert.strictEqual(await answered(Members.joinFrame(forged)), refusal("grant-verify"))
    const stranger = Members.member(a.channel)
    assert.strictEqual(await answered(Members.joinFrame(stranger)), refusal("not-member"))
  })

  it("for a signature by another key", async () => {
    const [a, b] = pair()
    const peer = await Members.dial(world)
    peer.send(Members.joinFrame(a))
    peer.send(native.ed25519.sign(b.seed, await peer.take(32)))
    assert.strictEqual((await peer.rest()).toString("latin1"), refusal("possession"))
  })

  it("for both when their grants do not fit", async () => {
    const [a, b] = pair({ direction: "accept" }, { direction: "accept" })
    const one = await Members.join(world, a)
    const two = await Members.join(world, b)
    assert.strictEqual((await one.rest()).toString("latin1"), refusal("pairing"))
    assert.strictEqual((await two.rest()).toString("latin1"), refusal("pairing"))
  })

  it("once: those who come again wait beside each other for one who fits, the first of them first", async () => {
    const channel = Members.channel()
    const accepting = ["one", "two", "three"].map(() => Members.member(channel, { direction: "accept" }))
    const consumer = Members.member(channel, { direction: "initiate" })
    Members.register(world, ...accepting, consumer)
    const heard = async (peer: Members.Peer) => (await peer.rest()).toString("latin1")
    const [one, two, three] = accepting as [Members.TestMember, Members.TestMember, Members.TestMember]
    const early = [await Members.join(world, one), await Members.join(world, two)]
    assert.deepStrictEqual(await Promise.all(early.map(heard)), [refusal("pairing"), refusal("pairing")])
    const waiting = [await Members.join(world, one), await Members.join(world, two)]
    // A third one hears it too, and those who wait already do not.
    assert.strictEqual(await heard(await Members.join(world, three)), refusal("pairing"))
    waiting.push(await Members.join(world, three))
    for (const peer of waiting) {
      const met = await Members.join(world, consumer)
      const words = await Promise.all([Members.acknowledged(met), Members.acknowledged(peer)])
      assert.isTrue(words.every((word) => word !== undefined))
      met.socket.destroy()
      peer.socket.destroy()
    }
  })
})

describe("an edge", () => {
  it.live("without a control plane takes no member", () =>
    Effect.gen(function* () {
      const alone = yield* start({ CT_EDGE_CP_URL: "" })
      const refused = yield* Effect.promise(() =>
        Members.dial(alone).then(
          () => false,
          () => true
        )
      )
      assert.isTrue(refused)
    }).pipe(Effect.scoped)
  )

  it.live("takes no more from an address that guesses, says EX after the time of a park, and NUL before", () =>
    Effect.gen(function* () {
      const own = yield* start({ CT_EDGE_KA_PARK_TTL_SECS: "12" }, { controlPlane: world.controlPlane })
      const [a] = pair()
      yield* Effect.promise(async () => {
        const waiting = await Members.join(own, a)
        const heard = waiting.rest()
        const stranger = Members.joinFrame(Members.member(a.channel))
        for (let guess = 0; guess < 30; guess++) {
          const peer = await Members.dial(own)
          peer.send(stranger)
          await peer.rest()
        }
        await eventually(
          () =>
            Members.dial(own).then(
              () => false,
              () => true
            ),
          "the address is refused"
        )
        assert.strictEqual((await heard).toString("latin1"), "\u0000EX")
      })
    }).pipe(Effect.scoped)
  )

  it.live("lets a member in when the control plane closes the connection on which it was to be asked", () =>
    Effect.gen(function* () {
      const own = yield* start()
      const member = Members.member(Members.channel())
      Members.register(own, member)
      yield* Effect.promise(async () => {
        const first = await Members.join(own, member)
        own.controlPlane.closes = 1
        const stranger = Members.member(member.channel)
        Members.register(own, stranger)
        const again = await Members.join(own, stranger)
        for (const one of [first, again]) one.socket.destroy()
      })
    }).pipe(Effect.scoped)
  )

  it.live("refuses for a while, and counts nothing, when the control plane cannot be asked", () =>
    Effect.gen(function* () {
      const own = yield* start()
      const channel = Members.channel()
      const [known, unknown] = [Members.member(channel), Members.member(channel)]
      Members.register(own, known, unknown)
      yield* Effect.promise(async () => {
        const first = await Members.join(own, known)
        own.controlPlane.down = true
        const again = await Members.join(own, known)
        const peer = await Members.dial(own)
        peer.send(Members.joinFrame(unknown))
        assert.strictEqual((await peer.rest()).toString("latin1"), refusal("unavailable"))
        for (const one of [first, again]) one.socket.destroy()
      })
    }).pipe(Effect.scoped)
  )
})
