/**
 * Limits that hold exactly however many replicas there are: so many in a minute of the clock for one key. Each use is a
 * write, so they are for what is rare or costly; what every request passes is counted per process (`TokenBuckets`).
 */
import { RateLimited } from "@catenet/domain/values/RequestErrors"
import { Context, Effect, Layer, Schema } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { SqlClient, SqlSchema } from "effect/sql"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"

// Sets `retry-after` on a refusal, with the seconds that its body names.

/** For `Effect.tapErrorTag` on what a handler does. */
export const setRetryAfter = ({ retry_after }: { readonly retry_after: number }) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", String(retry_after)))
  )

export class Limits extends Context.Service<
  Limits,
  {
    /** Counts one use and fails when it is one too many; `most` of 0 is no limit. */
    readonly take: (key: string, most: number) => Effect.Effect<void, RateLimited>
    /** Deletes the counts of past minutes. */
    readonly prune: Effect.Effect<void>
  }
>()("server/http/Limits") {
  static readonly make = Effect.gen(function* () {
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
      take: Effect.fn("Limits.take")(function* (key: string, most: number) {
        if (most === 0) return
        const now = yield* unixSeconds
        const used = yield* count({ key, minute: Math.floor(now / 60) })
        if (used.count > most) return yield* new RateLimited({ retry_after: 60 - (now % 60) })
      }, sqlOrDie),

      prune: Effect.flatMap(unixSeconds, (now) =>
        Effect.asVoid(Effect.orDie(sql`delete from request_counts where minute < ${Math.floor(now / 60)}`))
      )
    }
  })

  static readonly layer = Layer.effect(Limits, Limits.make)
}
