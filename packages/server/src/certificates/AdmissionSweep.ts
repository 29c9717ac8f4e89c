/**
 * One tick of certificate admission over all hostnames. `domain/certificates/AdmissionSweep` decides what changes; it is
 * stored, with the orders to the edges, fifty hostnames to a transaction, so that an agent that asks or reports in
 * between waits for one of them and not for all.
 */
import type { AdmissionState } from "@catenet/domain/certificates/Admission"
import { sweep } from "@catenet/domain/certificates/AdmissionSweep"
import { accountShare, registeredDomain } from "@catenet/domain/certificates/CertificateBudget"
import { Array as Arr, Context, Effect, Layer, Schedule } from "effect"
import { Outbox } from "../edges/Outbox.ts"
import { authorizeHost, type Entry } from "../edges/OutboxStore.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { HostnameRules } from "../tunnels/hostnames/HostnameRules.ts"
import { hostOf, HostStore } from "../tunnels/hostnames/HostStore.ts"
import * as Store from "./AdmissionSweepStore.ts"
import { CertificateAuthorities } from "./CertificateAuthorities.ts"

/** Hostnames to a transaction. Each costs a lock of its queue, of which a PostgreSQL has some thousands in all. */
const atOnce = 50

/** Those that are in the queue of a domain, or come into it in this tick. */
const waits = ({ admission }: { readonly admission: AdmissionState }) =>
  admission._tag === "Rot" || (admission._tag === "Gelb" && admission.slot._tag !== "Offered")

export class AdmissionSweep extends Context.Service<
  AdmissionSweep,
  {
    /** Sweeps once, unless another replica begins at the same time. Answers how many hostnames were dealt with. */
    readonly tick: () => Effect.Effect<number>
  }
>()("server/certificates/AdmissionSweep") {
  static readonly make = Effect.gen(function* () {
    const { zone } = yield* HostnameRules
    const store = yield* Store.make(zone)
    const registry = yield* HostStore
    const outbox = yield* Outbox
    const { offerable } = yield* CertificateAuthorities
    const perDomain = offerable.reduce((sum, { weeklyBudget }) => sum + weeklyBudget, 0)
    const perAccount = offerable.reduce((sum, { weeklyBudget }) => sum + accountShare(weeklyBudget), 0)

    /** The hostnames of a transaction. Offers of earlier ones count as what their authorities have given. */
    const some = Effect.fnUntraced(function* (hostnames: ReadonlyArray<string>, now: number) {
      yield* store.lock
      const rows = yield* store.locked({ now, hostnames })
      const hosts = new Map(rows.map((row) => [row.hostname as string, hostOf(row)]))
      const domains = new Set([...hosts.values()].filter(waits).map(({ hostname }) => registeredDomain(hostname)))
      // What another replica has offered since the look is no longer locked here, and counts.
      const decided = rows.map(({ hostname }) => hostname)
      const given = domains.size === 0 ? [] : yield* store.given({ now, hostnames: decided, domains: [...domains] })
      const candidates = rows.map((row) => ({
        hostname: row.hostname,
        authorized: true,
        isGuarded: row.isGuarded,
        leftOut: row.leftOut,
        account: row.account ?? undefined,
        state: hostOf(row).admission
      }))
      const issuances = given.flatMap(({ account, ca, count, domain }) =>
        Arr.makeBy(count, () => ({ ca, domain, account: account ?? undefined, at: now }))
      )
      const swept = sweep(candidates, issuances, offerable, now).flatMap((each) => {
        const host = hosts.get(each.hostname)
        return host === undefined ? [] : [{ ...each, host }]
      })
      const changed = swept.filter(({ host, next }) => next !== host.admission)
      if (changed.length > 0) yield* registry.saveAdmissions(changed)
      const orders: Array<Entry> = []
      for (const { effects, host } of swept) {
        const { hostname, routingToken: queue } = host
        for (const effect of effects) {
          if (effect._tag === "SetTier") orders.push({ queue, call: authorizeHost(hostname, effect) })
          else yield* registry.logIssuance({ ca: effect.ca, domain: registeredDomain(hostname), hostname, at: now })
        }
      }
      if (orders.length > 0) yield* outbox.repeat(orders)
      return swept.length
    }, store.transaction)

    const found = Effect.fnUntraced(function* (now: number) {
      const { mine } = yield* store.mayBegin()
      return mine ? yield* store.candidates({ now, perAccount, perDomain }) : []
    }, store.transaction)

    return {
      tick: Effect.fn("AdmissionSweep.tick")(function* () {
        const now = yield* unixSeconds
        yield* Effect.repeat(store.confirmReverts(atOnce), { while: (confirmed) => confirmed.length === atOnce })
        const hostnames = (yield* found(now)).map(({ hostname }) => hostname)
        const counts = yield* Effect.forEach(Arr.chunksOf(hostnames, atOnce), (names) => some(names, now))
        return counts.reduce((sum, count) => sum + count, 0)
      }, sqlOrDie)
    }
  })

  static readonly layer = Layer.effect(AdmissionSweep, AdmissionSweep.make).pipe(
    Layer.provide([CertificateAuthorities.layer, HostnameRules.layer, Outbox.layer, HostStore.layer])
  )
}

/** Sweeps certificate admission for as long as the layer lives, where CT_CP_ACME_BROKER_ENABLED says so. */
export const sweepLoop = Layer.effectDiscard(
  Effect.gen(function* () {
    const { acmeBrokerEnabled, acmeBrokerTickSeconds } = yield* Settings
    const sweep = yield* AdmissionSweep
    if (!acmeBrokerEnabled) return
    yield* sweep.tick().pipe(
      Effect.catchCause((cause) => Effect.logWarning("The certificate admission sweep failed.", cause)),
      Effect.repeat(Schedule.fixed(`${acmeBrokerTickSeconds} seconds`)),
      Effect.forkScoped
    )
  })
).pipe(Layer.provide([AdmissionSweep.layer]))
