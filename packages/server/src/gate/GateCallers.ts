/**
 * Programs that call a host of a tunnel in somebody's name, such as clients of an MCP server: they show an access token that is made
 * for the host alone (RFC 8707).
 */
import { CallerRefused } from "@catenet/domain/tunnels/GateErrors"
import { GateCaller } from "@catenet/domain/tunnels/GateVisit"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { Context, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { AccessTokens } from "../identity/AccessTokens.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"

const Who = Schema.Struct({ tunnelId: Schema.String, subject: Schema.String, email: Schema.NullOr(Schema.String) })
const Row = Schema.Struct({ owner: Schema.String, isListed: Schema.Boolean })

export class GateCallers extends Context.Service<
  GateCallers,
  {
    /**
     * Whose an access token for this resource is: the owner's of the tunnel, of a service account of the owner's, or somebody's who may
     * visit the tunnel or see it.
     */
    readonly identify: (
      tunnelId: string,
      bearer: Redacted.Redacted,
      resource: string
    ) => Effect.Effect<GateCaller, CallerRefused>
  }
>()("server/gate/GateCallers") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const tokens = yield* AccessTokens
    const find = SqlSchema.findOneOption({
      Request: Who,
      Result: Row,
      execute: ({ email, subject, tunnelId }) => sql`
        select t.subject as owner, t.require_login and t.allow_any_login
          or exists (select 1 from tunnel_visitors v where v.tunnel_id = t.id and v.email = ${email})
          or exists (select 1 from tunnel_grants g where g.tunnel_id = t.id and g.grantee = ${subject}) as is_listed
        from tunnels t where t.id = ${tunnelId}`
    })
    return {
      identify: Effect.fn("GateCallers.identify")(function* (
        tunnelId: string,
        bearer: Redacted.Redacted,
        resource: string
      ) {
        const { expiresAt, identity } = yield* Effect.mapError(
          tokens.verifyForResource(bearer, resource),
          () => new CallerRefused({ reason: "token" })
        )
        const { client, email, maker, subject } = identity
        const tunnel = yield* find({ tunnelId, subject, email })
        const mayCall = Option.exists(tunnel, ({ isListed, owner }) => isListed || owner === subject || owner === maker)
        if (!mayCall) return yield* new CallerRefused({ reason: "account" })
        return new GateCaller({ subject, email, client: client ?? null, expires_at: UnixSeconds.make(expiresAt) })
      }, sqlOrDie)
    }
  })

  static readonly layer = Layer.effect(GateCallers, GateCallers.make).pipe(Layer.provide([AccessTokens.layer]))
}
