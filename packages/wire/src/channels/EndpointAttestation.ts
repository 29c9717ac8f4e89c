/** What the address that a member advertises is worth beside the one it is seen from (signed-bytes 6.3). Pure. */
import * as Address from "@catenet/crypto/admission/Address"
import { Result } from "effect"
import * as Equal from "effect/Equal"

/** `mismatch` alone contradicts: same family, and the observed address is one that strangers can reach. */
export type Attested = "matches" | "cross_family" | "mismatch" | "no_address" | "unobservable"

export const attest = (endpoint: string, observed: string | undefined): Attested => {
  const advertised = Address.parse(endpoint)
  if (Result.isFailure(advertised)) return "no_address"
  const seen = observed === undefined ? undefined : Result.getOrUndefined(Address.parse(observed))
  if (seen === undefined || !Address.isGlobal(seen.address)) return "unobservable"
  if (seen.address._tag !== advertised.success.address._tag) return "cross_family"
  return Equal.equals(seen.address, advertised.success.address) ? "matches" : "mismatch"
}
