/**
 * Orders edges to check the visitors of a tunnel again, when the login switch, the list of allowed visitors, a share
 * link or a session changes. Written in the transaction of the change, so no edge learns of it earlier.
 */
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError, SqlSchema } from "effect/sql"
import { Outbox } from "../edges/Outbox.ts"
import { leadingTo } from "./GateStore.ts"

const Gated = Schema.Struct({ routingToken: RoutingToken, required: Schema.Boolean })

export class LoginOrders extends Context.Service<
  LoginOrders,
  {
    /** After a change of the tunnel or of what hangs on it. */
    readonly tunnelChanged: (id: string) => Effect.Effect<void, Schema.SchemaError | SqlError.SqlError>
    /** After the end of a session at the host. */
    readonly sessionEnded: (host: string) => Effect.Effect<void, Schema.SchemaError | SqlError.SqlError>
  }
>()("server/tunnels/LoginOrders") {
  static readonly make = Effect.gen(function* () {
    const outbox = yield* Outbox
    const sql = yield* SqlClient.SqlClient
    /** Under a lock, so that the last order about a tunnel says what the last change left. */
    const ofTunnel = SqlSchema.findAll({
      Request: Schema.String,
      Result: Gated,
      execute: (id) => sql`select routing_token, require_login as required from tunnels where id = ${id} for share`
    })
    const ofHost = SqlSchema.findAll({
      Request: Schema.String,
      Result: Gated,
      execute: (host) => sql`
      select routing_token, require_login as required from tunnels
      where require_login and routing_token = ${leadingTo(sql)(host)} for share`
    })
    const append = (found: ReadonlyArray<typeof Gated.Type>) =>
      outbox.appendAll(
        found.map(({ required, routingToken: queue }) => ({ queue, call: { _tag: "SetLogin", required } }))
      )
    return {
      tunnelChanged: (id: string) => Effect.flatMap(ofTunnel(id), append),
      sessionEnded: (host: string) => Effect.flatMap(ofHost(host), append)
    }
  })

  static readonly layer = Layer.effect(LoginOrders, LoginOrders.make).pipe(Layer.provide([Outbox.layer]))
}
