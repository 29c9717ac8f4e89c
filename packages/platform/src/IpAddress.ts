/** IP addresses as sockets, proxies and people write them. */
import { Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"
import { BlockList, isIP, isIPv6 } from "node:net"

export { BlockList, isIP, isIPv6 }

type IpAddress = NetAddress.IpAddress

/** An IPv4 address that a dual-stack socket shows as `::ffff:a.b.c.d`. */
const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/**
 * An address alone, in brackets, or with a zone, which is dropped; IPv4 in IPv6 is the IPv4 address inside. A name is none.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { NetAddress } from "effect/net"
 * import { parseIp } from "@catenet/platform/IpAddress"
 *
 * assert.deepEqual(parseIp("::ffff:192.0.2.7"), NetAddress.ipFromStringUnsafe("192.0.2.7"))
 * assert.deepEqual(parseIp("[fe80::1%eth0]"), NetAddress.ipFromStringUnsafe("fe80::1"))
 * assert.equal(parseIp("example.com"), undefined)
 * ```
 */
export const parseIp = (written: string): IpAddress | undefined => {
  const bare = written.replace(/^\[(.*)\]$/u, "$1").replace(/%.*$/su, "")
  const parsed = NetAddress.ipFromString(bare)
  return Result.isSuccess(parsed) ? NetAddress.toCanonical(parsed.success) : undefined
}

/** The address of {@link parseIp}, or the one of an `ip:port` or `[ip]:port`. */
export const parseIpWithPort = (written: string): IpAddress | undefined => {
  const alone = parseIp(written)
  if (alone !== undefined) return alone
  const withPort = NetAddress.inetAddressFromString(written)
  return Result.isSuccess(withPort) ? NetAddress.toCanonical(withPort.success.address) : undefined
}

/** The address of a socket, as others shall know it: IPv4 as IPv4, though a dual-stack listener shows it as IPv6. */
export const plainAddress = (address: string): string => mapped.exec(address)?.[1] ?? address

/**
 * What limits count by: an IPv4 address, or the /64 that one customer has of IPv6. Text that is no address stands for itself.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { addressBlock } from "@catenet/platform/IpAddress"
 *
 * assert.equal(addressBlock("::ffff:192.0.2.7"), "192.0.2.7")
 * assert.equal(addressBlock("2001:db8::1"), addressBlock("2001:0db8:0:0:ffff::2"))
 * ```
 */
export const addressBlock = (address: string): string => {
  // Most are IPv4, and some limits count by each piece that is read.
  const plain = plainAddress(address)
  if (!plain.includes(":")) return plain
  const ip = parseIp(plain)
  if (ip === undefined) return address
  return NetAddress.isIpv4Address(ip) ? NetAddress.formatIp(ip) : IpNetwork.format(IpNetwork.fromAddressUnsafe(ip, 64))
}

const loopback = new BlockList()
loopback.addSubnet("127.0.0.0", 8, "ipv4")
loopback.addAddress("::1", "ipv6")

/** Whether an address is this machine itself. */
export const isLoopback = (address: string): boolean => {
  const family = isIP(address)
  return family !== 0 && loopback.check(address, family === 4 ? "ipv4" : "ipv6")
}

/** Whether a host of a URL is this machine: `localhost`, or a loopback address, IPv6 in brackets. */
export const isLoopbackHost = (host: string): boolean =>
  host === "localhost" || isLoopback(host.replace(/^\[(.*)\]$/u, "$1"))
