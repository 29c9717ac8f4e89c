/** The table of requests to be let in. Strangers write to it, so one tunnel and one block of addresses each fill a part only. */
import {
  accessRequestSeconds,
  maxAccessRequestsPerBlock,
  maxAccessRequestsPerTunnel
} from "@catenet/domain/values/Quotas"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

interface AccessRequest {
  readonly tunnelId: string
  readonly email: string
  readonly note: string
  readonly at: number
  /** A pseudonym of the block of addresses that the request came from. */
  readonly block: string
}

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** One who is let in already, has asked before, or comes after too many others leaves nothing. */
    add: ({ at, block, email, note, tunnelId }: AccessRequest) =>
      Effect.andThen(
        // Those of one tunnel are counted one after the other. The owner's commands do not wait for this lock.
        sql`select pg_advisory_xact_lock(hashtextextended(${tunnelId}, 46))`,
        sql`
          insert into tunnel_access_requests (tunnel_id, email, note, at, block)
          select ${tunnelId}, ${email}, ${note}, ${at}::bigint, ${block}::text
          where not exists (select 1 from tunnel_visitors v where v.tunnel_id = ${tunnelId} and v.email = ${email})
            and exists (select 1 from tunnels t where t.id = ${tunnelId} and t.require_login)
            and (select count(*) < ${maxAccessRequestsPerTunnel}
                and count(*) filter (where r.block = ${block}) < ${maxAccessRequestsPerBlock}
              from tunnel_access_requests r where r.tunnel_id = ${tunnelId})
          on conflict do nothing`
      ).pipe(sql.withTransaction),
    prune: (now: number) => sql`delete from tunnel_access_requests where at <= ${now - accessRequestSeconds}`
  }
})
