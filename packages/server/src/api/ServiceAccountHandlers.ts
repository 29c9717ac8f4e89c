/** Handlers of the `serviceAccounts` group. */
import { Caller } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ServiceAccounts } from "../identity/ServiceAccounts.ts"

export const ServiceAccountHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "serviceAccounts",
  Effect.fn(function* (handlers) {
    const accounts = yield* ServiceAccounts
    return handlers.handleAll({
      create: ({ headers, payload }) =>
        Caller.use(({ subject }) => accounts.create(subject, payload.name, headers["idempotency-key"])),
      list: ({ query }) => Caller.use(({ subject }) => accounts.list(subject, query)),
      get: ({ params }) => Caller.use(({ subject }) => accounts.get(subject, params.client_id)),
      rotate: ({ params }) => Caller.use(({ subject }) => accounts.rotate(subject, params.client_id)),
      remove: ({ params }) => Caller.use(({ subject }) => accounts.remove(subject, params.client_id))
    })
  })
)
