/**
 * Calls the receiver of an alert at a public address. Plain http goes to this machine only, and only where the operator allows it: to
 * an account it would tell which ports of the server answer. For the same reason an error says no more than whether it was policy.
 */
import { native } from "@catenet/crypto/native"
import * as AlertWebhook from "@catenet/crypto/webhook/AlertWebhook"
import type { AlertEvent } from "@catenet/domain/tunnels/Alert"
import { type AlertFormat, callOf } from "@catenet/domain/tunnels/AlertFormat"
import type { AlertSecret } from "@catenet/domain/values/Tokens"
import { isLoopback } from "@catenet/platform/IpAddress"
import * as PublicHttp from "@catenet/platform/PublicHttp"
import { Context, Effect, Layer, Redacted } from "effect"
import { Settings } from "../../settings/Settings.ts"

/** Where a report goes, and as what. */
export interface Destination {
  readonly name: string
  readonly webhookUrl: string
  readonly format: AlertFormat
  readonly receiverToken: Redacted.Redacted | null
  readonly secret: AlertSecret
}

/** What is reported. Times in Unix seconds. */
interface Reported {
  readonly tunnelId: string
  readonly event: AlertEvent
  readonly since: number
  readonly thresholdSeconds: number
}

/** What the receiver gets: the same with every attempt. */
export const callFor = (
  portal: string,
  report: Reported,
  { messageId, at }: { readonly messageId: string; readonly at: number },
  { format, name, receiverToken, secret, webhookUrl }: Destination
) => {
  const { event, since, thresholdSeconds, tunnelId } = report
  if (format !== "signed") {
    const outage = { event, name, since, thresholdSeconds, page: `${portal}/portal/tunnels/${tunnelId}` }
    const token = receiverToken === null ? undefined : Redacted.value(receiverToken)
    return callOf(format, webhookUrl, token, messageId, outage)
  }
  const times = { since: BigInt(since), thresholdSecs: BigInt(thresholdSeconds), sentAt: BigInt(at) }
  const signed = AlertWebhook.sign(native, secret, messageId, { event, tunnelId, name, ...times })
  return { ...signed, method: "POST", url: webhookUrl } as const
}

/** Seconds for one attempt, from the name to the status. */
const patience = "5 seconds"

export class AlertReceivers extends Context.Service<
  AlertReceivers,
  {
    /** Calls once; answers the receiver's status. */
    readonly call: (
      call: PublicHttp.Message & { readonly url: string }
    ) => Effect.Effect<number, PublicHttp.Forbidden | PublicHttp.Unreachable>
  }
>()("server/tunnels/alerts/AlertReceivers") {
  static readonly make = Effect.gen(function* () {
    const { alertsLoopback } = yield* Settings
    const mayCall = ({ protocol }: URL) => {
      if (protocol === "https:") return PublicHttp.isPublic
      return alertsLoopback ? isLoopback : () => false
    }
    return {
      call: Effect.fn("AlertReceivers.call")(
        function* (call: PublicHttp.Message & { readonly url: string }) {
          const url = new URL(call.url)
          return yield* PublicHttp.send(url, call, mayCall(url))
        },
        Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.fail(new PublicHttp.Unreachable()) })
      )
    }
  })

  static readonly layer = Layer.effect(AlertReceivers, AlertReceivers.make)
}
