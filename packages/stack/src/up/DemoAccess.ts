/** How the stack itself acts while it makes the demo: as the administrator, and as the demo user. */
import { AccountAccess, AdminAccess, BearerAccess } from "@catenet/domain/api/Access"
import * as OutgoingHttp from "@catenet/server/internal/http/OutgoingHttp"
import { Data, Effect, Layer, Redacted, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { demoUser } from "./DemoUser.ts"
import * as Environments from "./Environments.ts"
import type { Secrets } from "./Secrets.ts"
import type { UpSettings } from "./Settings.ts"

/** The demo could not be made. */
export class DemoFailed extends Data.TaggedError("DemoFailed")<{ readonly detail: string }> {
  override get message() {
    return `The demo could not be made: ${this.detail} \`--no-demo\` starts without it.`
  }
}

export const failed = (what: string) => (cause: unknown) =>
  new DemoFailed({ detail: `${what}: ${cause instanceof Error ? cause.message : String(cause)}` })

const signIn = OutgoingHttp.fetchOf(OutgoingHttp.longestAnswer)

/** An access token of the demo user. */
export const tokenOf = (settings: UpSettings, secrets: Secrets) =>
  Effect.tryPromise({
    try: async () => {
      const realm = `${Environments.url(settings.identityProvider)}/realms/${Environments.realm}`
      const response = await signIn(`${realm}/protocol/openid-connect/token`, {
        method: "POST",
        body: new URLSearchParams({
          grant_type: "password",
          client_id: "admin-cli",
          username: demoUser.email,
          password: secrets.demoPassword
        })
      })
      const { access_token } = Schema.decodeUnknownSync(Schema.Struct({ access_token: Schema.String }))(
        await response.json()
      )
      return Redacted.make(access_token)
    },
    catch: failed("the demo user cannot sign in")
  })

export const asAdministrator = ({ edgeAdminToken }: Secrets) =>
  Layer.merge(
    OutgoingHttp.layer,
    HttpApiMiddleware.layerClient(AdminAccess, ({ next, request }) =>
      next(HttpClientRequest.setHeader(request, "x-ct-admin-token", edgeAdminToken))
    )
  )

export const asDemoUser = (token: Redacted.Redacted) =>
  Layer.mergeAll(
    OutgoingHttp.layer,
    HttpApiMiddleware.layerClient(BearerAccess, ({ next, request }) =>
      next(HttpClientRequest.bearerToken(request, token))
    ),
    HttpApiMiddleware.layerClient(AccountAccess, ({ next, request }) =>
      next(HttpClientRequest.bearerToken(request, token))
    )
  )
