/**
 * Which host names a tunnel may have. A name leads to a tunnel when the platform gave it (one label below the hostname
 * zone), when its owner proved it in DNS, or when an operator provisioned it. Some names are never a tunnel's.
 */
import { Schema } from "effect"
import { baseOf, isWildcard, TunnelHostname } from "../values/Hostname.ts"
import { UnixSeconds } from "../values/Numbers.ts"
import { literal } from "../values/Pattern.ts"

/** The host name that the platform gives a tunnel, made of its name, its owner and the zone of the deployment. */
const longestLabel = 40

/**
 * The first part: the name in lower case, with one `-` for every run of other characters than a-z and 0-9, none at the ends,
 * at most 40 characters. A name without any such character becomes `tunnel`.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { labelOf } from "@catenet/domain/tunnels/HostnameOwnership"
 *
 * assert.equal(labelOf("My Camera (2)!"), "my-camera-2")
 * assert.equal(labelOf("猫"), "tunnel")
 * ```
 */
export const labelOf = (name: string): string => {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? ["tunnel"]
  return words.join("-").slice(0, longestLabel)
}

/**
 * `<label>-<suffix>.<zone>`. `subjectDigest` is the SHA-256 of the owner's subject in hex, of which the first eight digits are
 * used: the same owner and name give the same host name.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { deriveHostname } from "@catenet/domain/tunnels/HostnameOwnership"
 *
 * assert.equal(deriveHostname("Camera", "0123456789abcdef", "example.net"), "camera-01234567.example.net")
 * ```
 */
export const deriveHostname = (name: string, subjectDigest: string, zone: string): string =>
  `${labelOf(name)}-${subjectDigest.slice(0, 8)}.${zone}`

// The proof of a host name that an owner brought to a tunnel: what is to be in DNS, and whether it was there.

/** A record as it is written into DNS. */
export class DnsRecord extends Schema.Class<DnsRecord>("DnsRecord")({
  type: literal(["TXT", "CNAME"]),
  name: Schema.String,
  value: Schema.String
}) {}

/** One of the records proves the name. While it is pending, the tunnel does not have the name. */
export class HostnameProof extends Schema.Class<HostnameProof>("HostnameProof")({
  hostname: TunnelHostname,
  state: literal(["pending", "proved"]),
  checked_at: Schema.NullOr(UnixSeconds),
  records: Schema.Array(DnsRecord),
  /** Of a wildcard, where the platform answers for certificates in DNS: the record that lets it. */
  certificate: Schema.optionalKey(DnsRecord)
}) {}

/** The names that belong to the platform itself. `zones`: where it gives names and where it changes records. */
export interface PlatformNames {
  readonly zones: ReadonlyArray<string>
  readonly names: ReadonlySet<string>
}

const isBelow = (hostname: string, ancestor: string) => hostname.endsWith(`.${ancestor}`)

/** 32 hex digits as a label are a target of proofs, which no tunnel may have as its name. */
const targetLabel = /^[0-9a-f]{32}$/u

/**
 * Whether a name is the platform's to give: exactly one label below the zone.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { isGiven } from "@catenet/domain/tunnels/HostnameOwnership"
 *
 * assert.ok(isGiven("cam.example.net", "example.net"))
 * assert.ok(!isGiven("a.cam.example.net", "example.net") && !isGiven("example.net", "example.net"))
 * ```
 */
export const isGiven = (hostname: string, zone: string | undefined): boolean =>
  zone !== undefined && isBelow(hostname, zone) && !hostname.slice(0, -zone.length - 1).includes(".")

/**
 * Every name above a host name, the nearest first.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { ancestorsOf } from "@catenet/domain/tunnels/HostnameOwnership"
 *
 * assert.deepEqual(ancestorsOf("a.b.example"), ["b.example", "example"])
 * ```
 */
export const ancestorsOf = (hostname: string): ReadonlyArray<string> => {
  const labels = hostname.split(".")
  return labels.slice(1).map((_, n) => labels.slice(n + 1).join("."))
}

/**
 * The wildcard that a host name falls under; undefined below a single label.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { wildcardOf } from "@catenet/domain/tunnels/HostnameOwnership"
 *
 * assert.equal(wildcardOf("a.dev.example.net"), "*.dev.example.net")
 * assert.equal(wildcardOf("example.net"), undefined)
 * ```
 */
export const wildcardOf = (hostname: string): string | undefined => {
  const parent = hostname.slice(hostname.indexOf(".") + 1)
  return parent.includes(".") && parent !== hostname ? `*.${parent}` : undefined
}

/**
 * Why a name can never be a tunnel's, by the name alone; undefined where it can.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { reservedAs } from "@catenet/domain/tunnels/HostnameOwnership"
 *
 * const ours = { zones: ["t.example.net"], names: new Set(["portal.example.net"]) }
 * assert.equal(reservedAs("t.example.net", ours), "zone")
 * assert.equal(reservedAs("example.net", ours), "zone")
 * assert.equal(reservedAs("portal.example.net", ours), "platform")
 * assert.equal(reservedAs("cam.t.example.net", ours), undefined)
 * assert.equal(reservedAs("*.example.net", ours), "zone")
 * assert.equal(reservedAs("*.cam.t.example.net", ours), "below-zone")
 * ```
 */
export const reservedAs = (
  hostname: string,
  { names, zones }: PlatformNames
): "zone" | "platform" | "below-zone" | undefined => {
  const base = baseOf(hostname)
  if (zones.some((zone) => base === zone || isBelow(zone, base))) return "zone"
  if (isWildcard(hostname)) {
    if (zones.some((zone) => isBelow(base, zone))) return "below-zone"
    return names.has(base) || Array.from(names).some((name) => isGiven(name, base)) ? "platform" : undefined
  }
  const isTarget = zones.some((zone) => isGiven(hostname, zone)) && targetLabel.test(hostname.split(".")[0] ?? "")
  return names.has(hostname) || isTarget ? "platform" : undefined
}

/**
 * First labels that people and programs take for the operator's own below any zone: they are where sign-in pages, mail and
 * its configuration, proxy discovery, name servers and the contacts of RFC 2142 are looked for.
 */
const serviceLabels: ReadonlySet<string> = new Set(
  `www mail smtp imap pop api login auth sso account admin portal status ns1 ns2 autodiscover autoconfig wpad isatap mta-sts
  abuse postmaster hostmaster security`.split(/\s+/u)
)

/**
 * Whether a name below one of the zones starts with a label that no account may choose; an operator may assign it. Labels
 * with an underscore are no host names, so they need no entry.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { isServiceName } from "@catenet/domain/tunnels/HostnameOwnership"
 *
 * assert.ok(isServiceName("mta-sts.example.net", ["example.net"]))
 * assert.ok(!isServiceName("camera.example.net", ["example.net"]) && !isServiceName("www.example.org", ["example.net"]))
 * ```
 */
export const isServiceName = (hostname: string, zones: ReadonlyArray<string>): boolean =>
  zones.some((zone) => isGiven(hostname, zone)) && serviceLabels.has(hostname.split(".")[0] ?? "")

/**
 * Whether URL parsers read a host as an IPv4 address: its last label is a number.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { endsInNumber } from "@catenet/domain/tunnels/HostnameOwnership"
 *
 * assert.ok(endsInNumber("192.0.2.1") && endsInNumber("192.0.2.0x1"))
 * assert.ok(!endsInNumber("1.example.net"))
 * ```
 */
export const endsInNumber = (hostname: string): boolean => /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/u.test(hostname)

/** A record that proves a host name. */
export interface ProofRecord {
  readonly type: "TXT" | "CNAME"
  readonly name: string
  readonly value: string
}

/**
 * What an owner puts into DNS, one of them: a TXT record beside the name, or, where the platform has a zone, a CNAME from
 * the name to the tunnel's given name. `label` is 32 hex digits that no other tunnel has.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { proofRecords } from "@catenet/domain/tunnels/HostnameOwnership"
 *
 * const [txt, cname] = proofRecords("www.example.org", "0".repeat(32), "t.example.net")
 * assert.equal(txt?.name, "_catenet-challenge.www.example.org")
 * assert.equal(cname?.value, `${"0".repeat(32)}.t.example.net`)
 * const [parent] = proofRecords("*.dev.example.org", "0".repeat(32), undefined)
 * assert.equal(parent?.name, "_catenet-challenge.dev.example.org")
 * ```
 */
export const proofRecords = (hostname: string, label: string, zone: string | undefined): ReadonlyArray<ProofRecord> => [
  { type: "TXT", name: `_catenet-challenge.${baseOf(hostname)}`, value: `catenet-tunnel=${label}` },
  ...(zone === undefined ? [] : [{ type: "CNAME" as const, name: hostname, value: `${label}.${zone}` }])
]

/**
 * By what the owner of a wildcard lets the platform answer for its certificates, which only DNS can prove: the challenges of
 * authorities are looked up in the platform's zone.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { certificateRecord } from "@catenet/domain/tunnels/HostnameOwnership"
 *
 * const { name, value } = certificateRecord("*.dev.example.org", "0".repeat(32), "example.net")
 * assert.equal(name, "_acme-challenge.dev.example.org")
 * assert.equal(value, `_acme-challenge.${"0".repeat(32)}.example.net`)
 * ```
 */
export const certificateRecord = (hostname: string, label: string, zone: string): ProofRecord => ({
  type: "CNAME",
  name: `_acme-challenge.${baseOf(hostname)}`,
  value: `_acme-challenge.${label}.${zone}`
})
