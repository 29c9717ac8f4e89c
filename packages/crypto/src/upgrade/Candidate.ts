/**
 * Which address of an offer is dialled (sections 13.1 and 13.3). This choice is what keeps a peer from making us dial
 * inside our own network: a local address counts only on the own subnet, any other must be globally routable.
 */
import { Result } from "effect"
import type * as NetAddress from "effect/net/NetAddress"
import * as Address from "../admission/Address.ts"

/** The halves of an endpoint text; the second one may be missing. */
export interface Candidates {
  readonly reflexive: string
  readonly local: string | undefined
}

const separator = "\0"

/**
 * The endpoint text of an offer.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Candidate from "@catenet/crypto/upgrade/Candidate"
 *
 * strictEqual(Candidate.join({ reflexive: "203.0.113.7:4433", local: undefined }), "203.0.113.7:4433")
 * ```
 */
export const join = ({ reflexive, local }: Candidates): string =>
  local === undefined ? reflexive : `${reflexive}${separator}${local}`

/**
 * The halves of an endpoint text. An empty second half counts as absent.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Candidate from "@catenet/crypto/upgrade/Candidate"
 *
 * strictEqual(Candidate.split("203.0.113.7:4433\0").local, undefined)
 * ```
 */
export const split = (endpoint: string): Candidates => {
  const at = endpoint.indexOf(separator)
  if (at < 0) return { reflexive: endpoint, local: undefined }
  const local = endpoint.slice(at + 1)
  return { reflexive: endpoint.slice(0, at), local: local === "" ? undefined : local }
}

/**
 * The address to dial: the local half if it is on the subnet of the own outgoing address, else the reflexive half if it is
 * globally routable, else none.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as NetAddress from "effect/net/NetAddress"
 * import * as Candidate from "@catenet/crypto/upgrade/Candidate"
 *
 * const endpoint = "203.0.113.7:4433\u0000192.168.1.42:5000"
 * strictEqual(Candidate.choose(endpoint, NetAddress.ipFromStringUnsafe("192.168.1.9")), "192.168.1.42:5000")
 * strictEqual(Candidate.choose(endpoint, NetAddress.ipFromStringUnsafe("10.9.8.7")), "203.0.113.7:4433")
 * ```
 */
export const choose = (endpoint: string, own: NetAddress.IpAddress | undefined): string | undefined => {
  const { reflexive, local } = split(endpoint)
  const near = local === undefined ? undefined : Result.getOrUndefined(Address.parse(local))
  if (near !== undefined && own !== undefined && Address.sameLocalSubnet(own, near.address)) return local
  return Address.isGlobalEndpoint(reflexive) ? reflexive : undefined
}
