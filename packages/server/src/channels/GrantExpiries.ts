/** Reads until when grants are good that were deposited before that was written beside them, some each minute. */
import * as CryptoGrant from "@catenet/crypto/Grant"
import { Effect, Layer, Result, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as DecryptableFilter from "../store/DecryptableFilter.ts"
import { Sealing } from "../store/Sealing.ts"

const batchSize = 200

/** Unix seconds; of a text that is no grant none of them. */
export const expiryOf = (grant: string): number => {
  const read = CryptoGrant.fromHex(grant)
  return Result.isSuccess(read) ? Number(read.success.expiresAt) : 0
}

interface Unread {
  readonly channel: string
  readonly holder: string
  readonly grantHex: string
}

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const sealing = yield* Sealing
  const openable = yield* DecryptableFilter.make
  /** One batch; how many there were. */
  return Effect.gen(function* () {
    const rows = yield* sql<Unread>`
      select channel, holder, grant_hex from channel_grants where expires_at is null and ${openable("grant_hex")}
      limit ${batchSize} for update skip locked`
    for (const { channel, grantHex, holder } of rows) {
      const grant = yield* Effect.fromResult(sealing.open("channel_grants.grant_hex", grantHex))
      yield* sql`update channel_grants set expires_at = ${expiryOf(grant)}
        where channel = ${channel} and holder = ${holder}`
    }
    return rows.length
  }).pipe(sql.withTransaction)
})

/** Runs as long as the layer lives. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const readSome = yield* make
    yield* readSome.pipe(
      Effect.catchCause((cause) => Effect.logWarning("The expiry of grants could not be read.", cause)),
      Effect.repeat(Schedule.spaced("1 minute")),
      Effect.forkScoped
    )
  })
)
