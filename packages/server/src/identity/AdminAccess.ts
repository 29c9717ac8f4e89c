/** The gate of the admin routes. Where no admin token is configured there are no admin routes. */
import * as AdminHeader from "@catenet/crypto/AdminHeader"
import { AdminAccess, Administrator } from "@catenet/domain/api/Access"
import { AdminTokenRefused } from "@catenet/domain/identity/AuthenticationErrors"
import { RouteNotFound } from "@catenet/domain/values/RequestErrors"
import { Effect, Layer, Redacted } from "effect"
import { Settings } from "../settings/Settings.ts"

export const layer = Layer.effect(
  AdminAccess,
  Effect.gen(function* () {
    const { adminToken } = yield* Settings
    return AdminAccess.of({
      admin: (httpEffect, { credential }) =>
        adminToken === undefined
          ? Effect.fail(new RouteNotFound())
          : AdminHeader.matches(adminToken, Redacted.value(credential))
            ? Effect.provideService(httpEffect, Administrator, { means: "admin-token" })
            : Effect.fail(new AdminTokenRefused())
    })
  })
)
