/**
 * Repeats orders that an edge has forgotten. Our edges restore everything themselves, in an epoch; an edge without
 * epochs returns from a restart with its host names but without tiers, and does not report the restart.
 */
import { TunnelHostname } from "@catenet/domain/values/Hostname"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { retryForever } from "@catenet/platform/RetryForever"
import { Effect, Layer, Option, Redacted, Schedule, Schema } from "effect"
import { HttpClientError } from "effect/http"
import { SqlClient, SqlSchema } from "effect/sql"
import * as OutgoingHttp from "../http/OutgoingHttp.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import * as EdgeClient from "./EdgeClient.ts"
import { LiveEdges } from "./LiveEdges.ts"
import { Outbox } from "./Outbox.ts"
import { authorizeHost } from "./OutboxStore.ts"

/** What an edge is to serve, as it is compared with what it serves; and which edges are compared. */
const Wanted = Schema.Struct({
  hostname: TunnelHostname,
  token: RoutingToken,
  tier: Schema.Literals(["gelb", "passthrough"]),
  admissionUntil: Schema.NullOr(Schema.Int)
})
type Wanted = typeof Wanted.Type

const Due = Schema.Struct({ id: Schema.String, isDue: Schema.Boolean })

const makeEdgeComparisonStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = sql`hostname, routing_token as token, case when status = 'gelb' then 'gelb' else 'passthrough' end as tier,
    case when claim = 'offered' then deadline end as admission_until`
  const isServed = sql`not exists (select 1 from revoked_tokens r where r.routing_token = hosts.routing_token)`

  return {
    transaction: sql.withTransaction,
    /**
     * Edges of no epoch that have not been compared for so long, which one replica takes, and those that were away or have not
     * taken an order.
     */
    takeDue: SqlSchema.findAll({
      Request: Schema.Struct({ now: Schema.Int, interval: Schema.Int, away: Schema.Array(Schema.String) }),
      Result: Due,
      execute: ({ away, interval, now }) => sql`
        with due as (
          update edge_addresses set compared_at = ${now}
          where epoch is null and expires_at > ${now} and compared_at <= ${now - interval} returning edge_id)
        select edge_id as id, true as is_due from due
        union all select edge_id, false from edge_addresses e
          where epoch is null and expires_at > ${now} and compared_at > ${now - interval}
            and (edge_id = any(${away}::text[]) or edge_id in (
              select edge from (
                select edge from outbox where refused_at is null and due_at > ${now} order by due_at, id limit 100) put_off))`
    }),
    /** By their names, a page. */
    wanted: SqlSchema.findAll({
      Request: Schema.Struct({ after: Schema.String, limit: Schema.Int }),
      Result: Wanted,
      execute: ({ after, limit }) => sql`
        select ${columns} from hosts where hostname > ${after} and ${isServed} order by hostname limit ${limit}`
    }),
    /** Those of the same names that still lead to these tokens. */
    wantedNow: SqlSchema.findAll({
      Request: Schema.Struct({ hostnames: Schema.Array(Schema.String), tokens: Schema.Array(RoutingToken) }),
      Result: Wanted,
      execute: ({ hostnames, tokens }) => sql`
        select ${columns} from hosts
        where hostname = any(${hostnames}::text[]) and routing_token = any(${tokens}::text[]) and ${isServed}
        order by hostname`
    }),
    /** Those of the tokens that were ended. */
    ended: SqlSchema.findAll({
      Request: Schema.Array(Schema.String),
      Result: Schema.Struct({ token: RoutingToken }),
      execute: (tokens) => sql`
        select distinct routing_token as token from revoked_tokens where routing_token = any(${tokens}::text[])`
    }),
    /** What was put off while the edge was away is due. */
    hasten: (edge: string, now: number) => sql`
      with due as (
        update outbox set due_at = ${now} where edge = ${edge} and due_at > ${now} and refused_at is null returning 1)
      select pg_notify('outbox', '') from (select 1 from due limit 1) any_due`
  }
})

const patience = "5 seconds"
const pageOfHosts = 500

/** How the host is to be served; whether its visitors log in is an order of its own. */
const orderOf = ({ admissionUntil, hostname, tier }: Wanted) =>
  authorizeHost(hostname, { tier, ...(admissionUntil === null ? {} : { admissionUntil }) })

type Served = ReadonlyMap<string, string> | "unknown"

/** It has no such route, or answers in a way of its own. */
const isUnsupported = (error: unknown) =>
  HttpClientError.isHttpClientError(error)
    ? error.response?.status === 404 || error.reason._tag === "DecodeError"
    : Schema.isSchemaError(error)

const work = Effect.gen(function* () {
  const store = yield* makeEdgeComparisonStore
  const edges = yield* LiveEdges
  const outbox = yield* Outbox
  const clientAt = yield* EdgeClient.make
  const { edgeCompareSeconds, outboxIntervalSeconds } = yield* Settings
  if (Option.isNone(clientAt)) return yield* Effect.never
  const away = new Set<string>()
  /** Tokens whose end was pushed to an edge since it was last away; it may go on naming their hosts. */
  const pushedEnds = new Map<string, Set<string>>()

  /** The hosts that the edge says it serves: none where it does not answer, unknown where it cannot say. */
  const served = Effect.fnUntraced(function* (url: string) {
    const client = yield* clientAt.value(url)
    return yield* client.facts.hosts().pipe(
      Effect.map((hosts): Served => new Map(hosts.map(({ hostname, token }) => [hostname, Redacted.value(token)]))),
      Effect.catchIf(isUnsupported, () => Effect.succeed<Served>("unknown")),
      Effect.timeout(patience),
      Effect.asSome,
      Effect.orElseSucceed(() => Option.none<Served>())
    )
  })

  /** An edge does not say which tier a host has, so what is not its first state is pushed whatever it serves. */
  const pushPage = Effect.fnUntraced(function* (edge: string, hosts: Served, after: string) {
    const page = yield* store.wanted({ after, limit: pageOfHosts })
    const unsure = page.filter(
      ({ hostname, tier, token }) =>
        tier === "gelb" || (hosts !== "unknown" && hosts.get(hostname) !== Redacted.value(token))
    )
    const tokens = [...new Map(unsure.map(({ token }) => [Redacted.value(token), token])).values()]
    const hostnames = unsure.map(({ hostname }) => hostname)
    const entries = Effect.map(store.wantedNow({ hostnames, tokens }), (rows) =>
      rows.map((row) => ({ queue: row.token, call: orderOf(row) }))
    )
    if (unsure.length > 0) yield* store.transaction(outbox.restate(edge, tokens, entries))
    return page.length < pageOfHosts ? undefined : page.at(-1)?.hostname
  })

  const push = Effect.fnUntraced(function* (edge: string, hosts: Served) {
    const pushed = pushedEnds.get(edge) ?? new Set()
    const tokens = hosts === "unknown" ? [] : [...new Set(hosts.values())].filter((token) => !pushed.has(token))
    const ended = (yield* store.ended(tokens)).map(({ token }) => token)
    pushedEnds.set(edge, new Set([...pushed, ...ended.map((token) => Redacted.value(token))]))
    const revocations = ended.map((queue) => ({ queue, call: { _tag: "Revoke" } as const }))
    if (ended.length > 0) yield* store.transaction(outbox.restate(edge, ended, Effect.succeed(revocations)))
    let after: string | undefined = ""
    while (after !== undefined) after = yield* pushPage(edge, hosts, after)
  })

  const compare = Effect.fnUntraced(function* ({ id, isDue }: { readonly id: string; readonly isDue: boolean }) {
    const url = (yield* edges.all).find((edge) => edge.id === id)?.url
    if (url === undefined) return
    const hosts = yield* served(url)
    if (Option.isNone(hosts)) {
      if (!away.has(id))
        yield* Effect.logWarning("An edge did not report which hosts it serves; trying again.", { edge: id })
      return void away.add(id)
    }
    const isBack = away.delete(id)
    if (isBack) pushedEnds.delete(id)
    if (isDue || isBack) yield* push(id, hosts.value)
    if (isBack) yield* Effect.flatMap(unixSeconds, (now) => store.hasten(id, now))
  })

  return yield* Effect.gen(function* () {
    const due = yield* store.takeDue({ now: yield* unixSeconds, interval: edgeCompareSeconds, away: [...away] })
    yield* Effect.forEach(due, compare, { discard: true })
  }).pipe(Effect.repeat(Schedule.spaced(`${outboxIntervalSeconds} seconds`)), Effect.asVoid)
}).pipe(retryForever("Comparing edges with what they are to serve"))

/** Runs as long as the layer lives. */
export const layer = Layer.effectDiscard(Effect.forkScoped(work)).pipe(
  Layer.provide([LiveEdges.layer, Outbox.layer, OutgoingHttp.layerToEdges])
)
