/** Rooms: every pairwise channel of a full mesh, registered in one step or not at all. Opening one again adds nothing. */
import * as ChannelIds from "@catenet/crypto/ChannelIds"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import type { Caller } from "@catenet/domain/api/Access"
import { ChannelId, RoomPair } from "@catenet/domain/Channel"
import { HolderRepeated, RoomPairTaken, RoomSizeOutOfRange } from "@catenet/domain/errors/Channels"
import type { HolderKey, OperatorKey } from "@catenet/domain/Keys"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { paged, type Page } from "../http/Paging.ts"
import { unixSeconds } from "../Now.ts"
import { bytesOf } from "../Secrets.ts"
import { asDefects } from "../store/Defects.ts"
import { Channels } from "./Channels.ts"
import * as Store from "./Store.ts"

type Account = Caller["Service"]

const idFrom = Schema.decodeSync(ChannelId)

const pairsOf = (operator: OperatorKey, holders: ReadonlyArray<HolderKey>) =>
  holders.flatMap((a, n) =>
    holders.slice(n + 1).map((b) => {
      const id = ChannelIds.link(native, bytesOf(operator), bytesOf(a), bytesOf(b))
      return new RoomPair({ a, b, channel: idFrom(Hex.encode(id)) })
    })
  )

const check = (holders: ReadonlyArray<HolderKey>) => {
  if (holders.length < 2 || holders.length > 12) return new RoomSizeOutOfRange({ holders: holders.length })
  const repeated = holders.find((holder, n) => holders.indexOf(holder) !== n)
  return repeated === undefined ? Effect.void : new HolderRepeated({ holder: repeated })
}

const makeStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    put: (pair: RoomPair) => sql`insert into room_pairs ${sql.insert({ ...pair })} on conflict do nothing`,
    list: SqlSchema.findAll({
      Request: Schema.Struct({
        subject: Schema.String,
        after: Schema.UndefinedOr(Schema.String),
        limit: Schema.UndefinedOr(Schema.Int)
      }),
      Result: RoomPair,
      execute: ({ after, limit, subject }) => sql`
        select r.a, r.b, r.channel from room_pairs r join channels c on c.channel = r.channel
        where c.owner = ${subject} ${after === undefined ? sql`` : sql`and r.channel > ${after}`}
        order by r.channel ${limit === undefined ? sql`` : sql`limit ${limit}`}`
    })
  }
})

const make = Effect.gen(function* () {
  const channels = yield* Store.make
  const rooms = yield* makeStore
  const { checkLimit } = yield* Channels

  const registerPair = Effect.fnUntraced(function* (subject: string, operator: OperatorKey, pair: RoomPair) {
    const found = yield* channels.find(pair.channel)
    if (Option.isSome(found)) {
      const { operatorPubkey, owner } = found.value
      if (owner !== subject || operatorPubkey !== operator) return yield* new RoomPairTaken({ a: pair.a, b: pair.b })
    } else {
      yield* checkLimit(subject, 1)
      const createdAt = yield* unixSeconds
      yield* channels.put({ channel: pair.channel, owner: subject, operatorPubkey: operator, createdAt })
    }
    yield* rooms.put(pair)
  })

  return {
    open: Effect.fn("Rooms.open")(
      function* ({ subject }: Account, operator: OperatorKey, holders: ReadonlyArray<HolderKey>) {
        yield* check(holders)
        const pairs = pairsOf(operator, holders)
        // Locks are taken in one order, so that two rooms with common pairs do not wait for each other.
        for (const { channel } of pairs.toSorted((x, y) => (x.channel < y.channel ? -1 : 1)))
          yield* channels.lock(channel)
        for (const pair of pairs) yield* registerPair(subject, operator, pair)
        return pairs
      },
      channels.transaction,
      asDefects
    ),

    list: Effect.fn("Rooms.list")(function* ({ subject }: Account, page: Page) {
      return yield* paged(
        page,
        Schema.String,
        (slice) => rooms.list({ subject, ...slice }),
        ({ channel }) => channel
      )
    }, asDefects)
  }
})

export class Rooms extends Context.Service<Rooms, Effect.Success<typeof make>>()("server/Rooms") {
  static readonly layer = Layer.effect(Rooms, make)
}
