/** The table of tunnels, as their owners and grantees see them. */
import { PublicPort } from "@catenet/domain/edges/PublicPort"
import { AgentProof, tunnelOptionNames, TunnelOptions, TunnelOptionsChange } from "@catenet/domain/edges/TunnelOptions"
import { DnsRecord, HostnameProof } from "@catenet/domain/tunnels/HostnameOwnership"
import { BridgeMode, Tunnel, TunnelKind, TunnelName, TunnelOfSubject } from "@catenet/domain/tunnels/Tunnel"
import type { Audit } from "@catenet/domain/values/AuditEffect"
import { TunnelHostname } from "@catenet/domain/values/Hostname"
import { TunnelId } from "@catenet/domain/values/Ids"
import { Port, UnixSeconds } from "@catenet/domain/values/Numbers"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { proofOf } from "../edges/AgentKeyStore.ts"
import { portOf } from "../edges/EdgeStore.ts"
import type { Kept } from "../http/Idempotency.ts"
import type { Refusal } from "../identity/AuditStore.ts"
import { keysetOn, PageOfAll } from "../store/KeysetPage.ts"
import type { HostnameRules } from "./hostnames/HostnameRules.ts"

/** A tunnel as accounts see it: the row, and of a name that its owner brought what proves it. */
export const tunnelOf =
  (rules: HostnameRules["Service"]) =>
  ({ checked_at, claimed, options, proved_at, provisioned, ...row }: ShownRow): Tunnel => {
    const isClaim = claimed !== null && !provisioned && !rules.isGiven(claimed)
    const delegation = isClaim ? rules.certificateRecordOf(row.id, claimed) : undefined
    const hostname_proof = isClaim
      ? new HostnameProof({
          hostname: claimed,
          state: proved_at === null ? "pending" : "proved",
          checked_at,
          records: rules.recordsOf(row.id, claimed).map((record) => new DnsRecord(record)),
          ...(delegation !== undefined && { certificate: new DnsRecord(delegation) })
        })
      : null
    // The row was checked when it was read.
    const port_host = row.kind === "http" || row.port === null ? null : rules.portHost(row.kind)
    return new Tunnel({ ...row, ...options, hostname_proof, port_host }, { disableChecks: true })
  }

const Fresh = Schema.Struct({
  id: TunnelId,
  subject: Schema.String,
  name: Schema.String,
  hostname: Schema.NullOr(TunnelHostname),
  routingToken: RoutingToken,
  createdAt: Schema.Int
})

const Seen = Schema.Struct({
  id: TunnelId,
  subject: Schema.String,
  name: TunnelName,
  hostname: Schema.NullOr(TunnelHostname),
  routingToken: RoutingToken,
  bridgeMode: BridgeMode,
  options: TunnelOptions,
  publicPort: Schema.NullOr(PublicPort)
})
/** A tunnel as commands need it. */
export type Seen = typeof Seen.Type

const encodeFresh = Schema.encodeSync(Fresh)
const After = Schema.Struct({ createdAt: Schema.Int, id: Schema.String })

const shown = Struct.omit(Tunnel.fields, ["hostname_proof", "port_host", ...tunnelOptionNames])
/** A tunnel as it is shown, with the claim of a host name that its owner brought. */
const ShownRow = Schema.Struct({
  ...shown,
  options: TunnelOptions,
  agent_proof: AgentProof,
  kind: TunnelKind,
  port: Schema.NullOr(Port),
  claimed: Schema.NullOr(TunnelHostname),
  proved_at: Schema.NullOr(UnixSeconds),
  checked_at: Schema.NullOr(UnixSeconds),
  provisioned: Schema.Boolean
})
export type ShownRow = typeof ShownRow.Type

interface Enrolled extends Refusal {
  readonly isNew: boolean
}

export interface Change {
  readonly name?: string
  readonly requireLogin?: boolean
  readonly allowAnyLogin?: boolean
  readonly allowUnprovedAgents?: boolean
}

const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const seen = sql`select t.id, t.subject, t.name, t.hostname, t.routing_token, t.bridge_mode, t.options,
    ${portOf(sql)} as public_port from tunnels t`
  /** With where its hostname stands. */
  const shownTo = (viewer: string) => sql`
    select t.id, t.name, t.hostname, c.hostname as claimed, c.proved_at, c.checked_at, coalesce(c.provisioned, true)
      as provisioned, coalesce(h.status, 'rot') as status, h.deadline as claim_deadline, t.require_login,
      t.allow_any_login, t.bridge_mode, t.subject = ${viewer} as owned, t.created_at, t.options,
      ${proofOf(sql)} as agent_proof, coalesce(p.protocol, case when (t.options ->> 'tls')::boolean then 'tcp' else 'http' end) as kind, p.port
    from tunnels t left join public_ports p on p.tunnel_id = t.id left join hosts h on h.hostname = t.hostname and h.routing_token = t.routing_token
      left join hostname_claims c on c.tunnel_id = t.id`
  /** Two index reads; a condition with `or` would read the table. */
  const isVisible = (subject: string) => sql`t.id in (
    select id from tunnels where subject = ${subject}
    union all select tunnel_id from tunnel_grants where grantee = ${subject})`

  const isAfter = (after: typeof After.Type | undefined) =>
    after === undefined ? sql`` : sql`and (l.created_at, l.id) > (${after.createdAt}, ${after.id})`
  /** Of each kind no more than the page can hold is read, so that a page costs the same in a long list. */
  const isListed = (
    subject: string,
    { after, limit, search }: { after: typeof After.Type | undefined; limit: number | undefined; search: string }
  ) => {
    const like = `%${search.replaceAll(/[\\%_]/gu, (sign) => `\\${sign}`)}%`
    const isFound = search === "" ? sql`` : sql`and (l.name ilike ${like} or l.hostname ilike ${like})`
    const most = limit === undefined ? sql`` : sql`order by l.created_at, l.id limit ${limit}`
    return sql`t.id in (
      (select l.id from tunnels l where l.subject = ${subject} ${isAfter(after)} ${isFound} ${most})
      union all (select l.id from tunnels l where l.id in (
        select tunnel_id from tunnel_grants where grantee = ${subject}) ${isAfter(after)} ${isFound} ${most}))`
  }
  return {
    /**
     * Makes the tunnel with its audit entry, and keeps the answer for the key of the request; changes nothing where the key was
     * used before. With `usualMost` the account must have room, else `tunnels_per_account` is violated; commands that count its
     * tunnels come one after the other.
     */
    enrol: (
      tunnel: typeof Fresh.Type,
      usualMost: number | undefined,
      { action, actor }: Audit,
      kept: Kept | undefined
    ) => {
      const { createdAt, hostname, id, name, routingToken, subject } = encodeFresh(tunnel)
      const { caller = null, keyHash = null, nonce = null, requestHash = null, sealed = null } = kept ?? {}
      return sql<Enrolled>`select is_new, refusal from tunnel_enrol(${id}, ${subject}, ${name}, ${hostname}, ${routingToken},
        ${createdAt}, ${usualMost ?? null}, ${actor}, ${action}, ${caller}, ${keyHash}, ${requestHash}, ${nonce}, ${sealed})`
    },
    all: SqlSchema.findAll({
      Request: PageOfAll,
      Result: TunnelOfSubject,
      execute: (slice) =>
        sql`select id, subject, name, hostname, created_at from tunnels
          where true ${keysetOn(sql)("id", slice)}`.withoutTransform
    }),
    list: SqlSchema.findAll({
      Request: Schema.Struct({
        subject: Schema.String,
        after: Schema.UndefinedOr(After),
        limit: Schema.UndefinedOr(Schema.Int),
        search: Schema.String
      }),
      Result: ShownRow,
      execute: ({ after, limit, search, subject }) =>
        sql`${shownTo(subject)} where ${isListed(subject, { after, limit, search })}
        order by t.created_at, t.id ${limit === undefined ? sql`` : sql`limit ${limit}`}`.withoutTransform
    }),
    /** What is shown of a tunnel to an account that owns it or was granted it. */
    shown: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, subject: Schema.String }),
      Result: ShownRow,
      execute: ({ id, subject }) =>
        sql`${shownTo(subject)} where t.id = ${id} and ${isVisible(subject)}`.withoutTransform
    }),
    /** A tunnel that the account owns. */
    owned: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, subject: Schema.String }),
      Result: Seen,
      execute: ({ id, subject }) => sql`${seen} where t.id = ${id} and t.subject = ${subject}`
    }),
    /** The same, which nothing else changes before the transaction ends. */
    hold: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, subject: Schema.String }),
      Result: Seen,
      execute: ({ id, subject }) => sql`${seen} where t.id = ${id} and t.subject = ${subject} for update`
    }),
    /** A tunnel that the account owns or was granted. */
    visible: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, subject: Schema.String }),
      Result: Seen,
      execute: ({ id, subject }) => sql`${seen} where t.id = ${id} and ${isVisible(subject)}`
    }),
    /** Records that a grantee is shown the routing token. */
    shows: (id: string, grantee: string) => sql`
      update tunnel_grants set knows_token = true where tunnel_id = ${id} and grantee = ${grantee} and not knows_token`,
    change: (id: string, change: Change) => sql`update tunnels set ${sql.update({ ...change })} where id = ${id}`,
    /** Visitors reach the tunnel by TLS, and its agent gets what is inside. */
    endTls: (id: string) => sql`update tunnels set options = options || '{"tls": true}' where id = ${id}`,
    /** Answers all options as they are now. */
    switchOptions: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, change: TunnelOptionsChange }),
      Result: Schema.Struct({ routingToken: RoutingToken, options: TunnelOptions }),
      execute: ({ change, id }) =>
        sql`update tunnels set options = options || ${PgTypes.jsonb(change)} where id = ${id} returning routing_token, options`
    }),
    /** Removes the tunnel with all that hangs on it; its token is worthless for ever, at every edge. */
    remove: (tunnel: Seen, now: number) => {
      const { routing_token } = { routing_token: Schema.encodeSync(RoutingToken)(tunnel.routingToken) }
      return Effect.all([
        sql`delete from tunnels where id = ${tunnel.id}`,
        sql`delete from hosts where routing_token = ${routing_token}`,
        sql`insert into revoked_tokens (routing_token, revoked_at, holder)
          values (${routing_token}, ${now}, revocation_holder(${tunnel.subject})) on conflict do nothing`
      ])
    },
    transaction: sql.withTransaction
  }
})

export class TunnelStore extends Context.Service<TunnelStore>()("server/tunnels/TunnelStore", { make }) {
  static readonly layer = Layer.effect(TunnelStore, TunnelStore.make)
}
