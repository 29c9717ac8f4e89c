/**
 * Chooses the DNS back end by what is configured: dynamic update where a server is named, deSEC where a token is, a command of the
 * operator's where one is named.
 */
import type { Address } from "@catenet/platform/NetworkParser"
import { Sockets } from "@catenet/platform/Sockets"
import { Effect, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import * as OutgoingHttp from "../http/OutgoingHttp.ts"
import { Settings } from "../settings/Settings.ts"
import * as Desec from "./Desec.ts"
import { ChangeRefused, DnsProvider } from "./DnsProvider.ts"
import * as ExecHook from "./ExecHook.ts"
import * as Rfc2136 from "./Rfc2136.ts"

/** The name servers of a zone, by the world's own account: its NS records and their addresses. */
const found = (resolve: () => Promise<ReadonlyArray<string>>) =>
  Effect.orElseSucceed(Effect.tryPromise(resolve), (): ReadonlyArray<string> => [])

/** The addresses of all name servers. A zone without any cannot be waited for. */
const ofZone = Effect.fn("DnsBackend.ofZone")(function* (zone: string) {
  const resolver = Sockets.resolver()
  const names = yield* found(() => resolver.resolveNs(zone))
  const addresses = yield* Effect.forEach(
    names.flatMap((name) => [found(() => resolver.resolve4(name)), found(() => resolver.resolve6(name))]),
    (each) => each,
    { concurrency: "unbounded" }
  )
  const servers = addresses.flat().map((host): Address => ({ host, port: 53 }))
  return servers.length === 0 ? yield* new ChangeRefused({ why: `no name server of ${zone} is known` }) : servers
})

const plain = (zone: string) => zone.toLowerCase().replace(/\.$/, "")

/** The servers that the world asks: those that are named, or what the zone says of itself. */
const authoritativeOf = (zone: string, named: ReadonlyArray<Address> | undefined) =>
  named === undefined ? ofZone(zone) : Effect.succeed(named)

const none: DnsProvider["Service"] = {
  zone: undefined,
  set: () => Effect.fail(new ChangeRefused({ why: "there is no DNS back end" })),
  authoritative: Effect.succeed([])
}

const make = Effect.gen(function* () {
  const settings = yield* Settings
  const {
    desecApiBase,
    desecDomain,
    desecToken,
    dnsServers: named,
    dnsUpdateKey,
    dnsUpdateKeyName,
    dnsUpdateServer
  } = settings
  if (dnsUpdateServer !== undefined && settings.dnsUpdateZone !== undefined && dnsUpdateKey !== undefined) {
    const zone = plain(settings.dnsUpdateZone)
    const key = { name: dnsUpdateKeyName, secret: dnsUpdateKey }
    const { set } = yield* Rfc2136.make({ server: dnsUpdateServer, zone, key })
    return { zone, set, authoritative: Effect.succeed(named ?? [dnsUpdateServer]) }
  }
  if (desecToken !== undefined && desecDomain !== undefined) {
    const zone = plain(desecDomain)
    const { set } = yield* Desec.make({ base: desecApiBase, zone, token: desecToken })
    return { zone, set, authoritative: authoritativeOf(zone, named) }
  }
  const { dnsHook, dnsHookEnvironment = {}, dnsHookTimeoutSeconds, dnsHookZone } = settings
  if (dnsHook !== undefined && dnsHookZone !== undefined) {
    const zone = plain(dnsHookZone)
    const { set } = ExecHook.make({
      command: dnsHook,
      zone,
      environment: dnsHookEnvironment,
      timeoutSeconds: dnsHookTimeoutSeconds
    })
    return { zone, set, authoritative: authoritativeOf(zone, named) }
  }
  const parts = [dnsUpdateServer, settings.dnsUpdateZone, dnsUpdateKey, desecToken, desecDomain, dnsHook, dnsHookZone]
  const isHalf = parts.some((value) => value !== undefined)
  if (isHalf) yield* Effect.logWarning("The DNS back end is disabled: it is only partly configured.")
  return none
})

export const layer: Layer.Layer<DnsProvider, never, Settings | SecureRandom.SecureRandom> = Layer.effect(
  DnsProvider,
  make
).pipe(Layer.provide(OutgoingHttp.layer))
