/** Other people of a tunnel: grantees who may see it, visitors who pass its gate, and those who requested access. */
import type { Caller } from "@catenet/domain/api/Access"
import { AccessRequest } from "@catenet/domain/api/TunnelsApi"
import { GrantNotFound, type TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import { Email } from "@catenet/domain/values/Email"
import { Subject } from "@catenet/domain/values/Ids"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { maxGrantsPerTunnel, maxVisitorsPerTunnel } from "@catenet/domain/values/Quotas"
import type { LimitReached } from "@catenet/domain/values/RequestErrors"
import { Context, Effect, Layer, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { SqlClient, SqlSchema } from "effect/sql"
import { type Page, pagedOf } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { over } from "../runtime/Over.ts"
import { insertWithinQuota } from "../store/KeysetPage.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { LoginOrders } from "./LoginOrders.ts"
import { TokenRotations } from "./TokenRotations.ts"
import { Tunnels } from "./Tunnels.ts"

// The tables beside a tunnel: grantees, visitors of its login gate, and those who asked to be let in.

/** So many rows of a tunnel after this name. */
const Slice = Schema.Struct({
  of: Schema.String,
  after: Schema.UndefinedOr(Schema.String),
  limit: Schema.UndefinedOr(Schema.Int)
})
type Slice = typeof Slice.Type

const makeTunnelSharingStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const part = (column: string, { after, limit, of }: Slice) => sql`
    where tunnel_id = ${of} ${after === undefined ? sql`` : sql`and ${sql(column)} > ${after}`}
    order by ${sql(column)} ${limit === undefined ? sql`` : sql`limit ${limit}`}`
  return {
    /** Additions to one tunnel's lists come one after the other. */
    lock: (id: string) => sql`select pg_advisory_xact_lock(hashtextextended(${id}, 47))`,
    /** A row, also where it was there; none where there is no room. */
    grant: (id: string, grantee: string) => sql`
      insert into tunnel_grants (tunnel_id, grantee) select ${id}, ${grantee}
      where (select count(*) from tunnel_grants where tunnel_id = ${id} and grantee <> ${grantee}) < ${maxGrantsPerTunnel}
      on conflict (tunnel_id, grantee) do update set grantee = excluded.grantee returning 1`,
    grantees: SqlSchema.findAll({
      Request: Slice,
      Result: Schema.Struct({ grantee: Subject }),
      execute: (slice) => sql`select grantee from tunnel_grants ${part("grantee", slice)}`
    }),
    /** A visitor who is let in has no request any more. A row, also where it was there; none where there is no room. */
    admit: (id: string, email: string) => sql`
      with asked as (
        delete from tunnel_access_requests where tunnel_id = ${id} and email = ${email})
      insert into tunnel_visitors (tunnel_id, email) select ${id}, ${email}
      where (select count(*) from tunnel_visitors where tunnel_id = ${id} and email <> ${email}) < ${maxVisitorsPerTunnel}
      on conflict (tunnel_id, email) do update set email = excluded.email returning 1`,
    turnAway: (id: string, email: string) =>
      sql`delete from tunnel_visitors where tunnel_id = ${id} and email = ${email}`,
    visitors: SqlSchema.findAll({
      Request: Slice,
      Result: Schema.Struct({ email: Email }),
      execute: (slice) => sql`select email from tunnel_visitors ${part("email", slice)}`
    }),
    requests: SqlSchema.findAll({
      Request: Slice,
      Result: Schema.Struct({ email: Email, note: Schema.String, at: UnixSeconds }),
      execute: (slice) => sql`select email, note, at from tunnel_access_requests ${part("email", slice)}`
    }),
    dismiss: (id: string, email: string) =>
      sql`delete from tunnel_access_requests where tunnel_id = ${id} and email = ${email} returning email`,
    transaction: sql.withTransaction
  }
})

type Account = Caller["Service"]

const dependencies = Effect.gen(function* () {
  const tunnels = yield* Tunnels
  const audits = yield* Audits
  const rotations = yield* TokenRotations
  const logins = yield* LoginOrders
  const store = yield* makeTunnelSharingStore
  return { audits, logins, rotations, store, tunnels }
})
type State = Effect.Success<typeof dependencies>

/** Everything here belongs to the owner of the tunnel. */
const asOwner = <A, E, R>({ tunnels }: State, account: Account, id: string, use: Effect.Effect<A, E, R>) =>
  Effect.andThen(tunnels.owned(id, account), Effect.orDie(use))

/** A page of a list, whose entries go by a name. */
const listed =
  <A, E>(state: State, list: (slice: Slice) => Effect.Effect<ReadonlyArray<A>, E>, name: (entry: A) => string) =>
  (account: Account, id: string, page: Page) =>
    asOwner(state, account, id, pagedOf(page, id, list, name))

const found = (removed: ReadonlyArray<unknown>) => (removed.length === 0 ? new GrantNotFound() : Effect.void)

/** Who may see or visit a tunnel is changed in one transaction with the entry that says so. */
const recorded = <E, R>(
  { audits, store }: State,
  action: string,
  account: Account,
  id: string,
  whom: string,
  change: Effect.Effect<void, E, R>
) => Effect.andThen(change, audits.append(audit(action, account.subject, id, whom))).pipe(store.transaction, sqlOrDie)

const grantees = (state: State) => listed(state, state.store.grantees, ({ grantee }) => grantee)

const visitors = (state: State) => listed(state, state.store.visitors, ({ email }) => email)

const requests = (state: State) => listed(state, state.store.requests, ({ email }) => email)

const grant = (state: State, account: Account, id: string, grantee: Subject) =>
  recorded(
    state,
    "tunnel_granted",
    account,
    id,
    grantee,
    Effect.flatMap(
      asOwner(state, account, id, Effect.andThen(state.store.lock(id), state.store.grant(id, grantee))),
      insertWithinQuota("grants of this tunnel", maxGrantsPerTunnel)
    )
  )

const ungrant = (state: State, account: Account, id: string, grantee: Subject) =>
  recorded(
    state,
    "tunnel_ungranted",
    account,
    id,
    grantee,
    Effect.flatMap(asOwner(state, account, id, state.rotations.endGrants(grantee, id, account.subject)), found)
  )

const allowVisitor = (state: State, account: Account, id: string, email: Email) =>
  recorded(
    state,
    "tunnel_visitor_allowed",
    account,
    id,
    email,
    Effect.flatMap(
      asOwner(state, account, id, Effect.andThen(state.store.lock(id), state.store.admit(id, email))),
      insertWithinQuota("visitors of this tunnel", maxVisitorsPerTunnel)
    )
  )

const disallowVisitor = (state: State, account: Account, id: string, email: Email) =>
  recorded(
    state,
    "tunnel_visitor_disallowed",
    account,
    id,
    email,
    Effect.asVoid(
      asOwner(state, account, id, Effect.andThen(state.store.turnAway(id, email), state.logins.tunnelChanged(id)))
    )
  )

const accessRequests = (state: State, account: Account, id: string, page: Page) =>
  Effect.map(requests(state)(account, id, page), (rows) => rows.map((row) => new AccessRequest(row)))

const dismiss = (state: State, account: Account, id: string, email: Email) =>
  Effect.flatMap(asOwner(state, account, id, state.store.dismiss(id, email)), found)

export class TunnelSharing extends Context.Service<
  TunnelSharing,
  {
    readonly grant: (
      account: Account,
      id: string,
      grantee: Subject
    ) => Effect.Effect<void, LimitReached | TunnelNotFound>
    readonly ungrant: (
      account: Account,
      id: string,
      grantee: Subject
    ) => Effect.Effect<void, GrantNotFound | TunnelNotFound>
    readonly grantees: (
      account: Account,
      id: string,
      page: Page
    ) => Effect.Effect<ReadonlyArray<Subject>, TunnelNotFound, HttpServerRequest.HttpServerRequest>
    readonly allowVisitor: (
      account: Account,
      id: string,
      email: Email
    ) => Effect.Effect<void, LimitReached | TunnelNotFound>
    readonly disallowVisitor: (account: Account, id: string, email: Email) => Effect.Effect<void, TunnelNotFound>
    readonly visitors: (
      account: Account,
      id: string,
      page: Page
    ) => Effect.Effect<ReadonlyArray<Email>, TunnelNotFound, HttpServerRequest.HttpServerRequest>
    readonly accessRequests: (
      account: Account,
      id: string,
      page: Page
    ) => Effect.Effect<ReadonlyArray<AccessRequest>, TunnelNotFound, HttpServerRequest.HttpServerRequest>
    readonly dismiss: (
      account: Account,
      id: string,
      email: Email
    ) => Effect.Effect<void, GrantNotFound | TunnelNotFound>
  }
>()("server/tunnels/TunnelSharing") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { grant, ungrant, allowVisitor, disallowVisitor, accessRequests, dismiss }),
    grantees: (account: Account, id: string, page: Page) =>
      Effect.map(grantees(state)(account, id, page), (rows) => rows.map(({ grantee }) => grantee)),
    visitors: (account: Account, id: string, page: Page) =>
      Effect.map(visitors(state)(account, id, page), (rows) => rows.map(({ email }) => email))
  }))

  static readonly layer = Layer.effect(TunnelSharing, TunnelSharing.make).pipe(
    Layer.provide([Audits.layer, LoginOrders.layer, TokenRotations.layer, Tunnels.layer])
  )
}
