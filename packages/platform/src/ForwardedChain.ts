/** Proxies in front of a program, and the client that they name in `X-Forwarded-For` and `Forwarded` (RFC 7239). */
import { IpNetwork, NetAddress } from "effect/net"
import { parseIpWithPort } from "./IpAddress.ts"

/** Whether an address is in one of the networks. */
export const trusts = (networks: ReadonlyArray<string>): ((address: string) => boolean) => {
  const parsed = networks.map((network) => IpNetwork.fromStringUnsafe(network))
  return (address) => {
    const known = parseIpWithPort(address.trim())
    return known !== undefined && parsed.some((network) => IpNetwork.contains(network, known))
  }
}

/** The `for` of each element of `Forwarded`; one without it is unknown. */
const forElements = (header: string) =>
  header
    .split(",")
    .map((element) => /(?:^|;)\s*for=(?:"([^"]*)"|([^;\s"]*))\s*(?:;|$)/iu.exec(element.trim()))
    .map((match) => match?.[1] ?? match?.[2] ?? "")

/** The first address from the right that is no proxy's; nothing where one cannot be read. */
const behind = (hops: ReadonlyArray<string>, isProxy: (address: string) => boolean): string | undefined => {
  for (const [index, hop] of [...hops.entries()].toReversed()) {
    const address = parseIpWithPort(hop.trim())
    if (address === undefined) return undefined
    const text = NetAddress.formatIp(address)
    if (index === 0 || !isProxy(text)) return text
  }
  return undefined
}

/** The two fields as a proxy has sent them. */
export interface ForwardedChain {
  readonly forwardedFor: string | undefined
  readonly forwarded: string | undefined
}

/**
 * The client that the trusted proxy `own` names. What a client wrote itself into these fields counts for nothing, because they are
 * read from the right, and no further than the first address that is no proxy's.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { clientOf, trusts } from "@catenet/platform/ForwardedChain"
 *
 * const isProxy = trusts(["10.0.0.0/8"])
 * const chain = { forwardedFor: "192.0.2.66, 203.0.113.9, 10.0.0.2", forwarded: undefined }
 * assert.equal(clientOf("10.0.0.1", chain, isProxy), "203.0.113.9")
 * assert.equal(clientOf("10.0.0.1", { ...chain, forwarded: "for=192.0.2.66" }, isProxy), "10.0.0.1")
 * ```
 */
export const clientOf = (
  own: string,
  { forwarded, forwardedFor }: ForwardedChain,
  isProxy: (address: string) => boolean
): string => {
  const chains = [
    ...(forwardedFor === undefined ? [] : [behind(forwardedFor.split(","), isProxy)]),
    ...(forwarded === undefined ? [] : [behind(forElements(forwarded), isProxy)])
  ]
  const [first] = chains
  // A proxy writes one of the two and may pass the other on as the client sent it: they count when they agree.
  return first !== undefined && chains.every((each) => each === first) ? first : own
}
