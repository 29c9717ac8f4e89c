/** What an edge concludes from a member's advertised and observed address (section 6.8). */
import * as Address from "@catenet/crypto/admission/Address"
import * as Bytes from "@catenet/crypto/Bytes"
import { Result } from "effect"
import * as Equal from "effect/Equal"

/** `public`: reachable as advertised. `nat`: behind a translator. `relay-only`: no direct connection at all. */
export type Reachability = "public" | "nat" | "relay-only"

/**
 * The class of a member.
 */
export const classify = (advertised: string, observed: string): Reachability => {
  const seen = Address.parse(observed)
  if (Result.isFailure(seen) || !Address.isGlobal(seen.success.address)) return Address.relayOnly
  const parsed = Address.parse(advertised)
  return Result.isSuccess(parsed) && Equal.equals(parsed.success, seen.success) ? "public" : "nat"
}

/**
 * Whether two members try a direct connection: unless one of them is relay-only.
 */
export const attemptsDirect = (a: Reachability, b: Reachability): boolean =>
  a !== Address.relayOnly && b !== Address.relayOnly

/**
 * The first `count` members of class public that are not vetoed, in bytewise order of their holder keys, each once.
 */
export const electSuperPeers = (
  members: ReadonlyArray<{ readonly holder: Uint8Array; readonly reachability: Reachability }>,
  vetoed: ReadonlyArray<Uint8Array>,
  count: number
): ReadonlyArray<Uint8Array> =>
  members
    .filter((member) => member.reachability === "public")
    .map((member) => member.holder)
    .filter((holder) => !vetoed.some((veto) => Bytes.equal(veto, holder)))
    .sort(Bytes.compare)
    .filter((holder, i, sorted) => i === 0 || !Bytes.equal(holder, sorted[i - 1] ?? holder))
    .slice(0, count)
