/**
 * Who a request comes from. The address of the connection is the client's, and PROXY v2 has put the client's in its place
 * where a trusted proxy speaks that (`ProxiedConnections`). If it is the address of a proxy that forwards, the client is the
 * one that this proxy names in `X-Forwarded-For` or `Forwarded` (`ForwardedChain`).
 */
import { clientOf, trusts } from "@catenet/platform/ForwardedChain"
import { addressBlock } from "@catenet/platform/IpAddress"
import { Context, Effect, Layer, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Settings } from "../settings/Settings.ts"

type Request = HttpServerRequest.HttpServerRequest

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

    const of = ({ headers, remoteAddress }: Request): string => {
      const own = Option.getOrElse(remoteAddress, () => "unknown")
      if (forwardingProxies.length === 0 || !forwards(own)) return own
      const { forwarded, "x-forwarded-for": forwardedFor } = headers
      return clientOf(own, { forwarded, forwardedFor }, isProxy)
    }

    return {
      of,
      budgetKey: (request: Request) => addressBlock(of(request))
    }
  })

  static readonly layer = Layer.effect(ClientAddresses, ClientAddresses.make)
}
