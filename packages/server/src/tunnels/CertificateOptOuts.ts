/**
 * Whether the owner wants a certificate for the tunnel's name. If not, the name stays edge-terminated (gelb), and an
 * open offer is withdrawn to free its place for another name.
 */
import type { Caller } from "@catenet/domain/api/Access"
import { withdraw } from "@catenet/domain/certificates/Admission"
import { TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import { Context, Effect, Layer, Option, Result } from "effect"
import { SqlClient } from "effect/sql"
import { Outbox } from "../edges/Outbox.ts"
import { Audits } from "../identity/Audits.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { Hosts } from "./hostnames/Hosts.ts"
import { TunnelStore } from "./TunnelStore.ts"

type Account = Caller["Service"]

export class CertificateOptOuts extends Context.Service<
  CertificateOptOuts,
  {
    readonly get: (account: Account, id: string) => Effect.Effect<boolean, TunnelNotFound>
    /** Of a tunnel without a name there is nothing to set. */
    readonly set: (account: Account, id: string, isOut: boolean) => Effect.Effect<void, TunnelNotFound>
  }
>()("server/tunnels/CertificateOptOuts") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const store = yield* TunnelStore
    const hosts = yield* Hosts
    const outbox = yield* Outbox
    const audits = yield* Audits

    const owned = (id: string, { subject }: Account) =>
      Effect.flatMap(store.owned({ id, subject }), (found) =>
        Effect.mapError(Effect.fromOption(found), () => new TunnelNotFound())
      )

    return {
      get: Effect.fn("CertificateOptOuts.get")(function* (account: Account, id: string) {
        const { hostname } = yield* owned(id, account)
        const rows = yield* sql`select 1 from hosts where hostname = ${hostname} and opted_out`
        return rows.length > 0
      }, sqlOrDie),

      set: Effect.fn("CertificateOptOuts.set")(
        function* (account: Account, id: string, isOut: boolean) {
          const host = yield* hosts.ofTunnel(yield* owned(id, account))
          if (Option.isNone(host)) return
          const { hostname } = host.value
          const changed = yield* sql`
            update hosts set opted_out = ${isOut} where hostname = ${hostname} and opted_out <> ${isOut} returning 1`
          if (changed.length === 0) return
          const action = isOut ? "tunnel_certificate_declined" : "tunnel_certificate_wanted"
          yield* audits.append(audit(action, account.subject, id))
          if (!isOut) return
          const orders = yield* hosts.step(host.value, (state, now) => Result.succeed(withdraw(state, now)))
          if (orders.length > 0) yield* outbox.append(host.value.routingToken, ...orders)
        },
        hosts.transaction,
        sqlOrDie
      )
    }
  })

  static readonly layer = Layer.effect(CertificateOptOuts, CertificateOptOuts.make).pipe(
    Layer.provide([Audits.layer, Hosts.layer, Outbox.layer, TunnelStore.layer])
  )
}
