/**
 * Who a request comes from. The address of the connection is the client's, and PROXY v2 has put the client's in its place
 * where a trusted proxy speaks that (`ProxiedConnections`). If it is the address of a proxy that forwards, the client is the
 * one that this proxy names in `X-Forwarded-For` or `Forwarded` (RFC 7239). What a client wrote itself into these headers
 * counts for nothing, because they are read from the right, and no further than the first address that is no proxy's.
 */
import { addressBlock, parseIpWithPort } from "@catenet/platform/IpAddress"
import { Context, Effect, Layer, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { IpNetwork, NetAddress } from "effect/net"
import { Settings } from "../settings/Settings.ts"

type Request = HttpServerRequest.HttpServerRequest

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

export class ClientAddresses extends Context.Service<
  ClientAddresses,
  {
    readonly of: (request: Request) => string
    /** What a budget counts by: an IPv4 address, or the /64 that one customer has of IPv6. */
    readonly budgetKey: (request: Request) => string
  }
>()("server/http/ClientAddresses") {
  static readonly make = Effect.gen(function* () {
    const { forwardingProxies = [], trustedProxies = [] } = yield* Settings
    const forwards = trusts(forwardingProxies)
    const isProxy = trusts([...forwardingProxies, ...trustedProxies])

    /** The first address from the right that is no proxy's; nothing where one cannot be read. */
    const behind = (hops: ReadonlyArray<string>): string | undefined => {
      for (const [index, hop] of [...hops.entries()].toReversed()) {
        const address = parseIpWithPort(hop.trim())
        if (address === undefined) return undefined
        const text = NetAddress.formatIp(address)
        if (index === 0 || !isProxy(text)) return text
      }
      return undefined
    }

    const of = ({ headers, remoteAddress }: Request): string => {
      const own = Option.getOrElse(remoteAddress, () => "unknown")
      if (forwardingProxies.length === 0 || !forwards(own)) return own
      const { "x-forwarded-for": listed, forwarded: elements } = headers
      const chains = [
        ...(listed === undefined ? [] : [behind(listed.split(","))]),
        ...(elements === undefined ? [] : [behind(forElements(elements))])
      ]
      const [first] = chains
      // A proxy writes one of the two and may pass the other on as the client sent it: they count when they agree.
      return first !== undefined && chains.every((each) => each === first) ? first : own
    }

    return {
      of,
      budgetKey: (request: Request) => addressBlock(of(request))
    }
  })

  static readonly layer = Layer.effect(ClientAddresses, ClientAddresses.make)
}
