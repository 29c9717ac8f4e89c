/** `catenet idp`: the embedded identity provider alone. */
import { Command } from "effect/cli"
import { Config, Effect, Schema } from "effect"
import type { Server } from "node:http"
import { ConfigurationInvalid } from "../ConfigurationInvalid.ts"
import * as Logs from "../Logs.ts"
import { root } from "./root.ts"

const required = (variable: string, what: string) =>
  Config.String(variable).pipe(
    Effect.mapError(() => ConfigurationInvalid.of(variable, `is not set. Set it to ${what}.`))
  )

const settings = Effect.gen(function* () {
  const listen = yield* required("CT_IDP_LISTEN", "a host and a port, like 127.0.0.1:8091")
  const [, host = "127.0.0.1", port = "8091"] = /^(.+):(\d+)$/.exec(listen) ?? []
  return {
    host,
    port: Number(port),
    folder: yield* required("CT_IDP_FOLDER", "the folder that keeps keys, users and clients"),
    realm: yield* Config.String("CT_IDP_REALM").pipe(Config.withDefault("catenet")),
    portal: yield* required("CT_IDP_PORTAL_URL", "the address of the control plane"),
    portalSecret: yield* required("CT_IDP_PORTAL_CLIENT_SECRET", "the secret of the portal's client"),
    gateSecret: yield* required("CT_IDP_GATE_CLIENT_SECRET", "the secret of the client of login gates"),
    managerSecret: yield* required("CT_IDP_MANAGER_CLIENT_SECRET", "the secret of the managing client"),
    trustedProxies: yield* Config.String("CT_IDP_TRUSTED_PROXIES").pipe(Config.withDefault("")),
    email: yield* required("CT_IDP_USER_EMAIL", "the e-mail of the first user"),
    password: yield* required("CT_IDP_USER_PASSWORD", "the password of the first user")
  }
})

/** The same reader of PROXY v2 as the control plane's: an edge in front of both speaks it to both. */
const prepared = Effect.fnUntraced(function* (text: string) {
  if (text.trim() === "") return undefined
  const [Forms, { trusts }, ProxiedConnections] = yield* Effect.promise(() =>
    Promise.all([
      import("@catenet/server/settings/Forms"),
      import("@catenet/server/http/ClientAddresses"),
      import("@catenet/server/http/ProxiedConnections")
    ])
  )
  const networks = yield* Effect.mapError(Schema.decodeEffect(Forms.networks.schema)(text.trim()), () =>
    ConfigurationInvalid.of("CT_IDP_TRUSTED_PROXIES", `is not ${Forms.networks.expected}.`)
  )
  return (server: Server) => ProxiedConnections.accept(server, trusts(networks))
})

const serve = Effect.gen(function* () {
  const { email, gateSecret, host, managerSecret, password, portal, portalSecret, trustedProxies, ...rest } =
    yield* settings
  const prepare = yield* prepared(trustedProxies)
  const { start } = yield* Effect.promise(() => import("@catenet/idp/IdentityProvider"))
  const provider = yield* Effect.acquireRelease(
    Effect.promise(() =>
      start({
        ...rest,
        host,
        ...(prepare === undefined ? {} : { prepare }),
        audience: "catenet",
        users: [{ email, password }],
        clients: [
          {
            clientId: "catenet-portal",
            secret: portalSecret,
            standardFlowEnabled: true,
            redirectUris: [`${portal}/portal/callback`],
            postLogoutRedirectUris: [`${portal}/portal`, `${portal}/`]
          },
          {
            clientId: "catenet-gate",
            secret: gateSecret,
            audience: "catenet-gate",
            standardFlowEnabled: true,
            redirectUris: [`${portal}/gate/callback`]
          },
          { clientId: "admin-cli", publicClient: true, directAccessGrantsEnabled: true },
          { clientId: "ct-agent-cli", publicClient: true, deviceGrantEnabled: true },
          {
            clientId: "catenet-manager",
            secret: managerSecret,
            audience: "realm-management",
            serviceAccountsEnabled: true,
            managementRoles: ["manage-clients", "manage-users"]
          }
        ]
      })
    ),
    (running) => Effect.promise(() => running.close())
  )
  yield* Effect.logInfo("identity provider ready").pipe(Effect.annotateLogs({ issuer: provider.issuer }))
  return yield* Effect.never
}).pipe(Effect.scoped)

export const idp = Command.make(
  "idp",
  {},
  Effect.fn(function* () {
    const { logFormat } = yield* root
    return yield* serve.pipe(Effect.provide(Logs.layer(logFormat, "catenet-idp")))
  })
).pipe(
  Command.withDescription(
    "Runs the embedded identity provider alone, shaped like a Keycloak realm. For development and tests; `up` starts it."
  ),
  Command.withShortDescription("Run the embedded identity provider")
)
