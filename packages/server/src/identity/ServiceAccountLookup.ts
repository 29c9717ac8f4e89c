/** Whether a service account is there. Its tokens verify until they expire, whatever has become of it since. */
import { ClientId } from "@catenet/domain/identity/ServiceAccount"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { sqlOrDie } from "../store/SqlOrDie.ts"

const isClientId = Schema.is(ClientId)

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** Every other client of the provider is there as far as we know. */
    has: Effect.fnUntraced(function* (client: unknown) {
      if (!isClientId(client)) return true
      const rows = yield* sql`select 1 from service_accounts where client_id = ${client} and state = 'active'`
      return rows.length > 0
    }, sqlOrDie)
  }
})
