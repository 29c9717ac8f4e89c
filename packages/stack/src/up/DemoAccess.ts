/** How the stack itself acts while it makes the demo: as the administrator, and as the demo user. */
import { AccountAccess, AdminAccess, BearerAccess } from "@catenet/domain/api/Access"
import { Files } from "@catenet/platform/Files"
import * as PrivateFile from "@catenet/platform/PrivateFile"
import { Scheduler } from "@catenet/platform/Scheduler"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import * as OutgoingHttp from "@catenet/server/internal/http/OutgoingHttp"
import { Data, Effect, Layer, Redacted, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { join } from "node:path"
import { demoUser } from "./DemoUser.ts"
import * as Environments from "./Environments.ts"
import type { Secrets } from "./Secrets.ts"
import type { UpSettings } from "./Settings.ts"
import type { StackFolder } from "./StackFolder.ts"
import * as TunnelFile from "./TunnelFile.ts"

/** The demo could not be made. */
export class DemoFailed extends Data.TaggedError("DemoFailed")<{ readonly detail: string }> {
  override get message() {
    return `The demo could not be made: ${this.detail} \`--no-demo\` starts without it.`
  }
}

export const failed = (what: string) => (cause: unknown) =>
  new DemoFailed({ detail: `${what}: ${cause instanceof Error ? cause.message : String(cause)}` })

const signIn = OutgoingHttp.fetchOf(OutgoingHttp.longestAnswer)

/** The client of the login: it may refresh what the password grant gave it. */
const clientId = "admin-cli"
const Answer = Schema.Struct({ access_token: Schema.String, refresh_token: Schema.String, expires_in: Schema.Int })

/** A login of the demo user. */
export const loginOf = (settings: UpSettings, secrets: Secrets) =>
  Effect.tryPromise({
    try: async () => {
      const realm = `${Environments.url(settings.identityProvider)}/realms/${Environments.realm}`
      const response = await signIn(`${realm}/protocol/openid-connect/token`, {
        method: "POST",
        body: new URLSearchParams({
          grant_type: "password",
          client_id: clientId,
          username: demoUser.email,
          password: secrets.demoPassword
        })
      })
      const answer = Schema.decodeUnknownSync(Answer)(await response.json())
      return { accessToken: Redacted.make(answer.access_token), answer }
    },
    catch: failed("the demo user cannot sign in")
  })

/** Writes the login where the commands of an agent find it, and the file that they are given. */
export const writeAccount = (
  settings: UpSettings,
  folder: StackFolder,
  { answer }: Effect.Success<ReturnType<typeof loginOf>>
): void => {
  const login = {
    access_token: answer.access_token,
    refresh_token: answer.refresh_token,
    access_expires_at: toUnixSeconds(Scheduler.wallMillis()) + answer.expires_in,
    issuer: Environments.issuer(settings),
    client_id: clientId,
    control_plane: Environments.url(settings.controlPlane)
  }
  Files.mkdirSync(folder.account, { recursive: true, mode: 0o700 })
  PrivateFile.replaceNow(join(folder.account, "oidc-token.json"), JSON.stringify(login))
  TunnelFile.write(folder.accountFile, {
    CT_AGENT_CP_URL: login.control_plane,
    CT_AGENT_STATE_DIR: folder.account,
    CT_ACME_CA_FILE: folder.developmentRoot
  })
}

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
