/** Orders of the control plane over the admin API. */
import { EdgeAdminApi } from "@catenet/domain/api/EdgeAdminApi"
import { Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Orders } from "../control/Orders.ts"
import type { Tier } from "../Routes.ts"

const tierOf = (query: { readonly channel_tier?: "gelb" }): Tier => query.channel_tier ?? "passthrough"

export const OrdersHandlers = HttpApiBuilder.group(
  EdgeAdminApi,
  "orders",
  Effect.fn(function* (handlers) {
    const orders = yield* Orders
    return handlers.handleAll({
      authorizeHost: ({ params, query }) => orders.authorise(params.host, Redacted.value(params.token), tierOf(query)),
      authorizeHostByHeader: ({ params, headers, query }) =>
        orders.authorise(params.host, Redacted.value(headers["x-ct-routing-token"]), tierOf(query)),
      setAgentKeys: ({ headers, payload }) =>
        orders.setAgentKeys(Redacted.value(headers["x-ct-routing-token"]), payload),
      revoke: ({ params }) => orders.revoke(Redacted.value(params.token)),
      revokeByHeader: ({ headers }) => orders.revoke(Redacted.value(headers["x-ct-routing-token"])),
      setAccessPolicy: ({ headers, payload }) =>
        orders.setPolicy(Redacted.value(headers["x-ct-routing-token"]), payload)
    })
  })
)
