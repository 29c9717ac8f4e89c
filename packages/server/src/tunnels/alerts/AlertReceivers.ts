/**
 * Calls the receiver of an alert at a public address. Plain http goes to this machine only, and only where the operator allows it: to
 * an account it would tell which ports of the server answer. For the same reason an error says no more than whether it was policy.
 */
import { isLoopback } from "@catenet/platform/IpAddress"
import * as PublicHttp from "@catenet/platform/PublicHttp"
import { Context, Effect, Layer } from "effect"
import { Settings } from "../../settings/Settings.ts"

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
