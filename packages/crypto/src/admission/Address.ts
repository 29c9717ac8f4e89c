/**
 * The address predicates of section 6.8. They decide whether an edge passes an endpoint on and whether an agent dials it:
 * the check that keeps a peer from making us dial inside our own network. No name is ever resolved here.
 */
import { Result } from "effect"
import * as IpNetwork from "effect/net/IpNetwork"
import * as NetAddress from "effect/net/NetAddress"

/** The endpoint text of a member that takes no direct connection. */
export const relayOnly = "relay-only"

const networks = (...texts: ReadonlyArray<string>) => texts.map(IpNetwork.fromStringUnsafe)
const within = (ranges: ReadonlyArray<IpNetwork.IpNetwork>, ip: NetAddress.IpAddress) =>
  ranges.some((range) => range.address._tag === ip._tag && IpNetwork.contains(range, ip))

const privateV4 = networks("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16")
const notGlobalV4 = [...privateV4, ...networks("0.0.0.0/32", "127.0.0.0/8", "224.0.0.0/4", "100.64.0.0/10")]
const localV6 = networks("fc00::/7", "fe80::/10")
const notGlobalV6 = [...localV6, ...networks("::/128", "::1/128", "ff00::/8")]

/**
 * IPv4-mapped (`::ffff:a.b.c.d`) and IPv4-compatible (`::a.b.c.d`) addresses are treated as the IPv4 address that they contain.
 */
const embeddedV4 = (ip: NetAddress.Ipv6Address): NetAddress.Ipv4Address | undefined => {
  const segments = NetAddress.ipv6ToSegments(ip)
  const head = segments.slice(0, 6).join()
  if (head !== "0,0,0,0,0,65535" && (head !== "0,0,0,0,0,0" || (segments[6] === 0 && segments[7] < 2))) return undefined
  return NetAddress.ipv4FromBytesUnsafe(Uint8Array.from(NetAddress.ipv6ToOctets(ip).slice(12)))
}

/**
 * Parses `ip:port` or `[ip]:port`; fails for a name.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Address from "@catenet/crypto/admission/Address"
 *
 * ok(Result.isSuccess(Address.parse("[2001:db8::1]:7001")))
 * ok(Result.isFailure(Address.parse("example.com:443")))
 * ```
 */
export const parse = (text: string): Result.Result<NetAddress.InetAddress, NetAddress.NetAddressError> =>
  NetAddress.inetAddressFromString(text)

/**
 * Whether an address is globally routable. Documentation, benchmark and broadcast ranges count as routable.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as NetAddress from "effect/net/NetAddress"
 * import * as Address from "@catenet/crypto/admission/Address"
 *
 * ok(Address.isGlobal(NetAddress.ipFromStringUnsafe("203.0.113.7")))
 * ok(!Address.isGlobal(NetAddress.ipFromStringUnsafe("::ffff:169.254.169.254")))
 * ```
 */
export const isGlobal = (ip: NetAddress.IpAddress): boolean => {
  if (NetAddress.isIpv4Address(ip)) return !within(notGlobalV4, ip)
  const inner = embeddedV4(ip)
  return inner === undefined ? !within(notGlobalV6, ip) : isGlobal(inner)
}

/**
 * Whether a text is an address and port that is globally routable.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Address from "@catenet/crypto/admission/Address"
 *
 * ok(Address.isGlobalEndpoint("8.8.8.8:443") && !Address.isGlobalEndpoint("10.0.0.5:22"))
 * ```
 */
export const isGlobalEndpoint = (text: string): boolean => {
  const parsed = parse(text)
  return Result.isSuccess(parsed) && isGlobal(parsed.success.address)
}

/**
 * Whether an edge may pass this endpoint on: `relay-only`, or a globally routable address and port.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Address from "@catenet/crypto/admission/Address"
 *
 * ok(Address.isAdmissible("relay-only") && !Address.isAdmissible("192.168.1.1:22"))
 * ```
 */
export const isAdmissible = (endpoint: string): boolean => endpoint === relayOnly || isGlobalEndpoint(endpoint)

/**
 * Whether a candidate is on this machine's subnet: both IPv4, the candidate private or link-local and three octets equal; or both
 * IPv6, the candidate unique-local or link-local and four groups equal.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as NetAddress from "effect/net/NetAddress"
 * import * as Address from "@catenet/crypto/admission/Address"
 *
 * const [own, near, far] = ["192.168.1.9", "192.168.1.42", "192.168.2.7"].map(NetAddress.ipFromStringUnsafe)
 * ok(Address.sameLocalSubnet(own, near) && !Address.sameLocalSubnet(own, far))
 * ```
 */
export const sameLocalSubnet = (own: NetAddress.IpAddress, candidate: NetAddress.IpAddress): boolean => {
  if (NetAddress.isIpv4Address(own)) {
    if (!NetAddress.isIpv4Address(candidate) || !within(privateV4, candidate)) return false
    return IpNetwork.contains(IpNetwork.fromAddressUnsafe(own, 24), candidate)
  }
  if (NetAddress.isIpv4Address(candidate) || !within(localV6, candidate)) return false
  return IpNetwork.contains(IpNetwork.fromAddressUnsafe(own, 64), candidate)
}
