/** Rooms: all pairwise channels of a full mesh, registered in one transaction. Opening a room again adds nothing. */
import * as ChannelIds from "@catenet/crypto/ChannelIds"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import type { Caller } from "@catenet/domain/api/Access"
import { ChannelId, RoomPair } from "@catenet/domain/channels/Channel"
import {
  type ChannelLimitReached,
  type HolderRepeated,
  OperatorProofRefused,
  type RoomPairTaken,
  type RoomSizeOutOfRange
} from "@catenet/domain/channels/ChannelErrors"
import type { StoredChannel } from "@catenet/domain/channels/ChannelOperator"
import { open, pairsOf } from "@catenet/domain/channels/Room"
import type { HolderKey, OperatorKey, Signature } from "@catenet/domain/values/Keys"
import { Array as Arr, Context, Effect, Layer, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { SqlClient, SqlSchema } from "effect/sql"
import { type Page, pagedOf } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { bytesOf } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { keysetOn, PageRequest } from "../store/KeysetPage.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { Channels } from "./Channels.ts"
import { ChannelStore } from "./ChannelStore.ts"
import { MembershipRevocations } from "./MembershipRevocations.ts"
import * as OperatorProofs from "./OperatorProofs.ts"

/** The table of room pairs: the two holders of each channel of a room. */
const makeRoomStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const keyset = keysetOn(sql)
  return {
    put: (pairs: Arr.NonEmptyReadonlyArray<RoomPair>) =>
      sql`insert into room_pairs ${sql.insert(Arr.map(pairs, (pair) => ({ ...pair })))} on conflict do nothing`,
    list: SqlSchema.findAll({
      Request: PageRequest,
      Result: RoomPair,
      execute: (slice) => sql`
        select r.a, r.b, r.channel from channels c join room_pairs r on r.channel = c.channel
        where c.owner = ${slice.of} ${keyset("c.channel", slice)}`
    })
  }
})

type Account = Caller["Service"]

const idFrom = Schema.decodeSync(ChannelId)

/** Two holders with the channel that is derived from their keys and the operator's. */
const pairOf = (operator: OperatorKey, a: HolderKey, b: HolderKey) => {
  const id = ChannelIds.link(native, bytesOf(operator), bytesOf(a), bytesOf(b))
  return new RoomPair({ a, b, channel: idFrom(Hex.encode(id)) })
}

export class Rooms extends Context.Service<
  Rooms,
  {
    /**
     * Opens a room; answers every pair, also those that were registered before. With a proof of the operator's key its
     * channels are taken over from accounts that have none.
     */
    readonly open: (
      account: Account,
      operator: OperatorKey,
      holders: ReadonlyArray<HolderKey>,
      proof?: Signature
    ) => Effect.Effect<
      ReadonlyArray<RoomPair>,
      ChannelLimitReached | HolderRepeated | OperatorProofRefused | RoomPairTaken | RoomSizeOutOfRange
    >
    /** The pairs of all rooms of the account, sorted by channel. */
    readonly list: (
      account: Account,
      page: Page
    ) => Effect.Effect<ReadonlyArray<RoomPair>, never, HttpServerRequest.HttpServerRequest>
  }
>()("server/channels/Rooms") {
  static readonly make = Effect.gen(function* () {
    const channels = yield* ChannelStore
    const store = yield* makeRoomStore
    const audits = yield* Audits
    const cuts = yield* MembershipRevocations
    const { checkLimit } = yield* Channels

    const register = Effect.fnUntraced(function* (room: StoredChannel, pairs: ReadonlyArray<RoomPair>) {
      const ids = pairs.map(({ channel }) => channel)
      yield* channels.lockAll(ids)
      const stored = new Map((yield* channels.findAll(ids)).map((row) => [row.channel, row]))
      const {
        effects,
        next: { fresh, taken }
      } = yield* Effect.fromResult(open(pairs, stored, room))
      const added = [...taken, ...fresh]
      if (Arr.isReadonlyArrayNonEmpty(added)) {
        yield* checkLimit(room.owner, added.length)
        if (Arr.isReadonlyArrayNonEmpty(taken)) yield* channels.dropAll(taken)
        yield* cuts.cutAll(taken)
        const createdAt = yield* unixSeconds
        yield* channels.insert(Arr.map(added, (channel) => ({ channel, ...room, createdAt })))
      }
      if (room.proof === "derived") yield* channels.prove(ids)
      yield* Effect.forEach(effects, audits.append, { discard: true })
      if (Arr.isReadonlyArrayNonEmpty(pairs)) yield* store.put(pairs)
    })

    return {
      open: Effect.fn("Rooms.open")(function* (
        { subject }: Account,
        operator: OperatorKey,
        holders: ReadonlyArray<HolderKey>,
        proof?: Signature
      ) {
        const meshed = yield* Effect.fromResult(pairsOf(holders))
        if (proof !== undefined && !OperatorProofs.signed(subject, operator, proof))
          return yield* new OperatorProofRefused({ part: "signature" })
        const pairs = meshed.map(([a, b]) => pairOf(operator, a, b))
        yield* channels.transaction(
          register({ owner: subject, operatorPubkey: operator, proof: proof === undefined ? "none" : "derived" }, pairs)
        )
        return pairs
      }, sqlOrDie),

      list: Effect.fn("Rooms.list")(function* ({ subject }: Account, page: Page) {
        return yield* pagedOf(page, subject, store.list, ({ channel }) => channel)
      }, sqlOrDie)
    }
  })

  static readonly layer = Layer.effect(Rooms, Rooms.make).pipe(
    Layer.provide([Audits.layer, Channels.layer, ChannelStore.layer, MembershipRevocations.layer])
  )
}
