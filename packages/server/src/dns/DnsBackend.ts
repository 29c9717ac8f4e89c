/**
 * Chooses the DNS back end by what is configured: dynamic update where a server is named, deSEC where a token is, a command of the
 * operator's where one is named.
 */
import type { Address } from "@catenet/platform/NetworkParser"
import { Effect, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import * as OutgoingHttp from "../http/OutgoingHttp.ts"
import { Settings } from "../settings/Settings.ts"
import * as AuthoritativeServers from "./AuthoritativeServers.ts"
import * as Desec from "./Desec.ts"
import { ChangeRefused, DnsProvider } from "./DnsProvider.ts"
import * as ExecHook from "./ExecHook.ts"
import * as Rfc2136 from "./Rfc2136.ts"

const plain = (zone: string) => zone.toLowerCase().replace(/\.$/, "")

/** The servers that the world asks: those that are named, or what the zone says of itself. */
const authoritativeOf = (zone: string, named: ReadonlyArray<Address> | undefined) =>
  named === undefined ? AuthoritativeServers.ofZone(zone) : Effect.succeed(named)

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
  if (isHalf) yield* Effect.logWarning("There is no DNS back end: only a part of a DNS back end is configured.")
  return none
})

export const layer: Layer.Layer<DnsProvider, never, Settings | SecureRandom.SecureRandom> = Layer.effect(
  DnsProvider,
  make
).pipe(Layer.provide(OutgoingHttp.layer))
