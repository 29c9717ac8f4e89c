/** Rooms: all pairwise channels of a full mesh, registered in one transaction. Opening a room again adds nothing. */
import * as ChannelIds from "@catenet/crypto/ChannelIds"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import type { Caller } from "@catenet/domain/api/Access"
import { ChannelId, maxRoomHolders, minRoomHolders, RoomPair } from "@catenet/domain/channels/Channel"
import {
  HolderRepeated,
  RoomPairTaken,
  RoomSizeOutOfRange,
  type ChannelLimitReached
} from "@catenet/domain/channels/ChannelErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import type { HolderKey, OperatorKey } from "@catenet/domain/values/Keys"
import { Array as Arr, Context, Effect, Layer, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { type Page, pagedOf } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { unixSeconds } from "../runtime/Now.ts"
import { bytesOf } from "../runtime/Secrets.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { Channels } from "./Channels.ts"
import * as ChannelStore from "./ChannelStore.ts"
import * as Store from "./RoomStore.ts"

type Account = Caller["Service"]

const idFrom = Schema.decodeSync(ChannelId)

/** The pairs of a full mesh, in the order of the holders. */
const pairsOf = (operator: OperatorKey, holders: ReadonlyArray<HolderKey>) =>
  holders.flatMap((a, n) =>
    holders.slice(n + 1).map((b) => {
      const id = ChannelIds.link(native, bytesOf(operator), bytesOf(a), bytesOf(b))
      return new RoomPair({ a, b, channel: idFrom(Hex.encode(id)) })
    })
  )

const check = (holders: ReadonlyArray<HolderKey>) => {
  if (holders.length < minRoomHolders || holders.length > maxRoomHolders)
    return new RoomSizeOutOfRange({ holders: holders.length })
  const repeated = holders.find((holder, n) => holders.indexOf(holder) !== n)
  return repeated === undefined ? Effect.void : new HolderRepeated({ holder: repeated })
}

export class Rooms extends Context.Service<
  Rooms,
  {
    /** Opens a room; answers every pair, also those that were registered before. */
    readonly open: (
      account: Account,
      operator: OperatorKey,
      holders: ReadonlyArray<HolderKey>
    ) => Effect.Effect<
      ReadonlyArray<RoomPair>,
      ChannelLimitReached | HolderRepeated | RoomPairTaken | RoomSizeOutOfRange
    >
    /** The pairs of all rooms of the account, sorted by channel. */
    readonly list: (
      account: Account,
      page: Page
    ) => Effect.Effect<ReadonlyArray<RoomPair>, never, HttpServerRequest.HttpServerRequest>
  }
>()("server/channels/Rooms") {
  static readonly make = Effect.gen(function* () {
    const channels = yield* ChannelStore.make
    const store = yield* Store.make
    const audits = yield* Audits
    const { checkLimit } = yield* Channels

    const register = Effect.fnUntraced(function* (
      owner: string,
      operator: OperatorKey,
      pairs: ReadonlyArray<RoomPair>
    ) {
      const ids = pairs.map(({ channel }) => channel)
      yield* channels.lockAll(ids)
      const known = new Map((yield* channels.findAll(ids)).map((row) => [row.channel, row]))
      for (const { a, b, channel } of pairs) {
        const row = known.get(channel)
        if (row !== undefined && (row.owner !== owner || row.operatorPubkey !== operator)) {
          return yield* new RoomPairTaken({ a, b })
        }
      }
      const fresh = ids.filter((channel) => !known.has(channel))
      if (Arr.isReadonlyArrayNonEmpty(fresh)) {
        yield* checkLimit(owner, fresh.length)
        const createdAt = yield* unixSeconds
        yield* channels.insert(Arr.map(fresh, (channel) => ({ channel, owner, operatorPubkey: operator, createdAt })))
        yield* audits.append(audit("room_opened", owner, operator, `channels=${fresh.length}`))
      }
      if (Arr.isReadonlyArrayNonEmpty(pairs)) yield* store.put(pairs)
    })

    return {
      open: Effect.fn("Rooms.open")(function* (
        { subject }: Account,
        operator: OperatorKey,
        holders: ReadonlyArray<HolderKey>
      ) {
        yield* check(holders)
        const pairs = pairsOf(operator, holders)
        yield* channels.transaction(register(subject, operator, pairs))
        return pairs
      }, sqlOrDie),

      list: Effect.fn("Rooms.list")(function* ({ subject }: Account, page: Page) {
        return yield* pagedOf(page, subject, store.list, ({ channel }) => channel)
      }, sqlOrDie)
    }
  })

  static readonly layerNoDeps = Layer.effect(Rooms, Rooms.make)
  static readonly layer = Rooms.layerNoDeps.pipe(Layer.provide([Audits.layer, Channels.layer]))
}
