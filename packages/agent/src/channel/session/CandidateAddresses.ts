/** Where a member could listen for its peer, and which of a peer's addresses it dials. Pure. */
import * as Address from "@catenet/crypto/admission/Address"
import * as Candidate from "@catenet/crypto/upgrade/Candidate"
import { isIP } from "@catenet/platform/IpAddress"
import { Result } from "effect"
import * as Equal from "effect/Equal"
import * as NetAddress from "effect/net/NetAddress"
import { formatHostPort, parseHostPort } from "../../settings/HostPort.ts"
import type { Reachability } from "./DirectUpgrade.ts"

/**
 * `own` is the address from which this member talks to the edge, `observed` where the edge saw it. An address is offered only where
 * the port that is opened is the one that a peer reaches: its own global one without a NAT in between, or one of its own network.
 */
export const of = (own: string | undefined, observed: string | undefined): Reachability => {
  const ip = own === undefined || isIP(own) === 0 ? undefined : NetAddress.ipFromStringUnsafe(own)
  return {
    listen: ip === undefined || own === undefined ? undefined : offered(own, ip, observed),
    choose: (endpoint) => {
      const address = Candidate.choose(endpoint, ip)
      const parsed = address === undefined ? undefined : parseHostPort(address)
      return parsed !== undefined && parsed.port > 0 ? parsed : undefined
    }
  }
}

const offered = (host: string, ip: NetAddress.IpAddress, observed: string | undefined) => {
  const seen = observed === undefined ? undefined : Result.getOrUndefined(Address.parse(observed))
  const at = (port: number) => formatHostPort({ host, port })
  if (seen !== undefined && Address.isGlobal(ip) && Equal.equals(seen.address, ip))
    return { host, offer: (port: number) => Candidate.join({ reflexive: at(port), local: undefined }) }
  if (Address.sameLocalSubnet(ip, ip))
    return { host, offer: (port: number) => Candidate.join({ reflexive: "", local: at(port) }) }
  return undefined
}
