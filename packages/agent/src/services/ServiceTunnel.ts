/**
 * The tunnel of a service: found by its name in the account or created, with what its agent needs in the service's folder. A later
 * start needs neither the account nor the control plane.
 */
import { StoredRules } from "@catenet/domain/rules/Rules"
import { type Tunnel, TunnelKind } from "@catenet/domain/tunnels/Tunnel"
import { Port } from "@catenet/domain/values/Numbers"
import { clause } from "@catenet/domain/values/Sentence"
import { Effect, Equal, Option, Redacted, Schema } from "effect"
import type { Account } from "../account/AccountClient.ts"
import * as DemandedRules from "../account/DemandedRules.ts"
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
    /** Those that this agent has demanded of the tunnel. */
    rules: StoredRules.pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
    url: Schema.String
  })
)
type Kept = typeof Kept.Type

const fileIn = (stateDir: string) => `${stateDir}/tunnel.json`

/** What an earlier start has kept, unless the service is another tunnel since. */
const kept = Effect.fnUntraced(function* ({ controlPlane }: Account, { stateDir, tunnel }: ServicePlan) {
  const bytes = yield* Effect.orElseSucceed(PrivateFile.read(fileIn(stateDir)), () => undefined)
  if (bytes === undefined) return undefined
  const known = Option.getOrUndefined(Schema.decodeUnknownOption(Kept)(new TextDecoder().decode(bytes)))
  return known?.controlPlane === controlPlane && known.tunnel === tunnel ? known : undefined
})

const keep = Effect.fnUntraced(function* (stateDir: string, facts: Kept) {
  const bytes = new TextEncoder().encode(yield* Effect.orDie(Schema.encodeEffect(Kept)(facts)))
  yield* PrivateFile.replaceAll([{ path: fileIn(stateDir), bytes }])
})

/** Whether its tokens can be used: another kind, port or host name is asked for. */
const isUsable = Effect.fnUntraced(function* (
  known: Kept | undefined,
  { host, kind, port, stateDir, tls }: ServicePlan
) {
  const secret = yield* Effect.orElseSucceed(BootstrapSecret.restore(stateDir), () => undefined)
  return (
    secret !== undefined &&
    known?.kind === kind &&
    (known.tls ?? false) === tls &&
    (port === undefined || port === known.port) &&
    (host === undefined || host === known.hostname)
  )
})

/** Whether the tunnel has to be asked for with the account's login or token. */
export const needsAccount = (account: Account, plan: ServicePlan) =>
  plan.hasTokens
    ? Effect.succeed(false)
    : Effect.gen(function* () {
        const known = yield* kept(account, plan)
        return !(yield* isUsable(known, plan)) || !Equal.equals(known?.rules, plan.rules)
      })

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
  const known = yield* kept(account, plan)
  const demand = (of: Tunnel) => DemandedRules.demand(account, of, known?.rules ?? [], plan.rules)
  if (known !== undefined && !isFresh && (yield* isUsable(known, plan))) {
    const provided: Provided = { hostname: known.hostname, url: known.url, isKept: true }
    if (known.rules.length === 0 && plan.rules.length === 0) return provided
    // One that is not there any more is made again once its tokens are refused.
    const own = Effect.map(list, (all) => all.find((each) => each.owned && each.name === tunnelName))
    const demanding = Effect.flatMap(own, (tunnel) => (tunnel === undefined ? Effect.void : demand(tunnel)))
    if (Equal.equals(known.rules, plan.rules))
      // Set again if they are not there any more; without the control plane they are as they were.
      yield* demanding.pipe(
        Effect.catch(({ message }) =>
          Effect.logWarning(`the rules of the tunnel ${tunnelName} were not looked up: ${clause(message)}`)
        )
      )
    else {
      yield* demanding
      yield* keep(stateDir, { ...known, rules: plan.rules })
    }
    return provided
  }
  const taken = yield* TunnelClient.takeUp(account, tunnelName, plan, { list, remedy })
  yield* demand(taken)
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
    rules: plan.rules,
    url
  }
  yield* PrivateFile.folder(stateDir)
  yield* BootstrapSecret.keep(stateDir, { joinToken: Redacted.value(join_token), token: Redacted.value(routing_token) })
  yield* keep(stateDir, facts)
  const provided: Provided = { hostname, url, isKept: false }
  return provided
})
