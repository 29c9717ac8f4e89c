/** The room beside a model of it that is a plain list: random joins, deaths, supersessions, ends of grants and moving homes. */
import { Dice } from "@catenet/testing/wire/dice"
import { integer } from "@catenet/testing/wire/frames/arbitraries"
import { heardMillis, PairingRoom, type Present } from "@catenet/wire/channels/PairingRoom"
import { assert, describe, it } from "@effect/vitest"
import { ranked } from "../../src/channels/ChannelPlacement.ts"
import type { Member } from "../../src/channels/Member.ts"

interface Leg extends Present {
  readonly member: Member
  readonly name: number
  readonly arrivedAt: number
}

const parkMillis = 30_000
const key = (byte: number) => new Uint8Array(32).fill(byte)
const directions = ["initiate", "accept", "both"] as const
const phases = [undefined, "rendezvous", "relay"] as const

/** The grant of an ended member is over at that time, and holds under the key that its operator had. */
const holds = ({ grant }: Member, operatorKey: Uint8Array, now: number) =>
  now < Number(grant.expiresAt) && grant.signature[0] === operatorKey[0]

const memberOf = (dice: Dice, channel: string, now: number, operator: number): Member => {
  const holder = dice.between(1, 3)
  return {
    channel,
    holder: String(holder),
    grant: {
      channel: key(0),
      holder: key(holder),
      direction: dice.pick(directions),
      rights: "rw",
      delegable: false,
      expiresAt: BigInt(now + dice.pick([1_000, 20_000, 1_000_000])),
      signature: key(dice.between(0, 9) === 0 ? operator - 1 : operator)
    },
    endpoint: "relay-only",
    phase: dice.pick(phases),
    authorization: { operatorKey: key(operator), noise: undefined },
    authorizedAt: now,
    observed: undefined,
    keepAlive: dice.pick([true, false])
  }
}

const begins = (a: Leg, b: Leg) => a.member.grant.direction !== "accept" && b.member.grant.direction !== "initiate"

/** Whether the two may meet at all, whatever their grants say of the time. */
const fit = (a: Leg, b: Leg) =>
  a.member.channel === b.member.channel &&
  a.member.holder !== b.member.holder &&
  (a.member.phase === undefined || b.member.phase === undefined || a.member.phase === b.member.phase) &&
  (begins(a, b) || begins(b, a))

const runs = Number(process.env["CATENET_PROPERTY_RUNS"] ?? 60)

describe("a room", () => {
  it.prop(
    "pairs each leg once and with no stranger, forgets none that waits, and keeps four places for each holder",
    { seed: integer(0, 0x7fff_ffff) },
    ({ seed }) => {
      const dice = new Dice(seed)
      const room = new PairingRoom<Leg>({ holds, parkMillis: () => parkMillis })
      const channels = ["x", "y"]
      const met = new Set<number>()
      let waiting: Array<Leg> = []
      let now = 1_000
      let operator = 5
      const gone = (legs: Iterable<Leg>) => {
        const over = new Set(legs)
        waiting = waiting.filter((leg) => !over.has(leg))
      }

      const join = (name: number) => {
        const leg = { name, arrivedAt: now, member: memberOf(dice, dice.pick(channels), now, operator) }
        const { pairing, refused, superseded } = room.arrive(leg, now)
        for (const other of refused) {
          const isRightful = other === leg || waiting.includes(other)
          assert.isTrue(isRightful, "only the newcomer and those who wait are refused")
        }
        if (pairing !== undefined) {
          const other = pairing.initiator === leg ? pairing.acceptor : pairing.initiator
          assert.isTrue(waiting.includes(other), "its peer has waited")
          assert.isTrue(fit(leg, other), "they fit")
          assert.isTrue(begins(pairing.initiator, pairing.acceptor), "the one that begins may")
          for (const one of [leg, other]) {
            assert.isTrue(holds(one.member, key(operator), now) || other.member.authorizedAt === now)
            assert.isFalse(met.has(one.name), "one leg has one session")
            met.add(one.name)
          }
          const meet = leg.member.phase === "rendezvous" && other.member.phase === "rendezvous"
          assert.strictEqual(pairing.completion, meet ? "close" : "splice")
          const older = waiting.filter((each) => each.arrivedAt < other.arrivedAt && !refused.includes(each))
          for (const each of older) assert.isFalse(fit(leg, each) && holds(each.member, key(operator), now))
          gone([other])
        } else if (!refused.includes(leg)) {
          assert.strictEqual(superseded.length > 0, ofHolder(leg).length === 4, "a fifth place ends the oldest")
          waiting.push(leg)
        }
        for (const each of superseded) assert.strictEqual(each, ofHolder(leg)[0])
        gone([...refused, ...superseded])
      }
      const ofHolder = ({ member }: Leg) =>
        waiting.filter((each) => each.member.channel === member.channel && each.member.holder === member.holder)

      for (let step = 0; step < 120; step++) {
        const chance = dice.between(0, 99)
        if (chance < 60) join(step)
        else if (chance < 75 && waiting.length > 0) {
          const leaving = dice.pick(waiting)
          assert.isTrue(room.leave(leaving, now))
          assert.isFalse(room.leave(leaving, now), "it has left once")
          gone([leaving])
        } else if (chance < 77) operator += 1
        else {
          now += dice.pick([1, 1_000, 9_000, 16_000])
          const { due, expired } = room.tick(now)
          const over = waiting.filter(({ arrivedAt }) => arrivedAt + parkMillis <= now)
          assert.sameMembers([...expired], over)
          gone(over)
          for (const leg of due) assert.isTrue(waiting.includes(leg) && leg.member.keepAlive)
        }
        for (const channel of channels)
          assert.deepStrictEqual(
            room.waiting(channel).map(({ name }) => name),
            waiting.filter(({ member }) => member.channel === channel).map(({ name }) => name)
          )
        assert.strictEqual(room.size, waiting.length)
      }
    },
    { arbitrary: { runs } }
  )
})

describe("members of one direction", () => {
  const channel = "x"
  const base = memberOf(new Dice(1), channel, 0, 5)
  const grants = {
    accept: { ...base.grant, direction: "accept" },
    initiate: { ...base.grant, direction: "initiate" }
  } as const
  const legOf = (holder: number, direction: keyof typeof grants): Leg => ({
    name: holder,
    arrivedAt: 0,
    member: { ...base, holder: String(holder), phase: undefined, grant: grants[direction] }
  })
  const always = { holds: () => true, parkMillis: () => 10_000_000 }
  it("hear it at the first of their waits, and wait beside each other when they come again within two minutes", () => {
    const room = new PairingRoom<Leg>(always)
    const [a, b, c] = [legOf(1, "accept"), legOf(2, "accept"), legOf(3, "accept")]
    const refusedOf = (leg: Leg, now: number) => room.arrive(leg, now).refused.map(({ name }) => name)
    assert.deepStrictEqual([refusedOf(a, 0), refusedOf(b, 0)], [[], [1, 2]])
    assert.deepStrictEqual([refusedOf(a, 1), refusedOf(b, 1)], [[], []])
    assert.deepStrictEqual(refusedOf(c, 2), [3], "who waits already has heard it")
    assert.deepStrictEqual(refusedOf(c, 3), [])
    const names = () => room.waiting(channel).map(({ name }) => name)
    assert.deepStrictEqual(names(), [1, 2, 3])
    // Who begins meets the one that has waited the longest, and that one waits behind the others when it comes again.
    const begin = legOf(9, "initiate")
    assert.strictEqual(room.arrive(begin, 4).pairing?.acceptor, a)
    assert.deepStrictEqual(refusedOf(a, 5), [])
    assert.deepStrictEqual(names(), [2, 3, 1])
    // However long they wait, they are known to have heard it; from then on the time counts.
    const left = 100 * heardMillis
    for (const leg of [a, b, c]) room.leave(leg, left)
    room.arrive(b, left + heardMillis - 1)
    assert.deepStrictEqual(refusedOf(a, left + heardMillis - 1), [])
    for (const leg of [a, b]) room.leave(leg, left + heardMillis)
    room.arrive(b, left + 2 * heardMillis)
    assert.deepStrictEqual(refusedOf(a, left + 2 * heardMillis), [2, 1])
  })

  it("are forgotten when there are more than 65,536 of them, the one that was seen the longest ago first", () => {
    const room = new PairingRoom<Leg>(always)
    const first = legOf(0, "accept")
    const beside = legOf(70_000, "accept")
    room.arrive(first, 0)
    assert.lengthOf(room.arrive(beside, 0).refused, 2)
    room.arrive(beside, 0)
    let refused = 0
    for (let holder = 1; holder <= 65_534; holder++) refused += room.arrive(legOf(holder, "accept"), 0).refused.length
    assert.strictEqual(refused, 65_534)
    assert.deepStrictEqual(room.arrive(first, 0).refused, [], "it is the last that is remembered")
    room.leave(first, 0)
    for (let holder = 65_535; holder <= 65_536; holder++) room.arrive(legOf(holder, "accept"), 0)
    assert.deepStrictEqual(
      room.arrive(legOf(1, "accept"), 0).refused.map(({ name }) => name),
      [1]
    )
  })
})

interface Edge {
  readonly id: string
  readonly room: PairingRoom<Leg>
  lives: boolean
}

describe("rooms of several edges", () => {
  it.prop(
    "leave no two members waiting for each other and forget none while homes come and go and members die",
    { seed: integer(0, 0x7fff_ffff) },
    ({ seed }) => {
      const dice = new Dice(seed)
      const always = { holds: () => true, parkMillis: () => 1_000_000 }
      const edges: ReadonlyArray<Edge> = ["a", "b", "c"].map((id) => ({
        id,
        room: new PairingRoom<Leg>(always),
        lives: true
      }))
      const sessions = new Map<number, number>()
      const homeOf = (channel: string) => {
        const live = edges.filter(({ lives }) => lives).map(({ id }) => id)
        const [home] = ranked(channel, live)
        return edges.find(({ id }) => id === home)!
      }
      const comes = (leg: Leg): void => {
        const { pairing, refused, superseded } = homeOf(leg.member.channel).room.arrive(leg, 0)
        if (pairing !== undefined) {
          assert.isTrue(fit(pairing.initiator, pairing.acceptor))
          for (const { name } of [pairing.initiator, pairing.acceptor])
            sessions.set(name, (sessions.get(name) ?? 0) + 1)
        }
        for (const each of [...refused, ...superseded]) living.delete(each.name)
      }
      /** Those in the room come again, as a member does that hears `EX` or loses its connection. */
      const sendAway = (room: PairingRoom<Leg>, meant: (leg: Leg) => boolean) => {
        const away = room.waiting().filter(meant)
        for (const leg of away) room.leave(leg, 0)
        for (const leg of away) comes(leg)
      }
      const living = new Map<number, Leg>()
      for (let step = 0; step < 60; step++) {
        const edge = dice.pick(edges)
        const chance = dice.between(0, 9)
        if (chance < 6) {
          const leg = { name: step, arrivedAt: step, member: memberOf(dice, dice.pick(["x", "y", "z"]), 0, 5) }
          living.set(step, leg)
          comes(leg)
        } else if (chance === 6) {
          const [name, leg] = dice.pick([...living]) ?? []
          if (name === undefined || leg === undefined) continue
          const left = edges.filter(({ room }) => room.leave(leg, 0))
          assert.strictEqual(
            left.length,
            sessions.has(name) ? 0 : 1,
            "a member that dies has waited in one room or has met"
          )
          if (left.length > 0) living.delete(name)
        } else if (chance === 7 && edge.lives && edges.filter(({ lives }) => lives).length > 1) {
          edge.lives = false
          sendAway(edge.room, () => true)
        } else {
          edge.lives = true
          for (const each of edges) sendAway(each.room, ({ member }) => homeOf(member.channel) !== each)
        }
        const waiting = edges.flatMap(({ room }) => room.waiting())
        for (const [name, leg] of living)
          assert.strictEqual(waiting.includes(leg), !sessions.has(name), "it waits or has met")
        for (const [name, count] of sessions) assert.strictEqual(count, 1, `leg ${name} has one session`)
        for (const [index, leg] of waiting.entries())
          for (const other of waiting.slice(index + 1)) assert.isFalse(fit(leg, other), "none waits for another one")
      }
    },
    { arbitrary: { runs: Math.ceil(runs / 3) } }
  )
})
