/** The public keys of all parties that sign who a visitor is: the agents of the visitor's tunnel, and the edges. */
import { PublicKey } from "@catenet/domain/values/Keys"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema, type Statement } from "effect/sql"
import { keysOf } from "../edges/AgentKeyStore.ts"
import { TicketKeys } from "../edges/TicketKeys.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { leadingTo } from "./GateStore.ts"

export class AssertionKeys extends Context.Service<
  AssertionKeys,
  {
    readonly ofHost: (host: string) => Effect.Effect<ReadonlyArray<PublicKey>>
    readonly ofTunnel: (id: string) => Effect.Effect<ReadonlyArray<PublicKey>>
  }
>()("server/tunnels/AssertionKeys") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { assertionKeys } = yield* TicketKeys
    const by = (where: (value: string) => Statement.Fragment) => {
      const find = SqlSchema.findAll({
        Request: Schema.String,
        Result: Schema.Struct({ keys: Schema.Array(PublicKey) }),
        execute: (value) => sql`select ${keysOf(sql)} as keys from tunnels t where ${where(value)}`
      })
      return Effect.fnUntraced(function* (value: string) {
        const [agents] = yield* find(value)
        return [...(agents?.keys ?? []), ...(yield* assertionKeys)]
      }, sqlOrDie)
    }
    return {
      ofHost: by((host) => sql`t.routing_token = ${leadingTo(sql)(host)}`),
      ofTunnel: by((id) => sql`t.id = ${id}`)
    }
  })

  static readonly layer = Layer.effect(AssertionKeys, AssertionKeys.make).pipe(Layer.provide([TicketKeys.layer]))
}
