/**
 * Address records of hostnames that the platform assigns. The wanted records are written with the tunnel, in one
 * transaction; any replica then updates the zone, repeatedly until the DNS back end accepts. Each change states the
 * desired state, so repeating one does no harm. Names outside the zone are not touched.
 */
import { Hostname } from "@catenet/domain/values/Hostname"
import { Context, Effect, Layer, Schedule, Schema } from "effect"
import { SqlClient, type SqlError, SqlSchema } from "effect/sql"
import * as DnsBackend from "../../dns/DnsBackend.ts"
import { DnsProvider, isWithin } from "../../dns/DnsProvider.ts"
import { unixSeconds } from "../../runtime/UnixClock.ts"
import { Settings } from "../../settings/Settings.ts"
import { sqlOrDie } from "../../store/SqlOrDie.ts"

// The table of hostnames with address records. A row is leased while a replica is at the DNS back end for it.

/** Seconds in which a lease is another's business. Far above the time limit of a change. */
const leaseSeconds = 60

const Due = Schema.Struct({ hostname: Hostname, wanted: Schema.Boolean, attempts: Schema.Int })

const makeAddressRecordStore = Effect.gen(function* () {
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

const atOnce = 32
const longestWait = 600
const backOff = (attempts: number) => Math.min(2 ** Math.min(attempts, 10), longestWait)

export class AddressRecords extends Context.Service<
  AddressRecords,
  {
    /** The zone of hostnames with records; undefined where none are written. */
    readonly zone: string | undefined
    /** Inside the transaction that gives out the hostname. */
    readonly want: (hostname: Hostname) => Effect.Effect<void, SqlError.SqlError>
    /** Once at the start: the addresses may be others than the last time. */
    readonly review: Effect.Effect<void>
    /** Does everything that is due. */
    readonly work: Effect.Effect<void>
  }
>()("server/tunnels/hostnames/AddressRecords") {
  static readonly make = Effect.gen(function* () {
    const store = yield* makeAddressRecordStore
    const { set, zone } = yield* DnsProvider
    const { dnsEdgeAddresses: addresses } = yield* Settings
    const target = addresses === undefined || zone === undefined ? undefined : { addresses, zone }

    const bring = (name: Hostname, addresses: ReadonlyArray<string>) =>
      Effect.andThen(
        set({ name, type: "A", values: addresses.filter((address) => !address.includes(":")) }),
        set({ name, type: "AAAA", values: addresses.filter((address) => address.includes(":")) })
      )

    const workDue = Effect.gen(function* () {
      if (target === undefined) return 0
      const published = target.addresses.join(",")
      const rows = yield* store.lease({ now: yield* unixSeconds, limit: atOnce })
      yield* Effect.forEach(
        rows,
        ({ attempts, hostname, wanted }) =>
          isWithin(hostname, target.zone)
            ? bring(hostname, wanted ? target.addresses : []).pipe(
                Effect.andThen(store.settle(hostname, wanted, published)),
                Effect.catchTag("ChangeRefused", (refusal) =>
                  Effect.logWarning(refusal.message, { hostname, attempts }).pipe(
                    Effect.andThen(unixSeconds),
                    Effect.flatMap((now) => store.postpone(hostname, now + backOff(attempts)))
                  )
                )
              )
            : store.settle(hostname, wanted, null),
        { concurrency: 4, discard: true }
      )
      return rows.length
    })

    return {
      zone: target?.zone,
      want: (hostname: Hostname) => Effect.asVoid(store.want(hostname)),
      review: Effect.suspend(() =>
        target === undefined ? Effect.void : Effect.asVoid(store.review(target.addresses.join(",")))
      ).pipe(sqlOrDie),
      work: workDue.pipe(Effect.repeat({ while: (count) => count === atOnce }), Effect.asVoid, sqlOrDie)
    }
  })

  static readonly layer = Layer.effect(AddressRecords, AddressRecords.make).pipe(Layer.provide([DnsBackend.layer]))
}

/** Keeps address records as they should be for as long as the layer lives, where there is a zone for them. */
export const addressRecordLoop = Layer.effectDiscard(
  Effect.gen(function* () {
    const { review, work, zone } = yield* AddressRecords
    const { outboxIntervalSeconds } = yield* Settings
    if (zone === undefined) return
    const quietly = Effect.catchCause(work, (cause) => Effect.logWarning("Could not update address records.", cause))
    yield* Effect.retry(Effect.sandbox(review), Schedule.spaced("5 seconds")).pipe(
      Effect.andThen(Effect.repeat(quietly, Schedule.spaced(`${outboxIntervalSeconds} seconds`))),
      Effect.forkScoped
    )
  })
).pipe(Layer.provide([AddressRecords.layer]))
