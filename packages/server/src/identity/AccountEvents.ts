/**
 * The log of an account: what its people did, from the audit log, and what happened to its tunnels. Both for thirty days; of what
 * happened, so many of an account at most, of which the oldest give way.
 */
import { lowerAscii } from "@catenet/domain/values/AsciiCase"
import type { Subject } from "@catenet/domain/values/Ids"
import { accountEventSeconds } from "@catenet/domain/values/Quotas"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"

export const kinds = ["outage", "access", "certificate", "change"] as const
export type Kind = (typeof kinds)[number]

const AccountEvent = Schema.Struct({
  at: Schema.Int,
  kind: Schema.Literals(kinds),
  action: Schema.String,
  /** The id of the tunnel, or what an audit entry is about. */
  about: Schema.String,
  name: Schema.String,
  detail: Schema.String
})
export type AccountEvent = typeof AccountEvent.Type

export interface Query {
  readonly kind: Kind | undefined
  /** What is searched for in names, actions and details. */
  readonly q: string
  /** Only what is older than this. */
  readonly before: number | undefined
  readonly limit: number
}

export class AccountEvents extends Context.Service<
  AccountEvents,
  {
    /** Newest first. */
    readonly list: (subject: Subject, query: Query) => Effect.Effect<ReadonlyArray<AccountEvent>>
    /** Removes what is too old. */
    readonly prune: Effect.Effect<void>
  }
>()("server/identity/AccountEvents") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const contains = (columns: ReadonlyArray<string>, q: string) =>
      q === "" ? sql`` : sql`and position(lower(${q}::text) in lower(${sql.literal(columns.join(" || ' ' || "))})) > 0`
    const found = SqlSchema.findAll({
      Request: Schema.Struct({
        subject: Schema.String,
        since: Schema.Int,
        before: Schema.Int,
        kind: Schema.NullOr(Schema.String),
        q: Schema.String,
        limit: Schema.Int
      }),
      Result: AccountEvent,
      execute: ({ before, kind, limit, q, since, subject }) => sql`
        select at, kind, action, about, name, detail from (
          (select at, kind, action, about, name, detail from account_events
            where subject = ${subject} and at >= ${since} and at < ${before}
              ${kind === null ? sql`` : sql`and kind = ${kind}`} ${contains(["name", "action", "detail"], q)}
            order by id desc limit ${limit})
          union all
          (select at, 'change', action, target, '', detail from audit_log
            where actor = ${lowerAscii(subject)} and at >= ${since} and at < ${before}
              ${kind === null || kind === "change" ? sql`` : sql`and false`} ${contains(["target", "action", "detail"], q)}
            order by id desc limit ${limit})
        ) as event order by at desc limit ${limit}`
    })
    return {
      list: Effect.fn("AccountEvents.list")(function* (subject: Subject, { before, kind, limit, q }: Query) {
        const now = yield* unixSeconds
        return yield* found({
          subject,
          q,
          limit,
          kind: kind ?? null,
          since: now - accountEventSeconds,
          before: before ?? now + accountEventSeconds
        })
      }, sqlOrDie),
      prune: Effect.gen(function* () {
        const now = yield* unixSeconds
        yield* sql`delete from account_events where at < ${now - accountEventSeconds}`
      }).pipe(sqlOrDie)
    }
  })

  static readonly layer = Layer.effect(AccountEvents, AccountEvents.make)
}
