import { ChannelId, maxRoomHolders, minRoomHolders, RoomPair } from "@catenet/domain/channels/Channel"
import { HolderRepeated, RoomPairTaken, RoomSizeOutOfRange } from "@catenet/domain/channels/ChannelErrors"
import type { StoredChannel } from "@catenet/domain/channels/ChannelOperator"
import { open, pairsOf } from "@catenet/domain/channels/Room"
import { Subject } from "@catenet/domain/values/Ids"
import { HolderKey, OperatorKey } from "@catenet/domain/values/Keys"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { between, history, often } from "../values/history.ts"

const hex = (n: number) => n.toString(16).padStart(64, "0")
const holder = (n: number) => Schema.decodeSync(HolderKey)(hex(n))
const operator = (n: number) => Schema.decodeSync(OperatorKey)(hex(n))
/** The channel of two holders under an operator; it does not depend on their order, as the derived ids do not. */
const channelOf = (key: OperatorKey, a: HolderKey, b: HolderKey) =>
  Schema.decodeSync(ChannelId)(
    [a, b]
      .sort()
      .map((text) => text.slice(-2))
      .join("")
      .padStart(64, key.slice(-1))
  )
const meshOf = (key: OperatorKey, holders: ReadonlyArray<HolderKey>) =>
  Result.getOrThrow(pairsOf(holders)).map(([a, b]) => new RoomPair({ a, b, channel: channelOf(key, a, b) }))

const Event = Schema.Struct({
  owner: Schema.Literals(["Ada", "bob"]),
  operator: between(1, 2),
  first: between(0, 5),
  holders: between(2, 4),
  takenOver: Schema.Boolean,
  proved: Schema.Boolean
})

describe("rooms", () => {
  it.prop(
    "a room is a full mesh of 2 to 12 holders, each named once",
    [Schema.Array(between(0, 15)).pipe(Schema.check(Schema.isMaxLength(14)))],
    ([numbers]) => {
      const holders = numbers.map(holder)
      const answer = pairsOf(holders)
      const twice = holders.find((key, n) => holders.indexOf(key) < n)
      if (holders.length < minRoomHolders || holders.length > maxRoomHolders)
        return assert.deepStrictEqual(answer, Result.fail(new RoomSizeOutOfRange({ holders: holders.length })))
      if (twice !== undefined) return assert.deepStrictEqual(answer, Result.fail(new HolderRepeated({ holder: twice })))
      const pairs = Result.getOrThrow(answer)
      assert.lengthOf(pairs, (holders.length * (holders.length - 1)) / 2)
      for (const [a, b] of pairs) assert.isBelow(holders.indexOf(a), holders.indexOf(b))
      assert.strictEqual(new Set(pairs.map(([a, b]) => `${a} ${b}`)).size, pairs.length)
    },
    often
  )

  it.prop(
    "a room adds the channels that are missing, once and with one audit entry, and takes one of another account only with more proof",
    [history(Event)],
    ([events]) => {
      const stored = new Map<ChannelId, StoredChannel>()
      for (const event of events) {
        const proof = event.proved ? ("derived" as const) : ("none" as const)
        const room = { owner: Subject.make(event.owner), operatorPubkey: operator(event.operator), proof }
        const holders = Array.from({ length: event.holders }, (_, n) => holder(event.first + n))
        const pairs = meshOf(room.operatorPubkey, holders)
        const [one] = pairs
        if (event.takenOver && one !== undefined && !stored.has(one.channel))
          stored.set(one.channel, { ...room, operatorPubkey: operator(3) })
        const differs = (channel: ChannelId) => {
          const found = stored.get(channel)
          if (found === undefined) return false
          if (found.owner !== room.owner) return !(event.proved && found.proof === "none")
          return found.operatorPubkey !== room.operatorPubkey
        }
        const yielding = pairs.flatMap(({ channel }) => {
          const found = stored.get(channel)
          return found === undefined || found.owner === room.owner ? [] : [{ channel, from: found.owner }]
        })
        const taken = pairs.find(({ channel }) => differs(channel))
        const answer = open(pairs, stored, room)
        if (taken !== undefined) {
          assert.deepStrictEqual(answer, Result.fail(new RoomPairTaken({ a: taken.a, b: taken.b })))
          continue
        }
        const { effects, next } = Result.getOrThrow(answer)
        const missing = pairs.flatMap(({ channel }) => (stored.has(channel) ? [] : [channel]))
        assert.deepStrictEqual(next, { fresh: missing, taken: yielding.map(({ channel }) => channel) })
        assert.deepStrictEqual(
          effects.map(({ action, actor, detail, target }) => [action, actor, target, detail]),
          [
            ...yielding.flatMap(({ channel, from }) => [
              ["channel_taken_over", event.owner.toLowerCase(), channel, room.operatorPubkey],
              ["channel_yielded", from.toLowerCase(), channel, room.operatorPubkey]
            ]),
            ...(missing.length === 0
              ? []
              : [["room_opened", event.owner.toLowerCase(), room.operatorPubkey, `channels=${missing.length}`]])
          ]
        )
        for (const channel of [...next.fresh, ...next.taken]) stored.set(channel, room)
        const again = Result.getOrThrow(open(pairs, stored, room))
        assert.deepStrictEqual(again, { next: { fresh: [], taken: [] }, effects: [] })
      }
    },
    often
  )
})
