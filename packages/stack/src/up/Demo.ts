/**
 * The demo tunnel, made on the first start through the routes that every operator uses: provision, join token, authorize. Later
 * starts only repeat the authorization, which changes nothing.
 */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { AgentId, Tenant } from "@catenet/domain/enrollment/AgentStatus"
import { Hostname } from "@catenet/domain/values/Hostname"
import { Subject } from "@catenet/domain/values/Ids"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Effect, Redacted, Schema } from "effect"
import { HttpClient } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { decodeJwt } from "jose"
import { asAdministrator, type DemoFailed, failed } from "./DemoAccess.ts"
import * as Environments from "./Environments.ts"
import * as Programs from "./Programs.ts"
import type { Secrets } from "./Secrets.ts"
import type { UpSettings } from "./Settings.ts"
import type { StackFolder } from "./StackFolder.ts"
import * as TunnelFile from "./TunnelFile.ts"

/** Further names below this one are covered by the development certificate; a wildcard of one label is not accepted. */
export const zone = "catenet.localhost"
export const demoHostname = "hello.localhost"

/** The demo user's subject, as the identity provider names it in a token. */
const subjectOf = (token: Effect.Effect<Redacted.Redacted, DemoFailed>) =>
  Effect.map(token, (text) => decodeJwt(Redacted.value(text)).sub ?? "")

const calls = Effect.fnUntraced(function* (settings: UpSettings) {
  const httpClient = yield* HttpClient.HttpClient
  const baseUrl = Environments.url(settings.controlPlane)
  return {
    enrollment: yield* HttpApiClient.group(ControlPlaneApi, { group: "enrollment", httpClient, baseUrl }),
    provisioning: yield* HttpApiClient.group(ControlPlaneApi, { group: "provisioning", httpClient, baseUrl })
  }
})

type Calls = Effect.Success<ReturnType<typeof calls>>

interface Tunnel {
  readonly file: string
  readonly state: string
  readonly name: string
  readonly hostname: string
}

/** Makes the tunnel's file unless it is there, and authorizes its name. */
const ensureTunnel = Effect.fnUntraced(function* (
  { enrollment, provisioning }: Calls,
  settings: UpSettings,
  folder: StackFolder,
  subject: Effect.Effect<string, DemoFailed>,
  { file, hostname, name, state }: Tunnel
) {
  const host = Hostname.make(hostname)
  const existing = TunnelFile.read(file)
  if (existing === undefined) {
    const owner = yield* subject
    const { routing_token } = yield* provisioning
      .provisionTunnel({ headers: {}, payload: { subject: Subject.make(owner), name, hostname: host } })
      .pipe(Effect.mapError(failed(`${hostname} cannot be provisioned`)))
    const { token } = yield* enrollment
      .issue({ headers: {}, payload: { tenant: Tenant.make(owner) } })
      .pipe(Effect.mapError(failed("no join token was issued")))
    TunnelFile.write(file, {
      ...Environments.ofAgent(settings, folder, state, hostname),
      CT_AGENT_ID: AgentId.make(`${name}-agent`),
      CT_AGENT_JOIN_TOKEN: Redacted.value(token),
      CT_AGENT_TOKEN: Redacted.value(routing_token)
    })
  } else TunnelFile.write(file, { ...existing, ...Environments.ofAgent(settings, folder, state, hostname) })
  const variables = TunnelFile.read(file) ?? {}
  const routing_token = yield* Schema.decodeUnknownEffect(RoutingToken)(variables["CT_AGENT_TOKEN"]).pipe(
    Effect.mapError(failed(`${file} holds no routing token`))
  )
  yield* provisioning
    .authorizeHost({ params: { routing_token, hostname: host } })
    .pipe(Effect.mapError(failed(`${hostname} cannot be authorized`)))
  return variables
})

const agentOf = (settings: UpSettings, folder: StackFolder, variables: TunnelFile.Variables) =>
  Programs.demoAgent(
    {
      ...variables,
      CT_AGENT_ORIGIN: Environments.address(settings.demoOrigin),
      // The edge is beside it and need not be spared: the tunnel is there as soon as the edge is.
      CT_AGENT_RECONNECT_BASE_MS: "100",
      CT_AGENT_RECONNECT_MAX_MS: "2000"
    },
    Programs.visits(settings, folder, demoHostname)
  )

/** The agent of the demo tunnel as an earlier start has left it, which need not wait for the control plane; undefined at the first. */
export const known = (settings: UpSettings, folder: StackFolder) => {
  const existing = TunnelFile.read(folder.demoTunnel)
  if (existing === undefined) return undefined
  return agentOf(settings, folder, {
    ...existing,
    ...Environments.ofAgent(settings, folder, folder.demoAgent, demoHostname)
  })
}

/** Makes the demo tunnel and returns its agent. */
export const prepare = Effect.fn("Demo.prepare")(function* (
  settings: UpSettings,
  folder: StackFolder,
  secrets: Secrets,
  token: Effect.Effect<Redacted.Redacted, DemoFailed>
) {
  const client = yield* calls(settings).pipe(Effect.provide(asAdministrator(secrets)))
  const subject = subjectOf(token)
  const variables = yield* ensureTunnel(client, settings, folder, subject, {
    file: folder.demoTunnel,
    state: folder.demoAgent,
    name: "hello",
    hostname: demoHostname
  })
  return agentOf(settings, folder, variables)
})
