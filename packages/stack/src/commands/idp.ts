/** `catenet idp`: the embedded identity provider alone. */
import type { RealmClient } from "@catenet/idp/Realm"
import type { Registration } from "@catenet/idp/RealmOptions"
import * as Documentation from "@catenet/platform/Documentation"
import { trusts } from "@catenet/platform/ForwardedChain"
import { address, networks } from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"
import { secret } from "@catenet/platform/SecretParser"
import { defaulted, optional, required } from "@catenet/platform/Variable"
import * as VariableReader from "@catenet/platform/VariableReader"
import { Context, Effect, Layer, Redacted, Schedule } from "effect"
import { Command } from "effect/cli"
import type { Server } from "node:http"
import * as Logs from "../Logs.ts"
import { asStartFailed, startListening } from "../StartFailed.ts"
import { root } from "./root.ts"

/** Kept as it is written; paths are put behind it. */
const origin = Parser.make("an http or https URL without a slash at its end", (text) =>
  /^https?:\/\/[^/]/u.test(text) && URL.canParse(text) && !text.endsWith("/") ? text : undefined
)

const domain = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/u

const registration = Parser.make<Registration>("closed, open, or domains separated by commas", (text) => {
  if (text === "closed" || text === "open") return text
  const domains = text.split(",").map((each) => each.trim().toLowerCase())
  return domains.every((each) => domain.test(each)) ? { domains } : undefined
})

interface Upstream {
  readonly alias: string
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
}

const upstreamOf = (text: string): Upstream | undefined => {
  const [alias = "", issuer = "", clientId = "", clientSecret = "", ...more] = text.trim().split(/\s+/u)
  const isWhole = /^[a-z0-9-]{1,40}$/u.test(alias) && /^https?:/u.test(issuer) && URL.canParse(issuer)
  return isWhole && clientSecret !== "" && more.length === 0 ? { alias, issuer, clientId, clientSecret } : undefined
}

const upstreams = Parser.make(
  "providers separated by commas, each a name, an issuer, a client id and a client secret",
  (text): Redacted.Redacted<ReadonlyArray<Upstream>> | undefined => {
    const all = text.split(",").map(upstreamOf)
    const whole = all.filter((each) => each !== undefined)
    return whole.length === all.length ? Redacted.make(whole) : undefined
  },
  { isSecret: true, example: "google https://accounts.google.com ID SECRET" }
)

/** On a button. */
const names = new Map([
  ["github", "GitHub"],
  ["gitlab", "GitLab"]
])
const nameOf = (alias: string) => names.get(alias) ?? alias.replace(/^./u, (first) => first.toUpperCase())

/** `what` completes the sentence "set it to ...". */
const needed = <A>(name: string, parser: Parser.Parser<A>, what: string) =>
  required(name, parser, `${what.slice(0, 1).toUpperCase()}${what.slice(1)}.`, { remedy: `set it to ${what}` })

export const variables = {
  listen: required("CT_IDP_LISTEN", address, "Address of the HTTP service."),
  folder: needed("CT_IDP_FOLDER", Parser.writablePath, "the folder for keys, users and clients"),
  publicUrl: optional(
    "CT_IDP_PUBLIC_URL",
    origin,
    "Origin at which people reach the provider, such as https://auth.example.net; TLS ends in front of it."
  ),
  realm: defaulted("CT_IDP_REALM", Parser.text, "catenet", "Name of the realm."),
  portal: needed("CT_IDP_PORTAL_URL", origin, "the address of the control plane, such as https://portal.example.net"),
  portalSecret: needed("CT_IDP_PORTAL_CLIENT_SECRET", secret, "the secret of the portal's client"),
  gateSecret: needed("CT_IDP_GATE_CLIENT_SECRET", secret, "the secret of the client of login gates"),
  managerSecret: needed(
    "CT_IDP_MANAGER_CLIENT_SECRET",
    secret,
    "the secret of the client with which the control plane manages service accounts"
  ),
  shutdownGrace: defaulted(
    "CT_IDP_SHUTDOWN_GRACE_SECS",
    Parser.whole(0, 3600),
    "30",
    "Seconds that requests have to finish after SIGTERM or SIGINT."
  ),
  drainDelay: defaulted(
    "CT_IDP_DRAIN_DELAY_SECS",
    Parser.whole(0, 600),
    "0",
    "Seconds after SIGTERM or SIGINT during which the provider still accepts requests but answers /health/ready " +
      "with 503."
  ),
  state: defaulted(
    "CT_IDP_STATE",
    Parser.literal("folder", "database"),
    "folder",
    "Where users, clients, keys and sessions are kept: folder is for development and forgets sessions at a restart; " +
      "database is the control plane's, read from its CT_CP_DATABASE_URL, CT_CP_SEAL_KEY, CT_CP_SMTP_URL and CT_PORTAL_BASE_URL."
  ),
  registration: defaulted(
    "CT_IDP_REGISTRATION",
    registration,
    "closed",
    "Who may make an account by signing in by e-mail: closed, open, or the domains of their addresses, separated by commas."
  ),
  upstreams: optional(
    "CT_IDP_UPSTREAMS",
    upstreams,
    "OpenID providers elsewhere at which people may sign in, separated by commas: name, issuer, client id and client secret of each."
  ),
  trustedProxies: optional("CT_IDP_TRUSTED_PROXIES", networks, "Proxies that send the client's address with PROXY v2."),
  email: needed("CT_IDP_USER_EMAIL", Parser.text, "the e-mail of the first user"),
  password: needed("CT_IDP_USER_PASSWORD", secret, "the password of the first user")
} as const

/** In which a client that keeps asking has heard that its connection ends. */
const lastMoment = (graceSeconds: number) => Math.min(1_000, graceSeconds * 100)

/**
 * The control plane's way to let clients go, and its reader of PROXY v2: an edge in front of both speaks it to both.
 */
const prepared = Effect.fnUntraced(function* (graceSeconds: number, networks: ReadonlyArray<string> | undefined) {
  const [ProxiedConnections, GracefulClose] = yield* Effect.promise(() =>
    Promise.all([
      import("@catenet/server/internal/http/ProxiedConnections"),
      import("@catenet/server/internal/http/GracefulClose")
    ])
  )
  return (server: Server) => {
    GracefulClose.attach(server, lastMoment(graceSeconds))
    GracefulClose.announce(server)
    if (networks !== undefined) ProxiedConnections.accept(server, trusts(networks))
  }
})

/** In the control plane's database, whose schema is brought up to date as by the control plane itself. */
const inDatabase = Effect.gen(function* () {
  const [Database, { Settings }, { SignInState }, SecureRandom] = yield* Effect.promise(() =>
    Promise.all([
      import("@catenet/server/internal/store/Database"),
      import("@catenet/server/internal/settings/Settings"),
      import("@catenet/server/internal/signin/SignInState"),
      import("effect/crypto/SecureRandom")
    ])
  )
  const layer = SignInState.layer.pipe(
    Layer.provide([Database.layer, SecureRandom.layerWebCrypto]),
    Layer.provide(Settings.layer)
  )
  const found = yield* Effect.mapError(Layer.build(layer), asStartFailed)
  const { clients, mails, ...state } = Context.get(found, SignInState)
  return {
    state: { ...state, clients: clients<RealmClient>() },
    ...(mails.isConfigured ? { mailCode: mails.put } : {})
  }
})

const serve = Effect.gen(function* () {
  const settings = yield* VariableReader.read(variables)
  const { email, folder, gateSecret, listen, managerSecret, password, portal, portalSecret, publicUrl, realm } =
    settings
  const kept = settings.state === "database" ? yield* inDatabase : {}
  const { fetchOf, longestAnswer } = yield* Effect.promise(() => import("@catenet/server/internal/http/OutgoingHttp"))
  const elsewhere = settings.upstreams === undefined ? [] : Redacted.value(settings.upstreams)
  const prepare = yield* prepared(settings.shutdownGrace, settings.trustedProxies)
  const { start } = yield* Effect.promise(() => import("@catenet/idp/IdentityProvider"))
  const provider = yield* Effect.acquireRelease(
    startListening(
      "CT_IDP_LISTEN",
      listen,
      () =>
        start({
          ...listen,
          folder,
          realm,
          ...kept,
          registration: settings.registration,
          upstreams: elsewhere.map(({ alias, clientId, clientSecret, issuer: at }) => ({
            alias,
            name: nameOf(alias),
            issuer: at,
            clientId,
            clientSecret,
            send: fetchOf(longestAnswer)
          })),
          ...(publicUrl === undefined ? {} : { publicUrl }),
          prepare,
          audience: "catenet",
          users: [{ email, password: Redacted.value(password) }],
          clients: [
            {
              clientId: "catenet-portal",
              secret: Redacted.value(portalSecret),
              standardFlowEnabled: true,
              redirectUris: [`${portal}/portal/callback`],
              postLogoutRedirectUris: [`${portal}/portal`, `${portal}/`]
            },
            {
              clientId: "catenet-gate",
              secret: Redacted.value(gateSecret),
              audience: "catenet-gate",
              standardFlowEnabled: true,
              redirectUris: [`${portal}/gate/callback`]
            },
            { clientId: "admin-cli", publicClient: true, directAccessGrantsEnabled: true },
            { clientId: "ct-agent-cli", publicClient: true, deviceGrantEnabled: true },
            {
              clientId: "catenet-manager",
              secret: Redacted.value(managerSecret),
              audience: "realm-management",
              serviceAccountsEnabled: true,
              managementRoles: ["manage-clients", "manage-users"]
            }
          ]
        }),
      "CT_IDP_FOLDER"
    ),
    (running) =>
      Effect.sync(() => running.leave()).pipe(
        Effect.andThen(Effect.sleep(`${settings.drainDelay} seconds`)),
        Effect.andThen(Effect.promise(() => running.close(settings.shutdownGrace * 1_000)))
      )
  )
  yield* Effect.promise(() => provider.rotate()).pipe(
    Effect.catchCause((cause) => Effect.logWarning("Could not look after the keys of the realm.", cause)),
    Effect.schedule(Schedule.spaced("1 hour")),
    Effect.forkScoped
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
    "Runs the embedded identity provider, which imitates a Keycloak realm; `up` starts it. With CT_IDP_STATE=database it\n" +
      "may face the internet.\n\n" +
      `Everything is configured by variables:\n${Documentation.help(variables)}`
  ),
  Command.withShortDescription("Run the embedded identity provider")
)
