/**
 * Address records of the hostnames that the platform gives out. Which of them there are to be is written with the tunnel,
 * in one transaction; any replica then brings the zone there, again and again until the DNS back end has taken it. Each
 * change states how things are to be, so making one twice does no harm. Names outside its zone are left alone.
 */
import type { Hostname } from "@catenet/domain/values/Hostname"
import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import * as DnsBackend from "../../dns/DnsBackend.ts"
import { DnsProvider, isWithin } from "../../dns/DnsProvider.ts"
import { unixSeconds } from "../../runtime/UnixClock.ts"
import { Settings } from "../../settings/Settings.ts"
import { sqlOrDie } from "../../store/SqlOrDie.ts"
import * as Store from "./AddressRecordStore.ts"

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
    const store = yield* Store.make
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

  static readonly layerNoDeps = Layer.effect(AddressRecords, AddressRecords.make)
  static readonly layer = AddressRecords.layerNoDeps.pipe(Layer.provide([DnsBackend.layer]))
}
