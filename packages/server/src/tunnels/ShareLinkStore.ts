/** The table of share links. The token of a link is known by its hash only. */
import { type KeptShareLink, ShareLabel } from "@catenet/domain/tunnels/ShareLink"
import { Hostname } from "@catenet/domain/values/Hostname"
import { ShareLinkId, TunnelId } from "@catenet/domain/values/Ids"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

const Link = Schema.Struct({
  id: ShareLinkId,
  tunnelId: TunnelId,
  host: Schema.String,
  label: Schema.NullOr(ShareLabel),
  singleUse: Schema.Boolean,
  createdAt: UnixSeconds,
  expiresAt: UnixSeconds,
  opened: Schema.Boolean,
  revoked: Schema.Boolean
})

const After = Schema.Struct({ createdAt: Schema.Int, id: Schema.String })

/** A tunnel as far as sharing it is concerned. */
const Shared = Schema.Struct({ host: Schema.NullOr(Hostname), loginRequired: Schema.Boolean, gelb: Schema.Boolean })

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const link = sql`select id, tunnel_id, host, label, single_use, created_at, expires_at, opened, revoked from share_links`
  return {
    /** A tunnel of the account; with `lock`, its links are minted one after the other. */
    tunnel: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, subject: Schema.String, lock: Schema.Boolean }),
      Result: Shared,
      execute: ({ id, lock, subject }) => sql`
        select t.hostname as host, t.require_login as login_required, exists (select 1 from hosts h
          where h.hostname = t.hostname and h.routing_token = t.routing_token and h.status = 'gelb') as gelb
        from tunnels t where t.id = ${id} and t.subject = ${subject} ${lock ? sql`for update` : sql``}`
    }),
    /** Whether visitors of a host have to log in. */
    isGated: (host: string) => sql`select 1 from tunnels where hostname = ${host} and require_login`,
    insert: (row: KeptShareLink & { readonly tokenHash: string }) =>
      sql`insert into share_links ${sql.insert({ ...row })}`,
    /** Links of a tunnel that have not expired. */
    living: SqlSchema.findAll({
      Request: Schema.Struct({ tunnelId: Schema.String, now: Schema.Int }),
      Result: Link,
      execute: ({ now, tunnelId }) => sql`${link} where tunnel_id = ${tunnelId} and expires_at > ${now}`
    }),
    list: SqlSchema.findAll({
      Request: Schema.Struct({
        tunnelId: Schema.String,
        after: Schema.UndefinedOr(After),
        limit: Schema.UndefinedOr(Schema.Int)
      }),
      Result: Link,
      execute: ({ after, limit, tunnelId }) => sql`${link} where tunnel_id = ${tunnelId}
        ${after === undefined ? sql`` : sql`and (created_at, id) < (${after.createdAt}, ${after.id})`}
        order by created_at desc, id desc ${limit === undefined ? sql`` : sql`limit ${limit}`}`
    }),
    /** The link of a token; no other transaction redeems or revokes it before this one ends. */
    lockByToken: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Link,
      execute: (tokenHash) => sql`${link} where token_hash = ${tokenHash} for update`
    }),
    lock: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, tunnelId: Schema.String }),
      Result: Link,
      execute: ({ id, tunnelId }) => sql`${link} where id = ${id} and tunnel_id = ${tunnelId} for update`
    }),
    save: ({ id, opened, revoked }: KeptShareLink) =>
      sql`update share_links set ${sql.update({ opened, revoked })} where id = ${id}`,
    /** Links that ended long ago go, and the sessions they gave with them. */
    prune: (before: number) => sql`delete from share_links where expires_at < ${before}`,
    transaction: sql.withTransaction
  }
})
