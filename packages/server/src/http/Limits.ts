/**
 * Limits that hold exactly however many replicas there are: so many in a minute of the clock for one key. Each use is a
 * write, so they are for what is rare or costly; what every request passes is counted per process (`access/TokenBuckets`).
 */
import { RateLimited } from "@catenet/domain/values/RequestErrors"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { unixSeconds } from "../runtime/Now.ts"
import { asDefects } from "../store/Defects.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const count = SqlSchema.findOne({
    Request: Schema.Struct({ key: Schema.String, minute: Schema.Int }),
    Result: Schema.Struct({ count: Schema.Int }),
    execute: (row) => sql`insert into request_counts as c ${sql.insert({ ...row, count: 1 })}
      on conflict (key) do update set minute = excluded.minute,
        count = case when c.minute = excluded.minute then least(c.count, 1000000000) + 1 else 1 end
      returning count`
  })

  return {
    /** Counts one use and fails when it is one too many; `most` of 0 is no limit. */
    take: Effect.fn("Limits.take")(function* (key: string, most: number) {
      if (most === 0) return
      const now = yield* unixSeconds
      const used = yield* count({ key, minute: Math.floor(now / 60) })
      if (used.count > most) return yield* new RateLimited({ retry_after: 60 - (now % 60) })
    }, asDefects),

    /** Forgets the counts of minutes that are over. */
    prune: Effect.flatMap(unixSeconds, (now) =>
      Effect.asVoid(Effect.orDie(sql`delete from request_counts where minute < ${Math.floor(now / 60)}`))
    )
  }
})

export class Limits extends Context.Service<Limits, Effect.Success<typeof make>>()("server/Limits") {
  static readonly layer = Layer.effect(Limits, make)
}
