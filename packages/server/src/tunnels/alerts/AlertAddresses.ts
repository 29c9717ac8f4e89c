/**
 * Which addresses the service may call for an account: those of the public internet. Loopback, private, shared,
 * link-local, metadata, unique-local, multicast, documentation and translated addresses are not, and neither is what is
 * no address. The ranges are those of the IANA special-purpose registries (RFC 6890 and its updates).
 */
import { BlockList, isIP } from "@catenet/platform/IpAddress"

const special = new BlockList()
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4]
] as const) {
  special.addSubnet(network, prefix, "ipv4")
}
for (const [network, prefix] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["2620:4f:8000::", 48],
  ["3fff::", 20]
] as const) {
  special.addSubnet(network, prefix, "ipv6")
}

/** All that is routed on the public internet; everything else of IPv6 is reserved, local, mapped or multicast. */
const globalUnicast = new BlockList()
globalUnicast.addSubnet("2000::", 3, "ipv6")

/** Whether an address belongs to the public internet. A zone (`%eth0`) makes an address local. */
export const isPublic = (address: string): boolean => {
  if (address.includes("%")) return false
  switch (isIP(address)) {
    case 4:
      return !special.check(address, "ipv4")
    case 6:
      return globalUnicast.check(address, "ipv6") && !special.check(address, "ipv6")
    default:
      return false
  }
}

const loopback = new BlockList()
loopback.addSubnet("127.0.0.0", 8, "ipv4")
loopback.addAddress("::1", "ipv6")

/** Whether an address is this machine itself. */
export const isLoopback = (address: string): boolean => {
  const family = isIP(address)
  return family !== 0 && loopback.check(address, family === 4 ? "ipv4" : "ipv6")
}
