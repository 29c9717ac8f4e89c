/**
 * Makes the keys of session tickets, one for each period, a period before it seals, and gives them to edges: sealed in the database, and
 * sealed for the one that asks on their way.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as Exchange from "@catenet/crypto/TicketKeyRequest"
import { TicketKeysRefused } from "@catenet/domain/edges/EdgeErrors"
import {
  SealedTicketKeys,
  TicketKeyBytes,
  type TicketKeyRequest,
  TicketKeys as Keys,
  ticketKeySeconds
} from "@catenet/domain/edges/TicketKeys"
import { PublicKey } from "@catenet/domain/values/Keys"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { Context, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import { bytesOf } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Sealing } from "../store/Sealing.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { EdgeStore } from "./EdgeStore.ts"

/** The table of ticket keys. One that no key of `CT_CP_SEAL_KEY` opens is as good as none. */
const Row = Schema.Struct({ fromAt: UnixSeconds, key: Schema.String })
const place = "ticket_keys.key"

const makeTicketKeyStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { open, prefix, seal } = yield* Sealing
  const read = Schema.decodeSync(TicketKeyBytes)
  const rows = SqlSchema.findAll({
    Request: UnixSeconds,
    Result: Row,
    execute: (from) => sql`select from_at, key from ticket_keys where from_at >= ${from} order by from_at`
  })
  return {
    /** The first of several replicas that make a key for one period has made it. */
    keep: (fromAt: UnixSeconds, key: typeof TicketKeyBytes.Type) => {
      const row = { fromAt, key: seal(place, Redacted.value(key)) }
      return sql`
        insert into ticket_keys ${sql.insert(row)} on conflict (from_at) do update set key = excluded.key
        where left(ticket_keys.key, 12) <> ${prefix}`
    },
    /** From this second on, by time. */
    since: (from: UnixSeconds) =>
      Effect.map(rows(from), (found) =>
        found.flatMap(({ fromAt, key }) =>
          Result.match(open(place, key), {
            onFailure: () => [],
            onSuccess: (text) => [{ fromAt, key: read(text) }]
          })
        )
      ),
    prune: (from: UnixSeconds) => sql`delete from ticket_keys where from_at < ${from}`
  }
})

const keyBytes = 48
const plainOf = Schema.encodeSync(Schema.fromJsonString(Keys))

/** The beginnings of the period before, of this one and of the next. */
const periodsAt = (now: number) => {
  const current = now - (now % ticketKeySeconds)
  return [current - ticketKeySeconds, current, current + ticketKeySeconds].map((second) => UnixSeconds.make(second))
}

export class TicketKeys extends Context.Service<
  TicketKeys,
  {
    /** The keys that open tickets now, and the one that seals next. */
    readonly answer: (request: TicketKeyRequest) => Effect.Effect<SealedTicketKeys, TicketKeysRefused>
    /** The public keys with which edges sign assertions about visitors now, before and next. */
    readonly assertionKeys: Effect.Effect<ReadonlyArray<PublicKey>>
    /** Deletes keys that open nothing any more. */
    readonly prune: Effect.Effect<void>
  }
>()("server/edges/TicketKeys") {
  static readonly make = Effect.gen(function* () {
    const store = yield* makeTicketKeyStore
    const edges = yield* EdgeStore
    const random = yield* SecureRandom.SecureRandom

    const keep = Effect.fnUntraced(function* (fromAt: UnixSeconds) {
      const key = Redacted.make(Hex.encode(yield* random.randomBytes(keyBytes)), { label: "ticket key" })
      yield* store.keep(fromAt, key)
    })

    const known = Effect.gen(function* () {
      const [before, ...needed] = periodsAt(yield* unixSeconds)
      const since = before ?? UnixSeconds.make(0)
      const found = yield* store.since(since)
      const missing = needed.filter((fromAt) => !found.some((row) => row.fromAt === fromAt))
      if (missing.length === 0) return found
      yield* Effect.forEach(missing, keep)
      return yield* store.since(since)
    })

    return {
      answer: Effect.fn("TicketKeys.answer")(function* ({ id, key, signature }: TicketKeyRequest) {
        const question = { id, message: bytesOf(key) }
        const pinned = Option.getOrUndefined(yield* edges.pinnedKey(id))?.pubkey ?? undefined
        if (pinned === undefined || !Exchange.verify(native, bytesOf(pinned), question, bytesOf(signature)))
          return yield* new TicketKeysRefused()
        const plain = plainOf((yield* known).map(({ fromAt, key }) => ({ key, from: fromAt })))
        const entropy = yield* random.randomBytes(32)
        const sealed = Exchange.answer(native, question, entropy, Bytes.fromText(plain))
        return new SealedTicketKeys({ sealed: Hex.encode(yield* Effect.orDie(Effect.fromResult(sealed))) })
      }, sqlOrDie),

      assertionKeys: Effect.map(known, (all) =>
        all.map(({ key }) => {
          const seed = Exchange.assertionSeed(native, Result.getOrThrow(Hex.decode(Redacted.value(key))))
          return PublicKey.make(Hex.encode(native.ed25519.publicKey(seed)))
        })
      ).pipe(sqlOrDie),

      prune: Effect.asVoid(
        Effect.orDie(Effect.flatMap(unixSeconds, (now) => store.prune(periodsAt(now)[0] ?? UnixSeconds.make(0))))
      )
    }
  })

  static readonly layer = Layer.effect(TicketKeys, TicketKeys.make).pipe(Layer.provide([EdgeStore.layer]))
}
