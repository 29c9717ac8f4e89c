/**
 * The tunnel of a service: found by its name in the account or created, with what its agent needs in the service's folder. A later
 * start needs neither the account nor the control plane.
 */
import { TunnelKind } from "@catenet/domain/tunnels/Tunnel"
import { Port } from "@catenet/domain/values/Numbers"
import { Effect, Option, Redacted, Schema } from "effect"
import type { Account } from "../account/AccountClient.ts"
import { provedHostname } from "../account/HostnameProof.ts"
import * as TunnelClient from "../account/TunnelClient.ts"
import { Refused } from "../Failure.ts"
import * as BootstrapSecret from "../onboard/BootstrapSecret.ts"
import * as PrivateFile from "../state/PrivateFile.ts"
import type { ServicePlan } from "./ServicePlan.ts"

/** A tunnel that can be served, and its public address. */
export interface Provided {
  /** Undefined for a tunnel with a public port. */
  readonly hostname: string | undefined
  /** Unknown where a tunnel with a public port is served with tokens only. */
  readonly url: string | undefined
  /** Whether its tokens are from an earlier start. */
  readonly isKept: boolean
}

const Kept = Schema.fromJsonString(
  Schema.Struct({
    controlPlane: Schema.String,
    tunnel: Schema.String,
    hostname: Schema.optionalKey(Schema.String),
    kind: TunnelKind.pipe(Schema.withDecodingDefaultKey(Effect.succeed("http" as const))),
    port: Schema.optionalKey(Port),
    tls: Schema.optionalKey(Schema.Boolean),
    url: Schema.String
  })
)
type Kept = typeof Kept.Type

const fileIn = (stateDir: string) => `${stateDir}/tunnel.json`

const kept = Effect.fnUntraced(function* ({ controlPlane }: Account, plan: ServicePlan) {
  const { host, kind, port, stateDir, tls, tunnel } = plan

  const bytes = yield* Effect.orElseSucceed(PrivateFile.read(fileIn(stateDir)), () => undefined)
  const secret = yield* Effect.orElseSucceed(BootstrapSecret.restore(stateDir), () => undefined)
  if (bytes === undefined || secret === undefined) return undefined
  const known = Option.getOrUndefined(Schema.decodeUnknownOption(Kept)(new TextDecoder().decode(bytes)))
  // Another name, kind, port, host name or control plane is another tunnel.
  const isSame =
    known?.controlPlane === controlPlane &&
    known.tunnel === tunnel &&
    known.kind === kind &&
    (known.tls ?? false) === tls &&
    (port === undefined || port === known.port) &&
    (host === undefined || host === known.hostname)
  return isSame ? { hostname: known.hostname, url: known.url, isKept: true } : undefined
})

/** Whether the tunnel has to be asked for with the account's login or token. */
export const needsAccount = (account: Account, plan: ServicePlan) =>
  plan.hasTokens ? Effect.succeed(false) : Effect.map(kept(account, plan), (known) => known === undefined)

const remedy = { other: "Set another name of the service.", port: "Remove port, or set another name of the service." }

export interface Options {
  /** The account's tunnels, asked for only if they are needed. */
  readonly list: Parameters<typeof TunnelClient.takeUp>[3]["list"]
  /** Replaces tokens that were refused. */
  readonly isFresh: boolean
  /** Runs before a wait for DNS. */
  readonly waits: Effect.Effect<void>
}

/** The tunnel of this service. */
export const provide = Effect.fn("ServiceTunnel.provide")(function* (
  account: Account,
  plan: ServicePlan,
  { isFresh, list, waits }: Options
) {
  const { host, kind, name, stateDir, tunnel: tunnelName } = plan
  if (plan.hasTokens && (host !== undefined || kind !== "http")) {
    const url = host && (kind === "http" ? `https://${host}/` : `tls://${host}`)
    const provided: Provided = { hostname: host, url, isKept: false }
    return provided
  }
  const known = isFresh ? undefined : yield* kept(account, plan)
  if (known !== undefined) return known satisfies Provided
  const taken = yield* TunnelClient.takeUp(account, tunnelName, plan, { list, remedy })
  const tunnel = yield* provedHostname(account, taken, host, waits)
  const hostname = tunnel.hostname ?? undefined
  if (hostname === undefined && kind === "http")
    return yield* new Refused({
      detail: `The control plane gave the tunnel ${tunnelName} no host name. Set host of the service ${name}.`
    })
  const { join_token, public_url, routing_token } = yield* TunnelClient.install(account, tunnel)
  const url = public_url ?? `https://${hostname ?? ""}/`
  const facts: Kept = {
    controlPlane: account.controlPlane,
    tunnel: tunnelName,
    kind,
    ...(hostname !== undefined && { hostname }),
    ...(tunnel.port !== null && { port: tunnel.port }),
    ...(tunnel.tls && { tls: true }),
    url
  }
  yield* PrivateFile.folder(stateDir)
  yield* BootstrapSecret.keep(stateDir, { joinToken: Redacted.value(join_token), token: Redacted.value(routing_token) })
  yield* PrivateFile.replaceAll([
    { path: fileIn(stateDir), bytes: new TextEncoder().encode(yield* Effect.orDie(Schema.encodeEffect(Kept)(facts))) }
  ])
  const provided: Provided = { hostname, url, isKept: false }
  return provided
})
