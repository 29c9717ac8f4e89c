/** Orders of the control plane over the admin API. */
import { EdgeAdminApi } from "@catenet/domain/api/EdgeAdminApi"
import { Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Orders } from "../orders/Orders.ts"
import type { Route } from "../routes/Routes.ts"

interface Serving {
  readonly channel_tier?: "gelb"
  readonly admission_until?: number
}

const accountHeader = "x-ct-owner-account"
const revisionHeader = "x-ct-policy-revision"

const routeOf = (
  token: Redacted.Redacted,
  { admission_until, channel_tier }: Serving,
  account: string | undefined
): Route => ({
  token: Redacted.value(token),
  tier: channel_tier ?? "passthrough",
  admissionUntil: admission_until ?? null,
  account
})

const loginOf = ({ require_login }: { readonly require_login?: "0" | "1" }) =>
  require_login === undefined ? undefined : require_login === "1"

export const OrdersHandlers = HttpApiBuilder.group(
  EdgeAdminApi,
  "orders",
  Effect.fn(function* (handlers) {
    const orders = yield* Orders
    return handlers.handleAll({
      authorizeHost: ({ params, headers, query }) =>
        orders.authorize(params.host, routeOf(params.token, query, headers[accountHeader]), loginOf(query)),
      authorizeHostByHeader: ({ params, headers, query }) =>
        orders.authorize(
          params.host,
          routeOf(headers["x-ct-routing-token"], query, headers[accountHeader]),
          loginOf(query)
        ),
      releaseHost: ({ params, headers }) => orders.release(params.host, Redacted.value(headers["x-ct-routing-token"])),
      setLogin: ({ headers, payload }) =>
        orders.setLogin(Redacted.value(headers["x-ct-routing-token"]), payload.required, headers[revisionHeader]),
      setPort: ({ headers, payload }) => orders.setPort(Redacted.value(headers["x-ct-routing-token"]), payload),
      setAgentKeys: ({ headers, payload, query: { proof = "optional" } }) =>
        orders.setAgentKeys(Redacted.value(headers["x-ct-routing-token"]), payload, proof),
      setOptions: ({ headers, payload }) =>
        orders.setOptions(Redacted.value(headers["x-ct-routing-token"]), payload, headers[revisionHeader]),
      setRules: ({ headers, payload }) =>
        orders.setRules(Redacted.value(headers["x-ct-routing-token"]), payload, headers[revisionHeader]),
      cutMembers: ({ payload }) => orders.cutMembers(payload),
      revoke: ({ params }) => orders.revoke(Redacted.value(params.token)),
      revokeByHeader: ({ headers }) => {
        const successor = headers["x-ct-successor-token"]
        return orders.revoke(Redacted.value(headers["x-ct-routing-token"]), successor && Redacted.value(successor))
      },
      setAccessPolicy: ({ headers, payload }) =>
        orders.setPolicy(Redacted.value(headers["x-ct-routing-token"]), payload, headers[revisionHeader])
    })
  })
)
