/** Rules of host names by the settings: the zone of assigned names, and the platform's own names. */
import type { PortProtocol } from "@catenet/domain/edges/PublicPort"
import { HostnameReserved } from "@catenet/domain/tunnels/HostnameErrors"
import {
  certificateRecord,
  endsInNumber,
  isGiven,
  isServiceName,
  type PlatformNames,
  type ProofRecord,
  proofRecords,
  reservedAs
} from "@catenet/domain/tunnels/HostnameOwnership"
import { baseOf, Hostname, isWildcard } from "@catenet/domain/values/Hostname"
import { Context, Effect, Layer } from "effect"
import { parse } from "tldts"
import * as DnsBackend from "../../dns/DnsBackend.ts"
import { DnsProvider } from "../../dns/DnsProvider.ts"
import { sha256Hex } from "../../runtime/TokenSecrets.ts"
import { Settings } from "../../settings/Settings.ts"
import { AddressRecords } from "./AddressRecords.ts"

/** The public suffix list: names below which different people register theirs, such as `com`, `co.uk` and `github.io`. */
const options = { allowPrivateDomains: true, extractHostname: false, validateHostname: false }

/**
 * Whether a host name is a public suffix. By the rule of the list a last label that it does not know is one as well;
 * networks with names of their own have such, so `listed` asks only for what the list names.
 */
const isPublicSuffix = (hostname: string, which: "listed" | "any"): boolean => {
  const { isIcann, isPrivate, publicSuffix } = parse(hostname, options)
  return publicSuffix === hostname && (which === "any" || isIcann === true || isPrivate === true)
}

/** 32 hex digits that no other tunnel has. */
const labelOf = (tunnel: string) => sha256Hex(tunnel).slice(0, 32)

const normal = (name: string) => name.toLowerCase().replace(/\.+$/u, "")
const hostOf = (url: URL | string | undefined) => (url === undefined ? [] : [normal(new URL(url).hostname)])

export class HostnameRules extends Context.Service<
  HostnameRules,
  {
    /** The zone below which the platform gives names. */
    readonly zone: string | undefined
    readonly isGiven: (hostname: Hostname) => boolean
    /** The host name at which tunnels with a port of the protocol are reached. */
    readonly portHost: (protocol: PortProtocol) => string
    /**
     * Fails for a name that no tunnel can have. An operator may use last labels that the public list does not know, and
     * first labels that are reserved for services.
     */
    readonly admit: (hostname: Hostname, by: "account" | "operator") => Effect.Effect<void, HostnameReserved>
    /** The name that a CNAME to a tunnel leads to; null where the platform has no zone. */
    readonly targetOf: (tunnel: string) => Hostname | null
    /** What proves a name of a tunnel. */
    readonly recordsOf: (tunnel: string, hostname: Hostname) => ReadonlyArray<ProofRecord>
    /** By what the owner of a wildcard lets the platform answer for its certificates; undefined where it has no zone in DNS. */
    readonly certificateRecordOf: (tunnel: string, hostname: Hostname) => ProofRecord | undefined
  }
>()("server/tunnels/hostnames/HostnameRules") {
  static readonly make = Effect.gen(function* () {
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
        ...(settings.reservedHostnames ?? []).map(normal),
        ...(zone === undefined ? [] : [`tcp.${zone}`, `udp.${zone}`])
      ])
    }

    return {
      zone,
      isGiven: (hostname: Hostname) => isGiven(hostname, zone),
      portHost: (protocol: PortProtocol) =>
        zone === undefined ? (settings.agentsUrl ?? settings.portalBaseUrl).hostname : `${protocol}.${zone}`,
      admit: (hostname: Hostname, by: "account" | "operator"): Effect.Effect<void, HostnameReserved> => {
        const reason = reservedAs(hostname, ours)
        if (reason !== undefined) return Effect.fail(new HostnameReserved({ hostname, reason }))
        if (endsInNumber(baseOf(hostname))) return Effect.fail(new HostnameReserved({ hostname, reason: "address" }))
        if (by === "account" && isServiceName(hostname, ours.zones))
          return Effect.fail(new HostnameReserved({ hostname, reason: "service-label" }))
        return isPublicSuffix(baseOf(hostname), by === "operator" ? "listed" : "any")
          ? Effect.fail(new HostnameReserved({ hostname, reason: "public-suffix" }))
          : Effect.void
      },
      targetOf: (tunnel: string) => (zone === undefined ? null : Hostname.make(`${labelOf(tunnel)}.${zone}`)),
      recordsOf: (tunnel: string, hostname: Hostname) => proofRecords(hostname, labelOf(tunnel), zone),
      certificateRecordOf: (tunnel: string, hostname: Hostname) =>
        provider.zone === undefined || !isWildcard(hostname)
          ? undefined
          : certificateRecord(hostname, labelOf(tunnel), provider.zone)
    }
  })

  static readonly layer = Layer.effect(HostnameRules, HostnameRules.make).pipe(
    Layer.provide([AddressRecords.layer, DnsBackend.layer])
  )
}
