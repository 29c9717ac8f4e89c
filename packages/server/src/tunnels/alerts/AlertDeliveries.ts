/**
 * Delivers alerts: signed, at most three attempts, and once by any number of replicas. A delivery begun by a replica
 * that crashed is repeated under the same message id, so receivers can recognize it.
 */
import * as Hex from "@catenet/crypto/Hex"
import {
  afterAttempt,
  AlertDelivery,
  AlertEvent,
  deliveryBudgetSeconds,
  retryPauses,
  takeDelivery
} from "@catenet/domain/tunnels/Alert"
import { AlertFormat } from "@catenet/domain/tunnels/AlertFormat"
import type { DeliveryBudgetSpent } from "@catenet/domain/tunnels/TunnelErrors"
import { TunnelId } from "@catenet/domain/values/Ids"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { AlertSecret } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type SqlError, SqlSchema } from "effect/sql"
import { over } from "../../runtime/Over.ts"
import { unixSeconds } from "../../runtime/UnixClock.ts"
import { Settings } from "../../settings/Settings.ts"
import * as DecryptableFilter from "../../store/DecryptableFilter.ts"
import { Sealing } from "../../store/Sealing.ts"
import { sqlOrDie } from "../../store/SqlOrDie.ts"
import { AlertReceivers, callFor, type Destination } from "./AlertReceivers.ts"

// The log of deliveries, which is also the queue of those that are still to be made and the account's budget. A pending
// row is leased by who delivers it, and taken over when that one died.

/** Seconds in which a delivery with all its attempts is over: three times five, and the pauses of two and eight. */
const leaseSeconds = 60

interface Row {
  readonly messageId: string
  readonly subject: string
  readonly tunnelId: string
  readonly event: AlertEvent
  readonly since: number
  readonly thresholdSeconds: number
  readonly at: UnixSeconds
  readonly status: "pending" | "failed" | "skipped"
  readonly detail: string
}

const Pending = Schema.Struct({
  messageId: Schema.String,
  tunnelId: TunnelId,
  event: AlertEvent,
  since: Schema.Int,
  thresholdSeconds: Schema.Int,
  at: UnixSeconds,
  name: Schema.NullOr(Schema.String),
  webhookUrl: Schema.NullOr(Schema.String),
  format: Schema.NullOr(AlertFormat),
  receiverToken: Schema.NullOr(Schema.RedactedFromValue(Schema.String)),
  secret: Schema.NullOr(AlertSecret)
})
type Pending = typeof Pending.Type

const makeAlertDeliveryStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { column } = yield* Sealing
  const secret = column("alerts.secret", AlertSecret)
  const webhookUrl = column("alerts.webhook_url", Schema.String)
  const receiverToken = column("alerts.receiver_token", Schema.RedactedFromValue(Schema.String))
  const openable = yield* DecryptableFilter.make
  return {
    /** Deliveries of an account are counted one after the other, until the transaction ends. */
    lockAccount: (subject: string) => sql`select pg_advisory_xact_lock(hashtextextended(${subject}, 15))`,
    /** When the account's deliveries of the last hour were, oldest first. */
    spent: SqlSchema.findAll({
      Request: Schema.Struct({ subject: Schema.String, since: Schema.Int }),
      Result: Schema.Struct({ at: Schema.Int }),
      execute: ({ since, subject }) => sql`
        select at from alert_deliveries where subject = ${subject} and at > ${since} and status <> 'skipped' order by at`
    }),
    insert: (row: Row) => sql`insert into alert_deliveries ${sql.insert({ ...row })}`,
    /** Pending deliveries that are leased to no replica and whose secrets this process can open, with what their alert says now; without an alert there is nothing to send. */
    lease: SqlSchema.findAll({
      Request: Schema.Struct({ now: Schema.Int, limit: Schema.Int }),
      Result: Schema.Struct({
        ...Pending.fields,
        webhookUrl: Schema.NullOr(webhookUrl),
        receiverToken: Schema.NullOr(receiverToken),
        secret: Schema.NullOr(secret)
      }),
      execute: ({ limit, now }) => sql`
        with leased as (
          update alert_deliveries set leased_until = ${now + leaseSeconds} where id in (
            select id from alert_deliveries d where status = 'pending' and leased_until <= ${now}
              and not exists (select 1 from alerts a where a.tunnel_id = d.tunnel_id
                and not (${openable("a.secret")} and ${openable("a.webhook_url")}
                  and (a.receiver_token is null or ${openable("a.receiver_token")})))
            order by leased_until, id limit ${limit} for update skip locked)
          returning message_id, tunnel_id, event, since, threshold_seconds, at)
        select l.*, t.name, a.webhook_url, a.format, a.receiver_token, a.secret from leased l
        left join tunnels t on t.id = l.tunnel_id left join alerts a on a.tunnel_id = l.tunnel_id`
    }),
    settle: (messageId: string, status: "ok" | "failed", detail: string) =>
      sql`update alert_deliveries set ${sql.update({ status, detail })} where message_id = ${messageId}`,
    /** Newest first. */
    list: SqlSchema.findAll({
      Request: Schema.Struct({
        tunnelId: Schema.String,
        after: Schema.UndefinedOr(Schema.Int),
        limit: Schema.UndefinedOr(Schema.Int)
      }),
      Result: Schema.Struct({ id: Schema.Int, ...AlertDelivery.fields }),
      execute: ({ after, limit, tunnelId }) => sql`
        select id, at, event, status, detail from alert_deliveries
        where tunnel_id = ${tunnelId} and status <> 'pending' ${after === undefined ? sql`` : sql`and id < ${after}`}
        order by id desc ${limit === undefined ? sql`` : sql`limit ${limit}`}`
    }),
    prune: (before: number) => sql`delete from alert_deliveries where at < ${before} and status <> 'pending'`
  }
})

/** Seconds for which the log is kept: thirty days. */
const keptFor = 30 * 86_400

/**
 * What the log says of a delivery, and all that it says: more would let an account ask about machines that only the
 * service reaches.
 */
const outcomes = { ok: "delivered", failed: "not delivered", forbidden: "refused by policy" } as const
const forbidden = { _tag: "Failed" } as const

/** A report, and its receiver. */
export interface Report {
  readonly subject: string
  readonly tunnelId: string
  readonly event: AlertEvent
  readonly since: number
  readonly thresholdSeconds: number
}

/** A line of the log, as an owner sees it. */
type Outcome = Pick<AlertDelivery, "at" | "event" | "status" | "detail">
type Logged = Outcome & { readonly id: number }

const dependencies = Effect.gen(function* () {
  const store = yield* makeAlertDeliveryStore
  const receivers = yield* AlertReceivers
  const random = yield* SecureRandom.SecureRandom
  const { portalBaseUrl } = yield* Settings
  return { portal: portalBaseUrl.origin, random, receivers, store }
})
type State = Effect.Success<typeof dependencies>

/** Fails when the account has no delivery left. Nothing else takes one before the transaction ends. */
const take = Effect.fnUntraced(function* ({ store }: State, subject: string) {
  yield* store.lockAccount(subject)
  const now = yield* unixSeconds
  const times = yield* store.spent({ subject, since: now - deliveryBudgetSeconds })
  return yield* Effect.fromResult(
    takeDelivery(
      times.map(({ at }) => at),
      now
    )
  )
})

const record = Effect.fnUntraced(function* (
  { random, store }: State,
  report: Report,
  status: Row["status"],
  detail: string
) {
  const messageId = `msg_${Hex.encode(yield* random.randomBytes(16))}`
  const at = yield* unixSeconds
  yield* store.insert({ ...report, messageId, at, status, detail })
  return { messageId, at }
})

interface Named {
  readonly messageId: string
  readonly at: UnixSeconds
}

const send = Effect.fnUntraced(function* (
  { portal, receivers, store }: State,
  report: Omit<Report, "subject">,
  named: Named,
  destination: Destination,
  pauses: ReadonlyArray<number>
) {
  const { at, messageId } = named
  const call = callFor(portal, report, named, destination)
  for (let attempt = 1; ; attempt++) {
    const answer = yield* receivers.call(call).pipe(
      Effect.catchTags({
        Unreachable: () => Effect.succeed(null),
        Forbidden: () => Effect.succeed("forbidden" as const)
      })
    )
    const next = answer === "forbidden" ? forbidden : afterAttempt(attempt, answer, pauses)
    if (next._tag === "RetryIn") yield* Effect.sleep(`${next.seconds} seconds`)
    else {
      const status = next._tag === "Delivered" ? ("ok" as const) : ("failed" as const)
      const detail = next === forbidden ? outcomes.forbidden : outcomes[status]
      yield* store.settle(messageId, status, detail)
      return { at, event: report.event, status, detail }
    }
  }
})

const mayDeliver = (state: State, subject: string) =>
  Effect.matchEffect(take(state, subject), {
    onFailure: (failure) => (failure._tag === "DeliveryBudgetSpent" ? Effect.succeed(false) : Effect.fail(failure)),
    onSuccess: () => Effect.succeed(true)
  })

const reserve = Effect.fn("AlertDeliveries.reserve")(function* (
  state: State,
  report: Report,
  destination: Destination
) {
  yield* take(state, report.subject)
  const named = yield* record(state, report, "failed", outcomes.failed)
  return sqlOrDie(send(state, report, named, destination, []))
})

const deliver = Effect.fn("AlertDeliveries.deliver")(function* (state: State, pending: Pending) {
  const { at, format, messageId, name, receiverToken, secret, webhookUrl } = pending
  const destination =
    name === null || webhookUrl === null || secret === null || format === null
      ? undefined
      : { name, webhookUrl, format, receiverToken, secret }
  yield* destination === undefined
    ? state.store.settle(messageId, "failed", outcomes.failed)
    : send(state, pending, { messageId, at }, destination, retryPauses)
})

export class AlertDeliveries extends Context.Service<
  AlertDeliveries,
  {
    /** Whether the account has a delivery left, which it keeps until the caller's transaction ends. */
    readonly mayDeliver: (subject: string) => Effect.Effect<boolean, Schema.SchemaError | SqlError.SqlError>
    /** Inside the caller's transaction: leaves a report to be delivered by whichever replica comes first. */
    readonly enqueue: (report: Report) => Effect.Effect<void, SqlError.SqlError>
    /** Inside the caller's transaction: writes down that the budget held a report back. */
    readonly skip: (report: Report) => Effect.Effect<void, SqlError.SqlError>
    /**
     * Inside the caller's transaction: takes one delivery out of the budget for `now`. What is returned makes it, once,
     * after the transaction.
     */
    readonly reserve: (
      report: Report,
      destination: Destination
    ) => Effect.Effect<Effect.Effect<Outcome>, DeliveryBudgetSpent | Schema.SchemaError | SqlError.SqlError>
    /** Takes over pending deliveries. */
    readonly lease: (limit: number) => Effect.Effect<ReadonlyArray<Pending>, Schema.SchemaError | SqlError.SqlError>
    /** Makes a pending delivery, with its retries. */
    readonly deliver: (pending: Pending) => Effect.Effect<void, SqlError.SqlError>
    /** The log of a tunnel, newest first. */
    readonly list: (request: {
      readonly tunnelId: string
      readonly after: number | undefined
      readonly limit: number | undefined
    }) => Effect.Effect<ReadonlyArray<Logged>, Schema.SchemaError | SqlError.SqlError>
    /** Removes old lines of the log. */
    readonly prune: Effect.Effect<void>
  }
>()("server/tunnels/alerts/AlertDeliveries") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { mayDeliver, reserve, deliver }),
    enqueue: (report: Report) => Effect.asVoid(record(state, report, "pending", "")),
    skip: (report: Report) => Effect.asVoid(record(state, report, "skipped", "the account's budget is spent")),
    lease: (limit: number) => Effect.flatMap(unixSeconds, (now) => state.store.lease({ now, limit })),
    list: state.store.list,
    prune: Effect.flatMap(unixSeconds, (now) => Effect.asVoid(Effect.orDie(state.store.prune(now - keptFor))))
  }))

  static readonly layer = Layer.effect(AlertDeliveries, AlertDeliveries.make).pipe(
    Layer.provide([AlertReceivers.layer])
  )
}
