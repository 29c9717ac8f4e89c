import * as Hex from "@catenet/crypto/Hex"
import * as Json from "@catenet/crypto/Json"
import * as Bid from "@catenet/crypto/market/Bid"
import * as MatchRef from "@catenet/crypto/market/MatchRef"
import * as Offer from "@catenet/crypto/market/Offer"
import { native } from "@catenet/crypto/native"
import { isAlive } from "@catenet/testing/agent/Agent"
import { eventually } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import { once } from "node:events"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { MessagesCut } from "../../src/channel/rpc/MessageReader.ts"
import { servicesOf } from "../../src/channel/serve/MemberTools.ts"
import { OfferBook } from "../../src/channel/serve/OfferBook.ts"
import { RejoinBackoff } from "../../src/channel/serve/RejoinBackoff.ts"
import * as ServeLoop from "../../src/channel/serve/ServeLoop.ts"
import * as ServiceHandler from "../../src/channel/serve/ServiceHandler.ts"
import type { ConnectionStrategy } from "../../src/channel/session/ConnectionStrategies.ts"
import { AllStrategiesFailed } from "../../src/channel/session/FallbackDialer.ts"
import type { OfferTerms } from "../../src/settings/MemberSettings.ts"
import * as EdgeDial from "../../src/tunnel/EdgeDial.ts"

const outcomes = ["served", "expired", "refused", "torn", "flapped", "failed"] as const

describe("the pauses of a serving member", () => {
  it("double from 200 ms to 30 s after refusals, and to 10 s after torn dials and sessions that fail at once", () => {
    const pauses = (outcome: (typeof outcomes)[number]) => {
      const backoff = new RejoinBackoff()
      return Array.from({ length: 9 }, () => backoff.after(outcome))
    }
    assert.deepStrictEqual(pauses("refused"), [200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000])
    for (const outcome of ["torn", "flapped"] as const)
      assert.deepStrictEqual(pauses(outcome), [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000])
    assert.deepStrictEqual(new Set(pauses("failed")), new Set([200]))
    assert.deepStrictEqual(new Set(pauses("expired")), new Set([200]))
  })

  it.prop(
    "stay between 0 and 30 s, and begin anew after a session that held",
    [Schema.Array(Schema.Literals(outcomes))],
    ([history]) => {
      const backoff = new RejoinBackoff()
      for (const outcome of history) {
        const pause = backoff.after(outcome)
        assert.isTrue(pause >= 0 && pause <= 30_000)
      }
      assert.strictEqual(backoff.after("served"), 0)
      assert.strictEqual(backoff.after("refused"), 200)
    }
  )
})

describe("the serve loop", () => {
  it.live("admits no more peers than there are permits, and the next one when a session has ended", () =>
    Effect.gen(function* () {
      let admitted = 0
      let running = 0
      let most = 0
      const loop = ServeLoop.run(
        3,
        Effect.sync(() => ++admitted),
        () =>
          Effect.gen(function* () {
            most = Math.max(most, ++running)
            yield* Effect.promise(() => setImmediate())
            running--
          })
      )
      yield* Effect.raceFirst(
        Effect.scoped(loop),
        Effect.promise(() => eventually(() => admitted > 20, "twenty sessions"))
      )
      assert.strictEqual(most, 3)
    })
  )

  it.effect("waits longer after each session that fails at once", () =>
    Effect.gen(function* () {
      let admitted = 0
      const failing = ServeLoop.run(
        1,
        Effect.sync(() => ++admitted),
        () => Effect.fail(new MessagesCut({ why: "at once" }))
      )
      const fiber = yield* Effect.forkChild(Effect.scoped(failing))
      const after = (millis: number) => Effect.map(TestClock.adjust(millis), () => admitted)
      assert.strictEqual(yield* after(0), 1)
      assert.strictEqual(yield* after(199), 1)
      assert.strictEqual(yield* after(1), 2)
      assert.strictEqual(yield* after(399), 2)
      assert.strictEqual(yield* after(1), 3)
      yield* Fiber.interrupt(fiber)
    })
  )
})

describe("a member whose TLS is cut early", () => {
  it.live.each(["end", "resetAndDestroy"] as const)("joins ever more rarely when the edge does it by %s", (how) =>
    Effect.gen(function* () {
      const server = createServer((socket) => void socket.on("error", () => {})[how]()).listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(server, "listening"))
      const address = { host: "127.0.0.1", port: (server.address() as AddressInfo).port }
      const error = yield* Effect.flip(EdgeDial.dial(address, undefined, ["ct-edge-channel-ka"]))
      server.close()
      const rung: ConnectionStrategy = {
        name: "front-door",
        address,
        serverName: "localhost",
        alpn: [],
        root: "",
        dialMillis: 1_000
      }
      const refused = new EdgeDial.DialFailed({ edge: "other", why: "refused", untrusted: false })
      const attempts = [refused, error].map((error) => ({ rung, error }))
      let joins = 0
      yield* Effect.gen(function* () {
        const admit = Effect.suspend(() => Effect.fail(new AllStrategiesFailed({ attempts: (joins++, attempts) })))
        const fiber = yield* Effect.forkChild(Effect.scoped(ServeLoop.run(1, admit, () => Effect.void)))
        for (const pause of [200, 400, 800, 1_600]) {
          const before = joins
          yield* TestClock.adjust(pause - 1)
          assert.strictEqual(joins, Math.max(before, 1), `${pause}`)
          yield* TestClock.adjust(1)
          assert.strictEqual(joins, Math.max(before, 1) + 1)
        }
        yield* Fiber.interrupt(fiber)
      }).pipe(Effect.provide(TestClock.layer()))
    })
  )
})

describe("a service's command", () => {
  const command = (line: string) => ({ line, service: "a", passes: [] })

  it.effect("is ended with all it has started when it does not end within 120 s", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.promise(() => mkdtemp(join(tmpdir(), "handler-")))
      const file = join(folder, "pids")
      const line = `sleep 600 & echo "$$ $!" > '${file}'; wait`
      const fiber = yield* Effect.forkChild(Effect.flip(ServiceHandler.call(command(line), "x")))
      const pids = yield* Effect.promise(async () => {
        let text = ""
        await eventually(async () => {
          text = await readFile(file, "utf8").catch(() => "")
          return /\d+ \d+/.test(text)
        }, "the command runs")
        return text.trim().split(" ").map(Number)
      })
      yield* TestClock.adjust("119 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 seconds")
      assert.include((yield* Fiber.join(fiber)).message, "did not end within 120 s")
      yield* Effect.promise(() => eventually(() => !pids.some(isAlive), "the group is gone"))
      yield* Effect.promise(() => rm(folder, { recursive: true }))
    })
  )

  it.live("is not waited for by what it leaves behind, and its answer is whole", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* ServiceHandler.call(command("sleep 600 & cat"), "whole"), "whole")
      const flood = yield* Effect.flip(ServiceHandler.call(command("yes"), ""))
      assert.include(flood.message, "printed more than")
      const killed = yield* Effect.flip(ServiceHandler.call(command("kill -9 $$"), ""))
      assert.include(killed.message, "SIGKILL")
      const tail = yield* Effect.flip(
        ServiceHandler.call(command("yes x | head -c 5000 >&2; echo end >&2; exit 1"), "")
      )
      assert.isAtMost(tail.message.length, ServiceHandler.tailBytes + 40)
      assert.include(tail.message, "end")
    })
  )
})

const holder = Redacted.make(new Uint8Array(32).fill(1))
const bidder = Redacted.make(new Uint8Array(32).fill(2))
const terms: OfferTerms = {
  kind: "LocalHardware",
  models: ["m"],
  unitsAvailable: 10n,
  minPrice: 5n,
  currencyId: "eur",
  services: ["TextGeneration"],
  ttlSecs: 100,
  limit: { bids: 3, window: 60 }
}
const bid = (more: Partial<Bid.Bid> = {}) =>
  Bid.json.toJson(
    Bid.sign(native, bidder, {
      kind: "LocalHardware",
      model: "m",
      units: 4n,
      totalPrice: 5n,
      issuedAt: 1000n,
      expiresAt: 2000n,
      termsAck: new Uint8Array(32),
      service: null,
      ...more
    })
  )
const caller = { noiseKey: new Uint8Array(32).fill(3), rights: "rw" as const }

describe("an offer", () => {
  const book = (more: Partial<OfferTerms> = {}) => new OfferBook({ ...terms, ...more }, holder)
  const refusal = (result: ReturnType<OfferBook["bid"]>) => Result.getOrThrow(Result.flip(result)).message

  it("is the same for most of its time, and signed anew before it expires", () => {
    const offers = book()
    const first = offers.current(1000n)
    assert.isTrue(Offer.verify(native, first, 1099n))
    assert.strictEqual(offers.current(1089n), first)
    const second = offers.current(1090n)
    assert.isTrue(Offer.verify(native, second, 1189n))
    assert.notDeepEqual(second.signature, first.signature)
    const long = book({ ttlSecs: 86_400 })
    const day = long.current(0n)
    assert.strictEqual(long.current(86_339n), day)
    assert.notStrictEqual(long.current(86_340n), day)
    const brief = book({ ttlSecs: 1 })
    assert.strictEqual(brief.current(1000n).expiresAt, 1001n)
    assert.isTrue(Offer.verify(native, brief.current(1001n), 1001n))
  })

  it("promises no more units than it has", () => {
    const offers = book()
    const match = Result.getOrThrow(offers.bid({ bid: bid() }, caller, 1000n))
    assert.include(match as object, { units: 4n, total_price: 5n, kind: "LocalHardware", model: "m" })
    assert.isTrue(Result.isSuccess(offers.bid({ bid: bid({ units: 6n }) }, caller, 1000n)))
    assert.include(refusal(offers.bid({ bid: bid({ units: 1n }) }, caller, 1000n)), "units")
  })

  it("sells its units once while the one before is valid too, to each bid by the offer that its bidder saw", () => {
    const offers = book({ limit: { bids: 60, window: 60 } })
    const first = offers.current(1000n)
    const second = offers.current(1095n)
    const referenceOf = (issuedAt: bigint, units: bigint, offer: Offer.Offer) => {
      const {
        bidder: consumer,
        kind,
        model,
        totalPrice
      } = Result.getOrThrow(Bid.json.fromJson(bid({ issuedAt, units })))
      const facts = { provider: offer.holder, consumer, kind, model, units, totalPrice }
      return Hex.encode(MatchRef.ofMatch(native, { ...facts, bidIssuedAt: issuedAt, offerIssuedAt: offer.issuedAt }))
    }
    const taken = (issuedAt: bigint, units: bigint, now: bigint) =>
      Result.getOrThrow(offers.bid({ bid: bid({ issuedAt, units }) }, caller, now))
    assert.include(taken(1094n, 3n, 1096n) as object, { match_ref: referenceOf(1094n, 3n, first) })
    assert.include(taken(1095n, 3n, 1096n) as object, { match_ref: referenceOf(1095n, 3n, second) })
    assert.include(refusal(offers.bid({ bid: bid({ issuedAt: 1096n, units: 5n }) }, caller, 1099n)), "units")
    // What was promised of the first is over with it.
    assert.include(taken(1096n, 7n, 1100n) as object, { match_ref: referenceOf(1096n, 7n, second) })
    assert.include(refusal(offers.bid({ bid: bid({ issuedAt: 1096n, units: 1n }) }, caller, 1100n)), "units")
  })

  it("takes the contract's sixty bids of a consumer in a window of sixty seconds, and not one more", () => {
    const offers = book({ unitsAvailable: 1_000n, limit: { bids: 60, window: 60 }, ttlSecs: 86_400 })
    const other = { noiseKey: new Uint8Array(32), rights: "rw" as const }
    const bids = (from: typeof caller, count: number, now: bigint) =>
      Array.from({ length: count }, () => offers.bid({ bid: bid({ units: 1n }) }, from, now)).map(Result.isSuccess)
    // 1019 is the last second of its window, and 1020 the first of the next one.
    assert.deepStrictEqual(new Set(bids(caller, 60, 1019n)), new Set([true]))
    assert.include(refusal(offers.bid({ bid: bid({ units: 1n }) }, caller, 1019n)), "too many bids: 60 in 60 s")
    assert.deepStrictEqual(bids(other, 1, 1019n), [true])
    assert.deepStrictEqual(new Set(bids(caller, 60, 1020n)), new Set([true]))
    assert.deepStrictEqual([...bids(caller, 1, 1079n), ...bids(caller, 1, 1080n)], [false, true])
    const endless = book({ unitsAvailable: 1_000n, limit: { bids: 2, window: 0 } })
    const ever = [1000n, 1500n, 1999n].map((now) => Result.isSuccess(endless.bid({ bid: bid() }, caller, now)))
    assert.deepStrictEqual(ever, [true, true, false])
    const none = book({ limit: { bids: 0, window: 60 } })
    assert.include(refusal(none.bid({ bid: bid() }, caller, 1000n)), "too many bids")
  })

  it("refuses bids in the order of the specification", () => {
    const offers = book({ limit: { bids: 1, window: 60 } })
    const say = (args: Parameters<OfferBook["bid"]>[0], now = 1000n) => refusal(offers.bid(args, caller, now))
    assert.include(say({}), "wants a bid")
    assert.include(say({ bid: {} }), "cannot be read")
    assert.include(say({ bid: { ...(bid() as object), units: 9n } }), "does not verify")
    assert.include(say({ bid: bid() }, 2000n), "has expired")
    assert.include(say({ bid: bid({ totalPrice: 4n }) }), "does not clear")
    assert.include(say({ bid: bid() }), "too many bids")
    const other = { noiseKey: new Uint8Array(32), rights: "rw" as const }
    assert.isTrue(Result.isSuccess(offers.bid({ bid: bid() }, other, 1000n)))
    assert.isTrue(Result.isSuccess(offers.bid({ bid: bid() }, caller, 1060n)))
    assert.strictEqual(
      Hex.encode(offers.current(1060n).holder),
      Hex.encode(native.ed25519.publicKey(Redacted.value(holder)))
    )
  })

  it("takes no bid that was changed on its way, and promises nothing for one", () => {
    const offers = book({ limit: { bids: 5_000, window: 60 } })
    const text = Json.write(bid({ units: 1n, service: "TextGeneration" }))
    const most = Number(process.env["CT_MUTATED_OFFERS"] ?? 300)
    for (let n = 0; n < most; n++) {
      const at = (n * 7) % text.length
      const changed = [
        `${text.slice(0, at)}${String.fromCharCode((text.charCodeAt(at) ^ (1 << (n % 5))) & 0x7f)}${text.slice(at + 1)}`,
        text.slice(0, at),
        `${text.slice(0, at)}${text.slice(at + 1 + (n % 3))}`
      ][n % 3]
      const parsed = Json.parse(changed ?? "")
      // A hex digit in upper case is the same digit.
      if (Result.isFailure(parsed) || changed?.toLowerCase() === text.toLowerCase()) continue
      assert.isTrue(Result.isFailure(offers.bid({ bid: parsed.success }, caller, 1000n)), changed)
    }
    assert.isTrue(Result.isSuccess(offers.bid({ bid: bid({ units: 10n }) }, caller, 1000n)))
  })

  it("is a ceiling for the services", () => {
    const services = ["TextGeneration", { Custom: "My Tool" }, { Custom: "" }] as const
    assert.deepStrictEqual(servicesOf({ offer: undefined, services }), {
      served: ["text_generation", "my_tool"],
      refused: []
    })
    assert.deepStrictEqual(servicesOf({ offer: terms, services }), {
      served: ["text_generation"],
      refused: ["my_tool"]
    })
    assert.deepStrictEqual(servicesOf({ offer: terms, services: undefined }), {
      served: ["text_generation"],
      refused: []
    })
    assert.deepStrictEqual(servicesOf({ offer: undefined, services: undefined }), { served: [], refused: [] })
  })
})
