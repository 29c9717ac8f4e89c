/** Recorded ownership of hostnames, with the state of their certificate admission laid out in columns for the sweep. */
import type { AdmissionState } from "@catenet/domain/certificates/Admission"
import { budgetWindow } from "@catenet/domain/certificates/CertificateBudget"
import { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
import { TunnelOptions } from "@catenet/domain/edges/TunnelOptions"
import { StoredRules } from "@catenet/domain/rules/Rules"
import { TunnelStatus } from "@catenet/domain/tunnels/Tunnel"
import { type Hostname, TunnelHostname } from "@catenet/domain/values/Hostname"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient, SqlSchema, type Statement } from "effect/sql"

/** One row, as `hostColumns` selects it. */
export const HostRow = Schema.Struct({
  hostname: TunnelHostname,
  routingToken: RoutingToken,
  edgeId: Schema.String,
  authorizedAt: Schema.Int,
  status: TunnelStatus,
  claim: Schema.NullOr(Schema.Literals(["queued", "offered", "lapsed"])),
  ca: Schema.NullOr(Schema.String),
  queuedAt: Schema.NullOr(Schema.Int),
  deadline: Schema.NullOr(Schema.Int),
  retryAt: Schema.NullOr(Schema.Int),
  lapses: Schema.Int,
  pendingRevert: Schema.Boolean,
  loggedAt: Schema.NullOr(Schema.Int)
})
type HostRow = typeof HostRow.Type

const encodeRow = Schema.encodeSync(HostRow)

interface Owner {
  readonly hostname: Hostname
  readonly routingToken: RoutingToken
  readonly edgeId: string
  readonly authorizedAt: number
}

/** A hostname that is recorded as owned. */
export interface Host extends Owner {
  readonly admission: AdmissionState
}

/** The columns of a state; what a state does not have is null, which the table's constraints hold. */
const columnsOf = (
  admission: AdmissionState
): Omit<HostRow, "hostname" | "routingToken" | "edgeId" | "authorizedAt"> => {
  const none = { claim: null, ca: null, queuedAt: null, deadline: null, retryAt: null, lapses: 0, loggedAt: null }
  switch (admission._tag) {
    case "Rot":
      return { ...none, status: "rot", pendingRevert: false }
    case "Gruen":
      return {
        ...none,
        status: "gruen",
        ca: admission.ca,
        loggedAt: admission.loggedAt,
        pendingRevert: admission.pendingRevert
      }
    case "Gelb": {
      const { slot } = admission
      const gelb = { ...none, status: "gelb", pendingRevert: false, lapses: slot.lapses, ca: slot.ca } as const
      switch (slot._tag) {
        case "Queued":
          return { ...gelb, claim: "queued", queuedAt: slot.queuedAt }
        case "Offered":
          return { ...gelb, claim: "offered", deadline: slot.deadline }
        case "Lapsed":
          return { ...gelb, claim: "lapsed", retryAt: slot.retryAt }
      }
    }
  }
}

const admissionOf = (row: HostRow): AdmissionState => {
  if (row.status === "rot") return { _tag: "Rot" }
  const { ca, deadline, lapses, loggedAt, pendingRevert, queuedAt, retryAt } = row
  if (row.status === "gruen") return { _tag: "Gruen", ca, loggedAt, pendingRevert }
  if (ca !== null && deadline !== null) return { _tag: "Gelb", slot: { _tag: "Offered", ca, deadline, lapses } }
  if (retryAt !== null) return { _tag: "Gelb", slot: { _tag: "Lapsed", retryAt, lapses, ca } }
  return { _tag: "Gelb", slot: { _tag: "Queued", queuedAt: queuedAt ?? row.authorizedAt, lapses, ca } }
}

/** The state that its columns make. */
export const hostOf = (row: HostRow): Host => ({ ...row, admission: admissionOf(row) })

/** The columns of `HostRow`. */
export const hostColumns = (sql: SqlClient.SqlClient) =>
  sql.literal(
    `hostname, routing_token, edge_id, authorized_at, status, claim, ca, queued_at, deadline, retry_at, lapses,
    pending_revert, logged_at`
  )

/** Whether the edge ends the TLS of tunnel `g` in any case. */
const isEdgeTls = `coalesce((g.options ->> 'tls')::boolean, false)`

/** Whether no agent of tunnel `g` holds back the visitors whose TLS it ends. */
const isUnenforced = `not exists (select 1 from tunnel_policies p where p.tunnel_id = g.id and p.enforced)`

/** Whether tunnel `g` has rules and no agent that applies them. */
const isUnruled = `(g.rules <> '[]'::jsonb
  and not exists (select 1 from tunnel_policies p where p.tunnel_id = g.id and p.rules_enforced))`

/**
 * Whether the edge must end the TLS of `hosts h`: its visitors do not speak HTTP but connect by TLS, or they have to log in or may
 * speak HTTP only and no agent enforces that.
 */
export const isGuarded = (sql: SqlClient.SqlClient) =>
  sql.literal(
    `exists (select 1 from tunnels g where g.routing_token = h.routing_token
      and ((g.require_login or (g.options ->> 'http_only')::boolean) and ${isUnenforced} or ${isUnruled} or ${isEdgeTls}))`
  )

/** Whose share of its domain's budget the hostname of `hosts h` uses: its owner's or, of a service account, that of who made it, where the domain is the `zone` that accounts share. */
export const accountOf = (sql: SqlClient.SqlClient, zone: string | undefined) => sql`(case when h.domain = ${zone ?? ""}
  then (select quota_subject(o.subject) from tunnels o where o.routing_token = h.routing_token) end)`

/** Seconds for which an issuance counts of which nobody has seen the certificate. */
const unseenSeconds = 3600
/** Seconds between two looks for the certificate of one name. */
const lookSeconds = 300

/** Whether `issuances i` counts: its certificate was seen, or there was no time yet to look. */
export const isCounted = (sql: SqlClient.SqlClient, now: number) => sql`(i.is_seen or i.at > ${now - unseenSeconds})`

/** What the owner of a tunnel demands of its visitors. */
const Demanding = Schema.Struct({ requireLogin: Schema.Boolean, options: TunnelOptions, rules: StoredRules })

/** The tunnel of a hostname, as far as authorizing the hostname needs it. */
const TunnelOfHost = Schema.Struct({
  routingToken: RoutingToken,
  accessPolicy: Schema.NullOr(AccessPolicy),
  options: TunnelOptions,
  requireLogin: Schema.Boolean,
  rules: StoredRules,
  /** An agent of the tunnel enforces the login and the options where it ends the visitors' TLS, and one the rules. */
  enforced: Schema.Boolean,
  ruled: Schema.Boolean
})

const demandedOf = ({ options, requireLogin, rules }: typeof Demanding.Type): ReadonlyArray<string> => [
  ...(options.http_only || requireLogin ? ["gate", "windows", "http_only"] : []),
  ...(rules.length > 0 ? ["rules"] : []),
  // No agent enforces this one.
  ...(options.tls ? ["tls"] : [])
]

const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const find = SqlSchema.findOneOption({
    Request: Schema.Struct({ hostname: Schema.String, lock: Schema.Boolean }),
    Result: HostRow,
    execute: ({ hostname, lock }) =>
      sql`select ${hostColumns(sql)} from hosts where hostname = ${hostname} ${lock ? sql`for update` : sql``}`
  })
  const tunnelOf = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: TunnelOfHost,
    execute: (hostname) =>
      sql`select routing_token, access_policy, options, require_login, rules,
        not ${sql.literal(isUnenforced)} as enforced, not ${sql.literal(isUnruled)} as ruled
        from tunnels g where hostname = ${hostname}`
  })
  const heldByOthers = (which: Statement.Fragment, token: RoutingToken) =>
    Effect.map(
      sql`select 1 from hosts h left join tunnels t on t.routing_token = h.routing_token
        where ${which} and h.routing_token <> ${Redacted.value(token)} and t.subject is distinct from
          (select subject from tunnels where routing_token = ${Redacted.value(token)}) limit 1`,
      ({ length }) => length > 0
    )
  const revoked = SqlSchema.findOne({
    Request: RoutingToken,
    Result: Schema.Struct({ found: Schema.Boolean }),
    execute: (token) => sql`select exists (select 1 from revoked_tokens where routing_token = ${token}) as found`
  })
  const gated = SqlSchema.findOneOption({
    Request: RoutingToken,
    Result: Demanding,
    execute: (token) => sql`select require_login, options, rules from tunnels where routing_token = ${token} for share`
  })
  const findHost = (hostname: string, options: { readonly lock: boolean }) =>
    Effect.map(find({ hostname, ...options }), (found) => Option.map(found, hostOf))

  return {
    /** Whether one of these names leads to a tunnel of another account. */
    heldAbove: (names: ReadonlyArray<string>, token: RoutingToken) =>
      heldByOthers(sql`h.hostname = any(${names}::text[])`, token),
    /** Whether a name that a wildcard would stand for does. */
    heldBelow: (base: string, token: RoutingToken) =>
      heldByOthers(sql`h.domain = ${base} and h.hostname <> ${`*.${base}`}`, token),
    /** Names below this one are recorded one after the other, until the transaction ends. */
    lockNamesBelow: (base: string) => sql`select pg_advisory_xact_lock(hashtextextended(${base}, 186))`,
    /**
     * Whether the token was revoked; its tunnel, where there is one, is held until the end of the transaction. For an
     * update, because its hostname may follow: two that share the row would wait for each other.
     */
    isRevoked: (token: RoutingToken) =>
      sql`select 1 from tunnels where routing_token = ${Redacted.value(token)} for update`.pipe(
        Effect.andThen(revoked(token)),
        Effect.map(({ found }) => found)
      ),
    find: findHost,
    /** Holds the row of a hostname, a new one where there is none. Of two that are new at once, the second sees the first one's row. */
    hold: ({ authorizedAt, edgeId, hostname, routingToken }: Owner) =>
      sql`insert into hosts (hostname, routing_token, edge_id, authorized_at, status)
        values (${hostname}, ${Redacted.value(routingToken)}, ${edgeId}, ${authorizedAt}, 'rot')
        on conflict (hostname) do nothing`.pipe(
        Effect.andThen(findHost(hostname, { lock: true })),
        // One that was there may have gone before it was locked.
        Effect.repeat({ until: Option.isSome }),
        Effect.flatMap(Effect.fromOption)
      ),
    save: ({ admission, ...ownership }: Host) => {
      const { hostname, ...rest } = encodeRow({ ...ownership, ...columnsOf(admission) })
      return sql`insert into hosts ${sql.insert({ hostname, ...rest })}
        on conflict (hostname) do update set ${sql.update(rest)}`
    },
    /** The states of hostnames whose rows the transaction has locked, in one statement. */
    saveAdmissions: (states: ReadonlyArray<{ readonly hostname: string; readonly next: AdmissionState }>) => {
      const rows = states.map(({ hostname, next }) => {
        const { loggedAt, pendingRevert, queuedAt, retryAt, ...rest } = columnsOf(next)
        return {
          ...rest,
          hostname,
          queued_at: queuedAt,
          retry_at: retryAt,
          pending_revert: pendingRevert,
          logged_at: loggedAt
        }
      })
      return sql`update hosts h set status = r.status, claim = r.claim, ca = r.ca, queued_at = r.queued_at,
          deadline = r.deadline, retry_at = r.retry_at, lapses = r.lapses, pending_revert = r.pending_revert,
          logged_at = r.logged_at
        from jsonb_to_recordset(${PgTypes.jsonb(rows)}) as r(hostname text, status text, claim text, ca text, queued_at bigint,
          deadline bigint, retry_at bigint, lapses int, pending_revert boolean, logged_at bigint)
        where h.hostname = r.hostname`
    },
    /** There is a certificate now: what authorities said before is no news any more. */
    forgetFailures: (hostname: string) => sql`delete from issuance_failures where hostname = ${hostname}`,
    /** The order of the agent that had its turn is over. */
    forgetProgress: (hostname: string) => sql`delete from certificate_progress where hostname = ${hostname}`,
    tunnelOf,
    /** Whether visitors of the token's tunnel have to log in, which no other transaction changes before this one ends. */
    requiresLogin: (token: RoutingToken) =>
      Effect.map(
        gated(token),
        Option.exists(({ requireLogin }) => requireLogin)
      ),
    /** What agents have to enforce so that no edge holds visitors back; that stays so until this transaction ends. */
    guards: (token: RoutingToken) =>
      Effect.map(gated(token), (found) => (Option.isNone(found) ? [] : demandedOf(found.value))),
    logIssuance: ({
      at,
      ca,
      domain,
      hostname
    }: {
      readonly ca: string
      readonly domain: string
      readonly hostname: string
      readonly at: number
    }) => sql`insert into issuances (ca, domain, hostname, at, account) values (${ca}, ${domain}, ${hostname}, ${at},
      (select quota_subject(t.subject) from hosts h join tunnels t on t.routing_token = h.routing_token where h.hostname = ${hostname}))`,
    /** The certificate of a hostname was seen: its issuance counts for the week, and once, whichever hostname it is shown for. */
    see: (hostname: string, fingerprint: string) => sql`
      with known as (select 1 from issuances where fingerprint = ${fingerprint}),
        again as (delete from issuances where hostname = ${hostname} and not is_seen and exists (select 1 from known))
      update issuances set is_seen = true, fingerprint = ${fingerprint}
        where id = (select max(id) from issuances where hostname = ${hostname} and not is_seen)
          and not exists (select 1 from known)`,
    /** The issuance of a hostname of which nobody has seen the certificate. */
    unseenOf: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Schema.Struct({ ca: Schema.String }),
      execute: (hostname) =>
        sql`select ca from issuances where hostname = ${hostname} and not is_seen order by id desc limit 1`
    }),
    /** Removes what no budget counts any more. */
    pruneIssuances: (now: number) => sql`delete from issuances where at <= ${now - budgetWindow}`,
    /** Issuances of which nobody has seen the certificate, for this replica to look now. */
    unseen: SqlSchema.findAll({
      Request: Schema.Struct({ now: Schema.Int, limit: Schema.Int }),
      Result: Schema.Struct({ hostname: TunnelHostname }),
      execute: ({ limit, now }) => sql`update issuances set looked_at = ${now} where id in (
        select id from issuances where not is_seen and at > ${now - unseenSeconds}
          and coalesce(looked_at, 0) < ${now - lookSeconds}
        order by looked_at nulls first, id limit ${limit} for update skip locked) returning hostname`
    }),
    transaction: sql.withTransaction
  }
})

export class HostStore extends Context.Service<HostStore>()("server/tunnels/hostnames/HostStore", { make }) {
  static readonly layer = Layer.effect(HostStore, HostStore.make)
}
