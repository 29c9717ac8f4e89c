/** Creates, lists, shows, shares and removes topologies. `TopologyEditor` changes what is inside one. */
import type { Caller } from "@catenet/domain/api/Access"
import { PublicTopology, Topology, TopologyIds } from "@catenet/domain/topologies/Topology"
import {
  NetworkUnknown,
  type ShareNotFound,
  TopologyLimitReached,
  TopologyNotFound
} from "@catenet/domain/topologies/TopologyErrors"
import { requireOwner, share, unshare } from "@catenet/domain/topologies/TopologyMachine"
import { audit } from "@catenet/domain/values/AuditEffect"
import { Email } from "@catenet/domain/values/Email"
import { NetUuid, TopologyId } from "@catenet/domain/values/Ids"
import { Count } from "@catenet/domain/values/Numbers"
import { maxSharesPerTopology, maxTopologiesPerAccount } from "@catenet/domain/values/Quotas"
import type { IdempotencyKeyReused, LimitReached } from "@catenet/domain/values/RequestErrors"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { HttpServerRequest } from "effect/http"
import { SqlClient, SqlSchema } from "effect/sql"
import { MembershipRevocations } from "../channels/MembershipRevocations.ts"
import { Idempotency } from "../http/Idempotency.ts"
import { type Page, paged } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { over } from "../runtime/Over.ts"
import { freshHex32 } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { insertWithinQuota } from "../store/KeysetPage.ts"
import { inTransaction, inTransactionOf, sqlOrDie } from "../store/SqlOrDie.ts"
import { makeLockedTopology, TopologyStore } from "./TopologyStore.ts"

/** Queries of topologies. Each is one statement, so that its answer is of one moment. */
const Listed = Schema.Struct({ id: TopologyId, netUuid: NetUuid, createdAt: Schema.Int })
type Listed = typeof Listed.Type

/** Lists are in the order of creation. */
const After = Schema.Struct({ createdAt: Schema.Int, id: Schema.String })
const pageBounds = { after: Schema.UndefinedOr(After), limit: Schema.UndefinedOr(Schema.Int) }

const makeTopologyQueries = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const agents = sql`coalesce((select jsonb_agg(jsonb_build_array(g.agent, g.kind) order by g.agent)
    from topology_agents g where g.topology_id = t.id), '[]') as agents`
  const edges = (members: string) => sql`coalesce((select jsonb_agg(${sql.literal(members)} order by e.a, e.b)
    from topology_edges e where e.topology_id = t.id), '[]') as edges`
  const labels = sql`coalesce((select jsonb_agg(jsonb_build_object('agent', g.agent, 'label', g.label) order by g.agent)
    from topology_agents g where g.topology_id = t.id and g.label is not null), '[]') as labels`
  const page = ({
    after,
    limit
  }: {
    readonly after: typeof After.Type | undefined
    readonly limit: number | undefined
  }) =>
    sql`${after === undefined ? sql`` : sql`and (t.created_at, t.id) > (${after.createdAt}, ${after.id})`}
      order by t.created_at, t.id ${limit === undefined ? sql`` : sql`limit ${limit}`}`

  return {
    /** For the owner, and for a session whose e-mail address it is shared with. */
    visible: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, subject: Schema.String, email: Schema.NullOr(Schema.String) }),
      Result: Topology,
      execute: ({ email, id, subject }) =>
        sql`
        select t.id, t.net_uuid, t.owner, t.overlay_mode, ${agents}, ${labels},
          ${edges(`jsonb_strip_nulls(jsonb_build_object('a', e.a, 'b', e.b, 'channel', e.note))`)}
        from topologies t where t.id = ${id} and (t.owner = ${subject} or exists (
          select 1 from topology_shares s where s.topology_id = t.id and s.email = ${email}))`.withoutTransform
    }),
    /** For every visitor that knows the public id. Notes are left out: they are for the owner and editors. */
    published: SqlSchema.findOneOption({
      Request: NetUuid,
      Result: PublicTopology,
      execute: (netUuid) =>
        sql`
        select t.net_uuid, t.overlay_mode, ${agents}, ${edges(`jsonb_build_object('a', e.a, 'b', e.b)`)}
        from topologies t where t.net_uuid = ${netUuid}`.withoutTransform
    }),
    owned: SqlSchema.findAll({
      Request: Schema.Struct({ subject: Schema.String, ...pageBounds }),
      Result: Listed,
      execute: ({ subject, ...rest }) => sql`
        select t.id, t.net_uuid, t.created_at from topologies t where t.owner = ${subject} ${page(rest)}`
    }),
    shared: SqlSchema.findAll({
      Request: Schema.Struct({ email: Schema.String, ...pageBounds }),
      Result: Listed,
      execute: ({ email, ...rest }) => sql`
        select t.id, t.net_uuid, t.created_at from topology_shares s join topologies t on t.id = s.topology_id
        where s.email = ${email} ${page(rest)}`
    })
  }
})

type Account = Caller["Service"]

const idFrom = Schema.decodeSync(TopologyId)
const netUuidFrom = Schema.decodeSync(NetUuid)

const dependencies = Effect.gen(function* () {
  const store = yield* TopologyStore
  const queries = yield* makeTopologyQueries
  const locked = yield* makeLockedTopology
  const audits = yield* Audits
  const cuts = yield* MembershipRevocations
  const { once } = yield* Idempotency
  const random = yield* SecureRandom.SecureRandom
  const fresh = Effect.provideService(freshHex32, SecureRandom.SecureRandom, random)
  return { audits, cuts, fresh, locked, once, queries, store }
})
type State = Effect.Success<typeof dependencies>

const insert = Effect.fnUntraced(
  function* ({ audits, fresh, store }: State, owner: Account["subject"]) {
    const ids = { id: idFrom(yield* fresh), netUuid: netUuidFrom(yield* fresh) }
    const made = yield* store.insertWithin({ ...ids, owner, createdAt: yield* unixSeconds }, maxTopologiesPerAccount)
    if (made.length === 0) return yield* new TopologyLimitReached({ limit: Count.make(maxTopologiesPerAccount) })
    yield* audits.append(audit("topology_created", owner, ids.id))
    return new TopologyIds({ id: ids.id, net_uuid: ids.netUuid })
  },
  (self, state) => state.store.transaction(self)
)

const idsOf = (rows: ReadonlyArray<Listed>) => rows.map(({ id, netUuid }) => new TopologyIds({ id, net_uuid: netUuid }))

const keyOf = ({ createdAt, id }: Listed) => ({ createdAt, id })

const create = Effect.fn("Topologies.create")(function* (state: State, { subject }: Account, key: string | undefined) {
  const repeat = { caller: subject, operation: "create-topology", key, request: null }
  return yield* state.once(repeat, TopologyIds, insert(state, subject))
}, sqlOrDie)

const list = Effect.fn("Topologies.list")(function* ({ queries }: State, { subject }: Account, page: Page) {
  return idsOf(yield* paged(page, After, (slice) => queries.owned({ subject, ...slice }), keyOf))
}, Effect.orDie)

const listShared = Effect.fn("Topologies.listShared")(function* ({ queries }: State, { email }: Account, page: Page) {
  if (email === null) return []
  return idsOf(yield* paged(page, After, (slice) => queries.shared({ email, ...slice }), keyOf))
}, Effect.orDie)

const get = Effect.fn("Topologies.get")(function* ({ queries }: State, { email, subject }: Account, id: TopologyId) {
  const found = yield* queries.visible({ id, subject, email })
  return yield* Option.isSome(found) ? Effect.succeed(found.value) : new TopologyNotFound()
}, sqlOrDie)

const published = Effect.fn("Topologies.published")(function* ({ queries }: State, netUuid: NetUuid) {
  const found = yield* queries.published(netUuid)
  return yield* Option.isSome(found) ? Effect.succeed(found.value) : new NetworkUnknown()
}, sqlOrDie)

const remove = Effect.fn("Topologies.remove")(function* (
  { audits, cuts, locked, store }: State,
  account: Account,
  id: TopologyId
) {
  const topology = yield* locked.hold(id, account)
  yield* Effect.fromResult(requireOwner(topology, account))
  yield* store.announce(id)
  yield* cuts.cutAll(yield* store.remove(id))
  yield* audits.append(audit("topology_deleted", account.subject, id))
}, inTransaction)

const removeAllOf = Effect.fn("Topologies.removeAllOf")(function* (
  { cuts, store }: State,
  { email, subject }: Account
) {
  yield* cuts.cutAll(yield* store.removeAllOf(subject, email))
}, sqlOrDie)

const rename = Effect.fn("Topologies.rename")(function* (
  { locked, store }: State,
  account: Account,
  id: TopologyId,
  name: string | null
) {
  yield* Effect.fromResult(requireOwner(yield* locked.hold(id, account), account))
  yield* store.setName(id, name)
  yield* store.announce(id)
}, inTransaction)

const shares = Effect.fn("Topologies.shares")(function* (
  { locked, store }: State,
  account: Account,
  id: TopologyId,
  page: Page
) {
  yield* Effect.fromResult(requireOwner(yield* locked.read(id, account), account))
  const found = yield* paged(
    page,
    Email,
    (slice) => store.shares({ id, ...slice }),
    ({ email }) => email
  )
  return found.map(({ email }) => email)
}, sqlOrDie)

export class Topologies extends Context.Service<
  Topologies,
  {
    readonly create: (
      account: Account,
      key: string | undefined
    ) => Effect.Effect<TopologyIds, IdempotencyKeyReused | TopologyLimitReached>
    /** An account's own, oldest first. */
    readonly list: (
      account: Account,
      page: Page
    ) => Effect.Effect<ReadonlyArray<TopologyIds>, never, HttpServerRequest.HttpServerRequest>
    /** Topologies of other accounts that are shared with the session's verified address; none without such an address. */
    readonly listShared: (
      account: Account,
      page: Page
    ) => Effect.Effect<ReadonlyArray<TopologyIds>, never, HttpServerRequest.HttpServerRequest>
    readonly get: (account: Account, id: TopologyId) => Effect.Effect<Topology, TopologyNotFound>
    /** Sets what its owner calls it; null takes the name away. */
    readonly rename: (account: Account, id: TopologyId, name: string | null) => Effect.Effect<void, TopologyNotFound>
    /** What the public page shows to every visitor that knows the public id. */
    readonly published: (netUuid: NetUuid) => Effect.Effect<PublicTopology, NetworkUnknown>
    /** Removes a topology: its agents leave it, and the channels of its edges are closed. */
    readonly remove: (account: Account, id: TopologyId) => Effect.Effect<void, TopologyNotFound>
    /** Removes all that an account has here; agents of other accounts leave its topologies. Part of the caller's transaction. */
    readonly removeAllOf: (account: Account) => Effect.Effect<void>
    /** Lets an address view it and wire its own agents. */
    readonly share: (
      account: Account,
      id: TopologyId,
      email: Email
    ) => Effect.Effect<void, LimitReached | TopologyNotFound>
    readonly unshare: (account: Account, id: TopologyId, email: Email) => Effect.Effect<void, ShareNotFound>
    /** The addresses that it is shared with, in their order. */
    readonly shares: (
      account: Account,
      id: TopologyId,
      page: Page
    ) => Effect.Effect<ReadonlyArray<Email>, TopologyNotFound, HttpServerRequest.HttpServerRequest>
  }
>()("server/topologies/Topologies") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, {
      create,
      list,
      listShared,
      get,
      rename,
      published,
      remove,
      removeAllOf,
      shares
    }),
    share: Effect.fn("Topologies.share")(function* (account: Account, id: TopologyId, email: Email) {
      const topology = yield* state.locked.hold(id, account, { email })
      const { next } = yield* Effect.fromResult(share(topology, account, email))
      if (next === topology) return
      yield* Effect.flatMap(
        state.store.share(id, email),
        insertWithinQuota("shares of this topology", maxSharesPerTopology)
      )
      yield* state.store.announce(id)
      yield* state.audits.append(audit("topology_shared", account.subject, id, email))
    }, inTransactionOf(state.store)),
    unshare: Effect.fn("Topologies.unshare")(function* (account: Account, id: TopologyId, email: Email) {
      const topology = yield* state.locked.hold(id, account, { email })
      yield* Effect.fromResult(unshare(topology, account, email))
      yield* state.store.unshare(id, email)
      yield* state.store.announce(id)
      yield* state.audits.append(audit("topology_unshared", account.subject, id, email))
    }, inTransactionOf(state.store))
  }))

  static readonly layer = Layer.effect(Topologies, Topologies.make).pipe(
    Layer.provide([Audits.layer, Idempotency.layer, MembershipRevocations.layer, TopologyStore.layer])
  )
}
