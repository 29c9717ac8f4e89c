/** What the rules of host names need of the settings: the zone of given names, and which names are the platform's own. */
import { Hostname } from "@catenet/domain/values/Hostname"
import { HostnameReserved } from "@catenet/domain/tunnels/HostnameErrors"
import { type PlatformNames, proofRecords, isGiven, reservedAs } from "@catenet/domain/tunnels/HostnameClaim"
import { Context, Effect, Layer } from "effect"
import { AddressRecords } from "./AddressRecords.ts"
import { DnsProvider } from "../../dns/DnsProvider.ts"
import { digestOf } from "../../runtime/Secrets.ts"
import { Settings } from "../../settings/Settings.ts"
import { isPublicSuffix } from "./PublicSuffix.ts"

const normal = (name: string) => name.toLowerCase().replace(/\.+$/u, "")
const hostOf = (url: URL | string | undefined) => (url === undefined ? [] : [normal(new URL(url).hostname)])

const make = Effect.gen(function* () {
  const settings = yield* Settings
  const addresses = yield* AddressRecords
  const provider = yield* DnsProvider
  const hostnameZone = settings.hostnameZone ?? addresses.zone
  const zone = hostnameZone === undefined ? undefined : normal(hostnameZone)
  const ours: PlatformNames = {
    zones: [...new Set([zone, provider.zone].filter((name) => name !== undefined))],
    names: new Set([
      ...hostOf(settings.portalBaseUrl),
      ...hostOf(settings.oidcIssuer),
      ...hostOf(settings.oidcAuthorizeUrl),
      ...hostOf(settings.oidcTokenUrl),
      ...hostOf(settings.oidcRedirectUri),
      ...hostOf(settings.gateRedirectUri),
      ...hostOf(settings.identityProviderUrl),
      ...(settings.gateCookieDomain === undefined ? [] : [normal(settings.gateCookieDomain)]),
      ...(settings.reservedHostnames ?? []).map(normal)
    ])
  }

  return {
    /** The zone below which the platform gives names. */
    zone,
    isGiven: (hostname: Hostname) => isGiven(hostname, zone),
    /** Fails for a name that no tunnel can have. An operator may use last labels that the public list does not know. */
    admit: (hostname: Hostname, by: "account" | "operator"): Effect.Effect<void, HostnameReserved> => {
      const reason = reservedAs(hostname, ours)
      if (reason !== undefined) return Effect.fail(new HostnameReserved({ hostname, reason }))
      return isPublicSuffix(hostname, by === "operator" ? "listed" : "any")
        ? Effect.fail(new HostnameReserved({ hostname, reason: "public-suffix" }))
        : Effect.void
    },
    /** The name that a CNAME to a tunnel leads to; null where the platform has no zone. */
    targetOf: (tunnel: string) =>
      zone === undefined ? null : Hostname.make(`${digestOf(tunnel).slice(0, 32)}.${zone}`),
    /** What proves a name of a tunnel. */
    recordsOf: (tunnel: string, hostname: Hostname) => proofRecords(hostname, digestOf(tunnel).slice(0, 32), zone)
  }
})

export class HostnameRules extends Context.Service<HostnameRules, Effect.Success<typeof make>>()(
  "server/HostnameRules"
) {
  static readonly layer = Layer.effect(HostnameRules, make)
}
