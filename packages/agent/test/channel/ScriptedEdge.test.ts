/** A member against an edge that is played byte by byte (data-plane 17.2, 8.4), with a clock that is the test's. */
import * as Refusal from "@catenet/crypto/admission/Refusal"
import * as Grant from "@catenet/crypto/Grant"
import { native } from "@catenet/crypto/native"
import { makeChannel } from "@catenet/testing/agent/Member"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { type Duplex, duplexPair } from "node:stream"
import { setImmediate } from "node:timers/promises"
import * as JoinExchange from "../../src/channel/session/JoinExchange.ts"
import * as RelayNodeDial from "../../src/channel/session/RelayNodeDial.ts"
import * as MeshHandshake from "../../src/mesh/MeshHandshake.ts"

const channel = makeChannel()
const member = channel.member("initiate")
const peer = channel.member("accept")
const grant = Result.getOrThrow(Grant.fromHex(member.grant))
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
const text = (value: string) => Buffer.from(value, "latin1")
const challenge = Buffer.alloc(32, 7)
const line = `OK relay-only ${hex(peer.noiseKey)} ${hex(peer.holder)} ${hex(peer.attestation)} r=192.0.2.1:5 sp=0\n`

/** The edge's end of a connection: what it has heard so far, and how it speaks. */
const makeEdge = () => {
  const [own, theirs] = duplexPair()
  const heard: Array<Buffer> = []
  own.on("data", (chunk: Buffer) => heard.push(chunk)).on("error", () => undefined)
  theirs.on("error", () => undefined)
  return { own, theirs, heard: () => Buffer.concat(heard) }
}
type Edge = ReturnType<typeof makeEdge>

/** What has been written is read, whichever turn of the loop that takes. */
const settled = Effect.promise(async () => {
  for (let turns = 0; turns < 8; turns++) await setImmediate()
})

const say = (edge: Edge, ...pieces: ReadonlyArray<Uint8Array | "end">) =>
  Effect.gen(function* () {
    for (const piece of pieces) {
      if (piece === "end") edge.own.end()
      else edge.own.write(piece)
      yield* settled
    }
  })

const join = (stream: Duplex, hasKeepalive: boolean) =>
  JoinExchange.join(
    stream,
    {
      grant,
      endpoint: "relay-only",
      holderKey: Redacted.make(member.holderSeed),
      phase: "rendezvous",
      hasKeepalive
    },
    () => undefined
  )

/** Runs it beside the test; what has become of it is "waiting", "admitted" or the failure. */
const watched = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(
      Effect.match(effect, { onFailure: (error): unknown => error, onSuccess: (): unknown => "admitted" })
    )
    yield* settled
    const outcome = Effect.map(settled, () => {
      const exit = fiber.pollUnsafe()
      return exit === undefined ? "waiting" : Exit.isSuccess(exit) ? exit.value : exit
    })
    return { outcome, stop: Fiber.interrupt(fiber) }
  })

/** The outcome of a join to which the edge says this; "waiting" while there is none. */
const after = (pieces: ReadonlyArray<Uint8Array | "end">, hasKeepalive = true) =>
  Effect.gen(function* () {
    const edge = makeEdge()
    const joining = yield* watched(join(edge.theirs, hasKeepalive))
    yield* say(edge, ...pieces)
    return { edge, ...joining }
  })

const single = (bytes: Uint8Array) => Array.from(bytes, (byte) => Uint8Array.of(byte))

describe("a member at a scripted edge", () => {
  it.effect("says its phase, its length, its grant and its endpoint, and signs the challenge", () =>
    Effect.gen(function* () {
      for (const hasKeepalive of [true, false]) {
        const { edge, outcome } = yield* after([], hasKeepalive)
        const body = Buffer.concat([Buffer.of(0, 149), Grant.encode(grant), text("relay-only")])
        const opening = hasKeepalive ? Buffer.concat([Buffer.of(0xff, 1), body]) : body
        assert.deepStrictEqual(edge.heard(), opening)
        yield* say(edge, ...single(challenge))
        const signature = edge.heard().subarray(opening.length)
        assert.strictEqual(signature.length, 64)
        assert.isTrue(native.ed25519.verify(member.holder, challenge, signature))
        assert.isFalse(edge.own.readableEnded, "its side stays open")
        // NULs, the line in single bytes, and the first byte of the peer right behind it.
        yield* say(edge, Buffer.of(0), Buffer.of(0, 0), ...single(text(line)).slice(0, -1), text("\nx"))
        assert.strictEqual(yield* outcome, "admitted")
        assert.strictEqual(String(edge.theirs.read()), "x")
      }
    })
  )

  it.effect("takes each word of the edge for what it is", () =>
    Effect.gen(function* () {
      const refusals = Refusal.tokens.flatMap((token) => {
        const frame = Refusal.encode(token)
        return [
          [[frame, "end"], { _tag: "Refused", token }],
          [[...single(frame), "end"], { _tag: "Refused", token }],
          [[challenge, frame, "end"], { _tag: "Refused", token }],
          [[challenge, Buffer.of(0), ...single(frame), "end"], { _tag: "Refused", token }]
        ] as const
      })
      const cases: ReadonlyArray<readonly [ReadonlyArray<Uint8Array | "end">, object]> = [
        ...refusals,
        [["end"], { _tag: "Refused", token: undefined }],
        [[text("NO"), "end"], { _tag: "Refused", token: undefined }],
        [[challenge, text("NO"), "end"], { _tag: "Refused", token: undefined }],
        [[challenge.subarray(0, 31), "end"], { _tag: "Broken" }],
        [[challenge, "end"], { _tag: "Broken", retry: true }],
        [[challenge, text("EX"), "end"], { _tag: "ParkExpired" }],
        [[challenge, Buffer.of(0, 0), text("E"), text("X"), "end"], { _tag: "ParkExpired" }],
        [[challenge, Buffer.alloc(512, "O")], { _tag: "Broken", retry: false }],
        [[challenge, text("YES\n")], { _tag: "Refused", token: undefined }]
      ]
      for (const [pieces, expected] of cases) {
        const { outcome, stop } = yield* after(pieces)
        const said = pieces.map((piece) => (piece === "end" ? piece : JSON.stringify(text(String(piece)).toString())))
        assert.deepInclude(yield* outcome, expected, said.join(" "))
        yield* stop
      }
    })
  )

  it.effect("waits 45 s for a challenge, 35 s in silence on a keepalive leg, and 45 s in all on a plain one", () =>
    Effect.gen(function* () {
      const bounded = [
        { pieces: [], hasKeepalive: true, millis: 45_000 },
        { pieces: [challenge], hasKeepalive: true, millis: 35_000 },
        { pieces: [challenge], hasKeepalive: false, millis: 45_000 },
        { pieces: [text("NO\u000anot-mem")], hasKeepalive: true, millis: 2_000 },
        { pieces: [challenge, text("NO\u000anot-mem")], hasKeepalive: false, millis: 2_000 }
      ]
      for (const { hasKeepalive, millis, pieces } of bounded) {
        const { outcome } = yield* after(pieces, hasKeepalive)
        yield* TestClock.adjust(millis - 1)
        assert.strictEqual(yield* outcome, "waiting")
        yield* TestClock.adjust(1)
        assert.notStrictEqual(yield* outcome, "waiting", `${millis} ms`)
      }
      const { edge, outcome } = yield* after([challenge])
      for (let nul = 0; nul < 9; nul++) {
        yield* TestClock.adjust(34_999)
        yield* say(edge, Buffer.of(0))
        assert.strictEqual(yield* outcome, "waiting", "every byte begins the silence anew")
      }
    })
  )
})

describe("a member at a scripted gate", () => {
  const reply = Buffer.concat([text("OK"), Buffer.of(0, 6), text("node-1")])
  const passing = (pieces: ReadonlyArray<Uint8Array | "end">) =>
    Effect.gen(function* () {
      const edge = makeEdge()
      const passing = yield* watched(RelayNodeDial.pass(edge.theirs, grant, Redacted.make(member.holderSeed)))
      yield* say(edge, ...pieces)
      return { edge, ...passing }
    })

  it.effect("says its grant alone, signs the challenge, and leaves what the node says behind the reply", () =>
    Effect.gen(function* () {
      const { edge } = yield* passing([])
      assert.deepStrictEqual(edge.heard(), Buffer.from(Grant.encode(grant)))
      const { edge: whole, outcome } = yield* passing([...single(challenge), ...single(reply).slice(0, -1), text("1x")])
      const signature = whole.heard().subarray(139)
      assert.isTrue(native.ed25519.verify(member.holder, challenge, signature))
      assert.strictEqual(yield* outcome, "admitted")
      assert.strictEqual(String(whole.theirs.read()), "x")
    })
  )

  it.effect("takes each refusal, and an end, for what it is", () =>
    Effect.gen(function* () {
      for (const token of Refusal.tokens)
        for (const before of [[], [challenge]])
          assert.deepInclude(yield* (yield* passing([...before, Refusal.encode(token), "end"])).outcome, {
            _tag: "Refused",
            token
          })
      for (const pieces of [["end"], [challenge, "end"], [challenge, reply.subarray(0, 9), "end"]] as const)
        assert.notInclude(["waiting", "admitted"], yield* (yield* passing(pieces)).outcome)
    })
  )

  it.effect("gives each step 15 s", () =>
    Effect.gen(function* () {
      const { edge, outcome } = yield* passing([])
      yield* TestClock.adjust(14_999)
      yield* say(edge, challenge)
      yield* TestClock.adjust(14_999)
      assert.strictEqual(yield* outcome, "waiting")
      yield* TestClock.adjust(1)
      assert.notStrictEqual(yield* outcome, "waiting")
      assert.isTrue(edge.theirs.destroyed)
      const { outcome: silent } = yield* passing([])
      yield* TestClock.adjust(15_000)
      assert.notStrictEqual(yield* silent, "waiting")
    })
  )
})

describe("a handshake", () => {
  it.effect("has 10 s for the first message of the peer, on either side", () =>
    Effect.gen(function* () {
      const own = native.x25519.keyPair(member.noiseSecret)
      const sides = [
        (stream: Duplex) => Effect.asVoid(MeshHandshake.answer(stream, [own], () => Result.succeed(new Uint8Array(0)))),
        (stream: Duplex) => Effect.asVoid(MeshHandshake.begin(stream, peer.noiseKey, new Uint8Array(0), own))
      ]
      for (const side of sides) {
        const edge = makeEdge()
        const { outcome } = yield* watched(side(edge.theirs))
        yield* say(edge, Buffer.of(0))
        yield* TestClock.adjust(9_999)
        assert.strictEqual(yield* outcome, "waiting")
        yield* TestClock.adjust(1)
        assert.include(String(yield* outcome), "nothing within 10 s")
      }
    }).pipe(Effect.provide(SecureRandom.layerWebCrypto))
  )
})
