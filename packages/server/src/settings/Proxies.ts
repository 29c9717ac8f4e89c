/** The proxies before the service, each of which says in one of two ways who the client is. */
import * as NetworkParser from "@catenet/platform/NetworkParser"
import { optional } from "@catenet/platform/Variable"
import type * as VariableReader from "@catenet/platform/VariableReader"
import { IpNetwork } from "effect/net"

export const variables = {
  trustedProxies: optional(
    "CT_CP_TRUSTED_PROXIES",
    NetworkParser.networks,
    "Proxies that send the client's address with PROXY v2, such as an edge; their headers are ignored."
  ),
  forwardingProxies: optional(
    "CT_CP_FORWARDING_PROXIES",
    NetworkParser.networks,
    "HTTP proxies that write X-Forwarded-For or Forwarded on every request; must not overlap with CT_CP_TRUSTED_PROXIES."
  )
} as const

/**
 * A proxy that copies bytes passes on what its client wrote. So an address is that of a proxy that speaks PROXY or of one
 * that writes headers, never of both.
 */
export const rules = ({
  forwardingProxies = [],
  trustedProxies = []
}: VariableReader.PartialValues<typeof variables>) => {
  const parsed = (networks: ReadonlyArray<string>) => networks.map((network) => IpNetwork.fromStringUnsafe(network))
  const [forwarding, speaking] = [parsed(forwardingProxies), parsed(trustedProxies)]
  const isShared = forwarding.some((one) => speaking.some((other) => IpNetwork.overlaps(one, other)))
  return isShared
    ? [
        {
          variable: "CT_CP_FORWARDING_PROXIES",
          problem: "names addresses that CT_CP_TRUSTED_PROXIES names too",
          remedy:
            "name a proxy that speaks PROXY v2 in CT_CP_TRUSTED_PROXIES alone, and give any other an address of its own"
        }
      ]
    : []
}
