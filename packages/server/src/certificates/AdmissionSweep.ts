/**
 * One tick of certificate admission over all hostnames. `domain/certificates/AdmissionSweep` decides what changes;
 * it is stored, with the orders to the edges, in one transaction that one replica at a time may make.
 */
import type { AdmissionEffect, AdmissionState } from "@catenet/domain/certificates/Admission"
import { sweep, type Swept } from "@catenet/domain/certificates/AdmissionSweep"
import { registeredDomain } from "@catenet/domain/certificates/CertificateBudget"
import { Context, Effect, Layer } from "effect"
import { authorizeHost } from "../edges/EdgeOrders.ts"
import { Outbox } from "../edges/Outbox.ts"
import { unixSeconds } from "../runtime/Now.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import * as Registry from "../tunnels/hostnames/HostStore.ts"
import * as Store from "./AdmissionSweepStore.ts"
import { CertificateAuthorities } from "./CertificateAuthorities.ts"

/** Those that are in the queue of a domain, or come into it in this tick. */
const waits = ({ admission }: { readonly admission: AdmissionState }) =>
  admission._tag === "Rot" || (admission._tag === "Gelb" && admission.slot._tag !== "Offered")

export class AdmissionSweep extends Context.Service<
  AdmissionSweep,
  {
    /** Sweeps once, unless another replica is at it. Answers how many hostnames were dealt with. */
    readonly tick: () => Effect.Effect<number>
  }
>()("server/certificates/AdmissionSweep") {
  static readonly make = Effect.gen(function* () {
    const store = yield* Store.make
    const registry = yield* Registry.make
    const outbox = yield* Outbox
    const { offerable } = yield* CertificateAuthorities
    const perDomain = offerable.reduce((sum, { weeklyBudget }) => sum + weeklyBudget, 0)

    const perform = ({ hostname, routingToken }: Registry.Host, effect: AdmissionEffect, now: number) => {
      switch (effect._tag) {
        case "SetTier":
          return Effect.andThen(
            store.deleteRefusals(routingToken),
            outbox.append(routingToken, authorizeHost(hostname, effect))
          )
        case "LogIssuance":
          return registry.logIssuance({ ca: effect.ca, domain: registeredDomain(hostname), hostname, at: now })
      }
    }

    const apply = Effect.fnUntraced(function* (host: Registry.Host, { effects, next }: Swept, now: number) {
      if (next !== host.admission) yield* registry.save({ ...host, admission: next })
      for (const effect of effects) yield* perform(host, effect, now)
    })

    return {
      tick: Effect.fn("AdmissionSweep.tick")(
        function* () {
          if (!(yield* store.lock()).mine) return 0
          const now = yield* unixSeconds
          yield* store.confirmReverts
          const rows = yield* store.candidates({ now, perDomain })
          const hosts = rows.map(Registry.hostOf)
          const domains = new Set(hosts.filter(waits).map(({ hostname }) => registeredDomain(hostname)))
          const issuances = domains.size === 0 ? [] : yield* store.issuances({ now, domains: [...domains] })
          const candidates = rows.map((row) => ({
            hostname: row.hostname,
            authorized: true,
            isGuarded: row.isGuarded,
            leftOut: row.leftOut,
            state: Registry.hostOf(row).admission
          }))
          const found = new Map<string, Registry.Host>(hosts.map((host) => [host.hostname, host]))
          const swept = sweep(candidates, issuances, offerable, now)
          for (const each of swept) {
            const host = found.get(each.hostname)
            if (host !== undefined) yield* apply(host, each, now)
          }
          return swept.length
        },
        store.transaction,
        sqlOrDie
      )
    }
  })

  static readonly layerNoDeps = Layer.effect(AdmissionSweep, AdmissionSweep.make)
  static readonly layer = AdmissionSweep.layerNoDeps.pipe(Layer.provide([CertificateAuthorities.layer, Outbox.layer]))
}
