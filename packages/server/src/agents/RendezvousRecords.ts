/**
 * Records that an operator's self-test stores for an agent under a routing token. Agents register with an edge instead, and
 * nothing else reads these records. The token is stored as its hash.
 */
import { AgentId, Tenant } from "@catenet/domain/enrollment/AgentStatus"
import { RouteNotFound } from "@catenet/domain/values/RequestErrors"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { hashToken } from "../runtime/TokenSecrets.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"

const Record = Schema.Struct({ tenant: Tenant, agent: AgentId })
type Record = typeof Record.Type

export class RendezvousRecords extends Context.Service<
  RendezvousRecords,
  {
    /** Stores a record under the token's hash, in place of an earlier one. */
    readonly leave: (token: RoutingToken, record: Record) => Effect.Effect<void>
    readonly resolve: (token: RoutingToken) => Effect.Effect<Record, RouteNotFound>
  }
>()("server/agents/RendezvousRecords") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const find = SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Record,
      execute: (tokenHash) => sql`select tenant, agent from rendezvous where token_hash = ${tokenHash}`
    })

    return {
      leave: Effect.fn("RendezvousRecords.leave")(function* (token: RoutingToken, { agent, tenant }: Record) {
        yield* sql`
          insert into rendezvous ${sql.insert({ tokenHash: hashToken(token), tenant, agent })}
          on conflict (token_hash) do update set tenant = excluded.tenant, agent = excluded.agent`
      }, sqlOrDie),

      resolve: Effect.fn("RendezvousRecords.resolve")(function* (token: RoutingToken) {
        const found = yield* find(hashToken(token))
        return yield* Option.isSome(found) ? Effect.succeed(found.value) : new RouteNotFound()
      }, sqlOrDie)
    }
  })

  static readonly layer = Layer.effect(RendezvousRecords, RendezvousRecords.make)
}
