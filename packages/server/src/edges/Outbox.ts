/**
 * Calls to edges that must not be lost. They are written in the transaction of the command that causes them, one row
 * for each live edge, and delivered in order for each tunnel until acknowledged, by any replica that can call edges.
 * Calls that an edge refuses for good are kept and marked, and no longer block the queue.
 */
import type { EdgeOrder } from "@catenet/domain/edges/EdgeOrder"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { retryForever } from "@catenet/platform/RetryForever"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Option, Queue, Redacted, Result, type Schema } from "effect"
import type { SqlError } from "effect/sql"
import { over } from "../runtime/Over.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { EdgeAdmin, type EdgeRefused, EdgeUnreachable } from "./EdgeAdmin.ts"
import { LiveEdges } from "./LiveEdges.ts"
import { type Entry, type Leased, OutboxStore } from "./OutboxStore.ts"

/** Rows that the caller will deliver itself by `deliver`, in the order in which they were written. */
export interface DeliveryTicket {
  readonly queue: RoutingToken
  readonly ids: ReadonlyArray<number>
}

/** Seconds that a writer has for delivering its own rows before others may. */
const ownSeconds = 15

/** How long a caller waits for edges whose answer does not decide. */
const othersWait = "2 seconds"

const longestWait = 60
const backOff = (attempts: number) => Math.min(2 ** Math.min(attempts, 10) / 2, longestWait)

const dependencies = Effect.gen(function* () {
  const edge = yield* EdgeAdmin
  const edges = yield* LiveEdges
  const store = yield* OutboxStore
  const home = edges.home?.id ?? null
  return { edge, edges, home, store }
})
type State = Effect.Success<typeof dependencies>

/** Orders that change what agents have to enforce. */
const policyOrders = ["SetLogin", "SetOptions", "SetAccessPolicy", "SetRules"] as const

/** With the revisions of the policies that these calls change, where there are any. */
const revised = Effect.fnUntraced(function* ({ store }: State, entries: ReadonlyArray<Entry>) {
  const queuesOf = (...tags: ReadonlyArray<EdgeOrder["_tag"]>) =>
    entries.filter(({ call }) => tags.includes(call._tag)).map(({ queue }) => queue)
  const queues = queuesOf(...policyOrders)
  if (queues.length === 0) return entries
  yield* store.lock(entries.map(({ queue }) => Redacted.value(queue)))
  const found = yield* store.revise({ queues, logins: queuesOf("SetLogin") })
  const revisions = new Map(found.map(({ queue, revision }) => [Redacted.value(queue), revision]))
  return entries.map(({ call, queue }): Entry => {
    const revision = revisions.get(Redacted.value(queue))
    const isPolicy = policyOrders.some((tag) => tag === call._tag)
    return { queue, call: isPolicy && revision !== undefined ? Object.assign({}, call, { revision }) : call }
  })
})

const write = Effect.fnUntraced(function* (state: State, entries: ReadonlyArray<Entry>, own: boolean) {
  const { edges, home, store } = state
  if (entries.length === 0) return []
  const now = yield* unixSeconds
  yield* edges.hold
  const rows = yield* store.insert({
    entries: yield* revised(state, entries),
    home,
    only: null,
    now,
    leasedUntil: own && edges.canDeliver ? now + ownSeconds : 0
  })
  if (rows.length > 0) yield* store.notify
  return rows.map(({ id }) => id)
})

const inQueue = (queue: RoutingToken, calls: ReadonlyArray<EdgeOrder>) => calls.map((call) => ({ queue, call }))

const attempt = Effect.fnUntraced(function* ({ edge, store }: State, row: Leased) {
  yield* edge.perform(row.edge, row.queue, row.call, row.ownerAccount).pipe(
    Effect.tapErrorTag("EdgeUnreachable", () =>
      Effect.flatMap(unixSeconds, (now) => store.postpone(row, now + backOff(row.attempts)))
    ),
    Effect.tapErrorTag("EdgeRefused", ({ why }) => Effect.flatMap(unixSeconds, (now) => store.refuse(row, now, why)))
  )
  yield* store.acknowledge(row)
})

/** Delivers the queue to one edge up to the caller's last row; another replica may be at work on an earlier one. */
const drain = (
  state: State,
  { ids, queue }: DeliveryTicket,
  to: string
): Effect.Effect<void, EdgeUnreachable | EdgeRefused> =>
  Effect.gen(function* () {
    const now = yield* unixSeconds
    const next = state.edges.canDeliver
      ? yield* state.store.leaseFirst({ now, queue, edge: to, own: ids })
      : Option.none()
    if (Option.isSome(next)) {
      const outcome = attempt(state, next.value)
      yield* ids.includes(next.value.id) ? outcome : Effect.catchTag(outcome, "EdgeRefused", () => Effect.void)
    } else {
      yield* Effect.sleep("100 millis")
    }
    const { remaining } = yield* state.store.remaining({ edge: to, ids })
    return remaining > 0
  }).pipe(
    Effect.repeat({ while: (more) => more }),
    Effect.asVoid,
    sqlOrDie,
    Effect.timeoutOrElse({
      duration: "10 seconds",
      orElse: () => Effect.fail(new EdgeUnreachable({ why: "an earlier call has not been delivered yet" }))
    })
  )

/** Where the edge of new tunnels is among them, it decides; otherwise one edge that took the calls is enough. */
const deliver = Effect.fnUntraced(function* (state: State, ticket: DeliveryTicket) {
  const all = (yield* state.store.edgesOf(ticket.ids)).map((row) => row.edge)
  const decisive = all.includes(state.edges.homeId) ? [state.edges.homeId] : all
  const others = all.filter((each) => !decisive.includes(each))
  const outcome = (to: string) =>
    Effect.result(Effect.tapError(drain(state, ticket, to), ({ message }) => Effect.logWarning(message, { edge: to })))
  const [outcomes] = yield* Effect.all(
    [
      Effect.forEach(decisive, outcome, { concurrency: "unbounded" }),
      Effect.timeoutOption(Effect.forEach(others, outcome, { concurrency: "unbounded" }), othersWait)
    ],
    { concurrency: 2 }
  )
  const failed = outcomes.find(Result.isFailure)
  if (failed !== undefined && !outcomes.some(Result.isSuccess)) return yield* Effect.fail(failed.failure)
}, sqlOrDie)

const deliverDue = (state: State) =>
  Effect.gen(function* () {
    const live = (yield* state.edges.all).map(({ id }) => id)
    if (live.length === 0) return 0
    const rows = yield* state.store.leaseDue({ now: yield* unixSeconds, edges: live, limit: 64 })
    yield* Effect.forEach(
      rows,
      (row) =>
        attempt(state, row).pipe(
          Effect.catchTag("EdgeUnreachable", (error) =>
            Effect.logWarning(error.message, { edge: row.edge, call: row.call._tag, attempt: row.attempts })
          ),
          Effect.catchTag("EdgeRefused", (error) =>
            Effect.logError(error.message, { edge: row.edge, call: row.call._tag })
          )
        ),
      { concurrency: 16, discard: true }
    )
    return rows.length
  })

const append = (state: State, queue: RoutingToken, ...calls: ReadonlyArray<EdgeOrder>) =>
  Effect.asVoid(write(state, inQueue(queue, calls), false))

const repeat = (state: State, entries: ReadonlyArray<Entry>) =>
  state.edges.hold.pipe(
    Effect.andThen(state.store.deleteRefusals(entries.map(({ queue }) => queue))),
    Effect.andThen(write(state, entries, false)),
    Effect.asVoid
  )

const appendOwn = (state: State, queue: RoutingToken, ...calls: ReadonlyArray<EdgeOrder>) =>
  Effect.map(write(state, inQueue(queue, calls), true), (ids) => ({ queue, ids }))

const restate = Effect.fnUntraced(function* (
  { edges, store }: State,
  edge: string,
  queues: ReadonlyArray<RoutingToken>,
  read: Effect.Effect<ReadonlyArray<Entry>, Schema.SchemaError | SqlError.SqlError>
) {
  yield* edges.hold
  yield* store.lock(queues.map((queue) => Redacted.value(queue)))
  const entries = yield* read
  if (entries.length === 0) return 0
  const rows = yield* store.insert({ entries, home: edge, only: edge, now: yield* unixSeconds, leasedUntil: 0 })
  if (rows.length > 0) yield* store.notify
  return rows.length
})

export class Outbox extends Context.Service<
  Outbox,
  {
    /** Whether there is an edge that this process can call. */
    readonly configured: Effect.Effect<boolean>
    /** Writes calls in the current transaction; any replica delivers them. */
    readonly append: (
      queue: RoutingToken,
      ...calls: ReadonlyArray<EdgeOrder>
    ) => Effect.Effect<void, Schema.SchemaError | SqlError.SqlError>
    /** The same for many queues, in one statement. */
    readonly appendAll: (entries: ReadonlyArray<Entry>) => Effect.Effect<void, Schema.SchemaError | SqlError.SqlError>
    /** The same in place of all that edges have refused in these queues. */
    readonly repeat: (entries: ReadonlyArray<Entry>) => Effect.Effect<void, Schema.SchemaError | SqlError.SqlError>
    /** Writes calls in the current transaction that the caller delivers itself after it, to learn how that went. */
    readonly appendOwn: (
      queue: RoutingToken,
      ...calls: ReadonlyArray<EdgeOrder>
    ) => Effect.Effect<DeliveryTicket, Schema.SchemaError | SqlError.SqlError>
    /**
     * Writes for one edge what holds while these queues wait: no order about them is written before this transaction ends. What
     * waits already is not written twice.
     */
    readonly restate: (
      edge: string,
      queues: ReadonlyArray<RoutingToken>,
      entries: Effect.Effect<ReadonlyArray<Entry>, Schema.SchemaError | SqlError.SqlError>
    ) => Effect.Effect<number, Schema.SchemaError | SqlError.SqlError>
    /** Delivers now. What could not be delivered stays and is repeated by the worker. */
    readonly deliver: (ticket: DeliveryTicket) => Effect.Effect<void, EdgeRefused | EdgeUnreachable>
    /** Delivers everything that is due, and what becomes due by that. */
    readonly deliverAll: Effect.Effect<void, Schema.SchemaError | SqlError.SqlError>
  }
>()("server/edges/Outbox") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { append, repeat, appendOwn, restate }),
    configured: Effect.map(state.edges.all, (live) => live.length > 0),
    appendAll: (entries: ReadonlyArray<Entry>) => Effect.asVoid(write(state, entries, false)),
    deliver: (ticket: DeliveryTicket) => (ticket.ids.length === 0 ? Effect.void : deliver(state, ticket)),
    deliverAll: deliverDue(state).pipe(Effect.repeat({ while: (count) => count > 0 }), Effect.asVoid)
  }))

  static readonly layerNoDeps = Layer.effect(Outbox, Outbox.make)
  static readonly layer = Outbox.layerNoDeps.pipe(Layer.provide([EdgeAdmin.layer, LiveEdges.layer, OutboxStore.layer]))
}

/**
 * Delivers the outbox in the background: when a transaction that wrote to it commits, on whichever replica, and on a
 * timer for what has to be repeated. A replica that cannot call edges leaves it to the others.
 */
const deliverInBackground = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const outbox = yield* Outbox
  const edges = yield* LiveEdges
  const { outboxIntervalSeconds } = yield* Settings
  if (!edges.canDeliver) return yield* Effect.never
  const configured = yield* Effect.cachedWithTTL(edges.configure, "30 seconds")
  const signals = yield* sql.listen("outbox")
  return yield* Effect.gen(function* () {
    yield* configured
    yield* outbox.deliverAll
    yield* Queue.takeAll(signals).pipe(Effect.timeoutOption(`${outboxIntervalSeconds} seconds`))
  }).pipe(Effect.forever)
}).pipe(Effect.scoped, retryForever("Delivering the outbox"))

/** Runs as long as the layer lives. */
export const deliveryLoop = Layer.effectDiscard(Effect.forkScoped(deliverInBackground)).pipe(
  Layer.provide([LiveEdges.layer, Outbox.layer])
)
