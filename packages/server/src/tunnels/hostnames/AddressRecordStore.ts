/** The table of hostnames with address records. A row is leased while a replica is at the DNS back end for it. */
import { Hostname } from "@catenet/domain/values/Hostname"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

/** Seconds in which a lease is another's business. Far above the time limit of a change. */
const leaseSeconds = 60

const Due = Schema.Struct({ hostname: Hostname, wanted: Schema.Boolean, attempts: Schema.Int })

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    want: (hostname: string) => sql`insert into address_records (hostname, wanted, due_at) values (${hostname}, true, 0)
      on conflict (hostname) do update set wanted = true, due_at = 0, attempts = 0`,
    /** What was published for other addresses is due again. */
    review: (published: string) => sql`update address_records set due_at = 0
      where wanted and due_at is null and published is distinct from ${published}`,
    /** From here on it is unknown what the zone has, until it is settled. */
    lease: SqlSchema.findAll({
      Request: Schema.Struct({ now: Schema.Int, limit: Schema.Int }),
      Result: Due,
      execute: ({ limit, now }) => sql`
        update address_records set published = '', attempts = attempts + 1, leased_until = ${now + leaseSeconds}
        where hostname in (
          select hostname from address_records where due_at <= ${now} and leased_until <= ${now}
          order by due_at limit ${limit} for update skip locked)
        returning hostname, wanted, attempts`
    }),
    /** The zone took it; unless it is wanted otherwise by now, that is all. `published` of null: it is not our zone. */
    settle: (hostname: string, wanted: boolean, published: string | null) =>
      wanted
        ? sql`update address_records set leased_until = 0, published = ${published},
            due_at = case when wanted then null else 0 end where hostname = ${hostname}`
        : Effect.andThen(
            sql`delete from address_records where hostname = ${hostname} and not wanted`,
            sql`update address_records set leased_until = 0 where hostname = ${hostname}`
          ),
    postpone: (hostname: string, dueAt: number) =>
      sql`update address_records set leased_until = 0, due_at = ${dueAt} where hostname = ${hostname}`
  }
})
