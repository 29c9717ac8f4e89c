/** The admin token at the edge, compared in constant time. */
import * as AdminHeader from "@catenet/crypto/AdminHeader"
import { Administrator, EdgeAdminAccess } from "@catenet/domain/api/Access"
import { AdminTokenRefused } from "@catenet/domain/identity/AuthenticationErrors"
import { Effect, Layer, Redacted } from "effect"

/** Lets in callers that present `token` (64 hex). */
export const layer = (token: Redacted.Redacted) => {
  const expected = Redacted.make(new Uint8Array(Buffer.from(Redacted.value(token), "hex")))
  return Layer.succeed(EdgeAdminAccess, {
    admin: (httpEffect, { credential }) =>
      AdminHeader.matches(expected, Redacted.value(credential))
        ? Effect.provideService(httpEffect, Administrator, { means: "admin-token" })
        : Effect.fail(new AdminTokenRefused({}))
  })
}
