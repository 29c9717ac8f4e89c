/**
 * Whether visitors of a tunnel may speak nothing but HTTP where an edge ends their TLS. A tunnel with `require_login` is
 * treated so by every edge, in either state of the switch.
 */
import type { Caller } from "@catenet/domain/api/Access"
import { HttpOnlyState } from "@catenet/domain/api/TunnelControlsApi"
import { TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Outbox } from "../edges/Outbox.ts"
import { Audits } from "../identity/Audits.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"

/** Whether a tunnel serves only HTTP: a column of the tunnel itself. */
const makeHttpOnlyStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** Of a tunnel that the account owns; with `lock`, nothing else changes it before the transaction ends. */
    find: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, subject: Schema.String, lock: Schema.Boolean }),
      Result: Schema.Struct({ routingToken: RoutingToken, httpOnly: Schema.Boolean }),
      execute: ({ id, lock, subject }) => sql`
        select routing_token, http_only from tunnels where id = ${id} and subject = ${subject}
        ${lock ? sql`for update` : sql``}`
    }),
    save: (id: string, httpOnly: boolean) => sql`update tunnels set http_only = ${httpOnly} where id = ${id}`,
    transaction: sql.withTransaction
  }
})

type Account = Caller["Service"]

export class HttpOnly extends Context.Service<
  HttpOnly,
  {
    readonly get: (account: Account, id: string) => Effect.Effect<HttpOnlyState, TunnelNotFound>
    /** The edges learn of it through the outbox, also of what is set already. */
    readonly set: (account: Account, id: string, httpOnly: boolean) => Effect.Effect<HttpOnlyState, TunnelNotFound>
  }
>()("server/tunnels/HttpOnly") {
  static readonly make = Effect.gen(function* () {
    const store = yield* makeHttpOnlyStore
    const outbox = yield* Outbox
    const audits = yield* Audits

    const find = Effect.fnUntraced(function* ({ subject }: Account, id: string, lock: boolean) {
      const found = yield* store.find({ id, subject, lock })
      return yield* Option.isSome(found) ? Effect.succeed(found.value) : new TunnelNotFound()
    })

    return {
      get: Effect.fn("HttpOnly.get")(function* (account: Account, id: string) {
        const { httpOnly } = yield* find(account, id, false)
        return new HttpOnlyState({ http_only: httpOnly })
      }, sqlOrDie),

      set: Effect.fn("HttpOnly.set")(
        function* (account: Account, id: string, httpOnly: boolean) {
          const before = yield* find(account, id, true)
          if (before.httpOnly !== httpOnly) {
            yield* store.save(id, httpOnly)
            yield* audits.append(audit("tunnel_http_only_set", account.subject, id, String(httpOnly)))
          }
          yield* outbox.append(before.routingToken, { _tag: "SetHttpOnly", required: httpOnly })
          return new HttpOnlyState({ http_only: httpOnly })
        },
        store.transaction,
        sqlOrDie
      )
    }
  })

  static readonly layerNoDeps = Layer.effect(HttpOnly, HttpOnly.make)
  static readonly layer = HttpOnly.layerNoDeps.pipe(Layer.provide([Audits.layer, Outbox.layer]))
}
