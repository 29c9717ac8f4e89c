/** Sets, tests and removes the alert of a tunnel for its owner. The secret is shown once, when it is created. */
import type { Caller } from "@catenet/domain/api/Access"
import { Alert, AlertDelivery, alertSettings, type AskedAlert, SavedAlert } from "@catenet/domain/tunnels/Alert"
import {
  AlertNotFound,
  type AlertRefused,
  type DeliveryBudgetSpent,
  type TunnelNotFound
} from "@catenet/domain/tunnels/TunnelErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import { AlertSecret } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { HttpServerRequest } from "effect/http"
import { paged, type Page } from "../../http/Paging.ts"
import { Audits } from "../../identity/Audits.ts"
import { freshHex64 } from "../../runtime/TokenSecrets.ts"
import { unixSeconds } from "../../runtime/UnixClock.ts"
import { inTransactionOf, sqlOrDie } from "../../store/SqlOrDie.ts"
import { Tunnels } from "../Tunnels.ts"
import { AlertDeliveries } from "./AlertDeliveries.ts"
import * as Store from "./AlertStore.ts"

type Account = Caller["Service"]

const secretFrom = Schema.decodeSync(AlertSecret)

const shown = ({ format, since, state, thresholdSeconds, webhookUrl }: Store.Alert) =>
  new Alert({ webhook_url: webhookUrl, threshold_minutes: thresholdSeconds / 60, format, state, since })

export class Alerts extends Context.Service<
  Alerts,
  {
    readonly get: (account: Account, id: string) => Effect.Effect<Alert, AlertNotFound | TunnelNotFound>
    /** Creates the alert, or replaces where it goes and when; what was watched so far, the secret, and a format that is not given stay. */
    readonly save: (
      account: Account,
      id: string,
      asked: AskedAlert
    ) => Effect.Effect<SavedAlert, AlertRefused | TunnelNotFound>
    /** Sends one message now, without a second attempt. */
    readonly test: (
      account: Account,
      id: string
    ) => Effect.Effect<AlertDelivery, AlertNotFound | DeliveryBudgetSpent | TunnelNotFound>
    readonly remove: (account: Account, id: string) => Effect.Effect<void, AlertNotFound | TunnelNotFound>
    readonly deliveries: (
      account: Account,
      id: string,
      page: Page
    ) => Effect.Effect<
      ReadonlyArray<AlertDelivery>,
      AlertNotFound | TunnelNotFound,
      HttpServerRequest.HttpServerRequest
    >
  }
>()("server/tunnels/alerts/Alerts") {
  static readonly make = Effect.gen(function* () {
    const store = yield* Store.AlertStore
    const tunnels = yield* Tunnels
    const deliveries = yield* AlertDeliveries
    const audits = yield* Audits
    const random = yield* SecureRandom.SecureRandom

    const find = Effect.fnUntraced(function* (account: Account, id: string) {
      yield* tunnels.owned(id, account)
      const found = yield* store.find(id)
      return yield* Option.isSome(found) ? Effect.succeed(found.value) : new AlertNotFound()
    })

    return {
      get: Effect.fn("Alerts.get")((account: Account, id: string) => Effect.map(find(account, id), shown), sqlOrDie),

      save: Effect.fn("Alerts.save")(function* (account: Account, id: string, asked: AskedAlert) {
        yield* tunnels.owned(id, account)
        const before = Option.getOrUndefined(yield* store.find(id))
        const asFormat = asked.format ?? before?.format
        const hasToken = before !== undefined && before.receiverToken !== null && before.format === asFormat
        const settings = yield* Effect.fromResult(alertSettings({ ...asked, format: asFormat }, hasToken))
        const { format, thresholdSeconds, token: receiverToken } = settings
        // As it will be called: without blanks and control characters, which neither a table nor a socket takes.
        const { href: webhookUrl, origin } = new URL(settings.webhookUrl)
        const secret = secretFrom(yield* Effect.provideService(freshHex64, SecureRandom.SecureRandom, random))
        const now = yield* unixSeconds
        const { created } = yield* store.put({
          tunnelId: id,
          webhookUrl,
          thresholdSeconds,
          format,
          receiverToken,
          secret,
          now
        })
        const kind = format === "signed" ? "" : ` as ${format}`
        const detail = `${origin} ${thresholdSeconds} s${kind}${created ? " created" : ""}`
        yield* audits.append(audit("tunnel_alert_set", account.subject, id, detail))
        const alert = shown(yield* Effect.catchTag(find(account, id), "AlertNotFound", Effect.die))
        return new SavedAlert(created ? { alert, secret } : { alert })
      }, inTransactionOf(store)),

      test: Effect.fn("Alerts.test")(function* (account: Account, id: string) {
        const { since, subject, thresholdSeconds, ...destination } = yield* find(account, id)
        const report = { subject, tunnelId: id, event: "tunnel.test", since, thresholdSeconds } as const
        const send = yield* store.transaction(deliveries.reserve(report, destination))
        const outcome = new AlertDelivery(yield* send)
        const detail = `${outcome.status}: ${outcome.detail}`
        yield* audits.append(audit("tunnel_alert_test", account.subject, id, detail))
        return outcome
      }, sqlOrDie),

      remove: Effect.fn("Alerts.remove")(function* (account: Account, id: string) {
        yield* tunnels.owned(id, account)
        if ((yield* store.remove(id)).length === 0) return yield* new AlertNotFound()
        yield* audits.append(audit("tunnel_alert_deleted", account.subject, id))
      }, inTransactionOf(store)),

      deliveries: Effect.fn("Alerts.deliveries")(function* (account: Account, id: string, page: Page) {
        yield* find(account, id)
        const found = yield* paged(
          page,
          Schema.Int,
          (slice) => deliveries.list({ tunnelId: id, ...slice }),
          (delivery) => delivery.id
        )
        return found.map(({ at, detail, event, status }) => new AlertDelivery({ at, detail, event, status }))
      }, sqlOrDie)
    }
  })

  static readonly layer = Layer.effect(Alerts, Alerts.make).pipe(
    Layer.provide([AlertDeliveries.layer, Audits.layer, Store.AlertStore.layer, Tunnels.layer])
  )
}
