/** What an edge concludes from a member's advertised and observed address (section 6.8). */
import { Result } from "effect"
import * as Equal from "effect/Equal"
import * as Bytes from "../Bytes.ts"
import * as Address from "./Address.ts"

/** `public`: reachable as advertised. `nat`: behind a translator. `relay-only`: no direct connection at all. */
export type Reachability = "public" | "nat" | "relay-only"

/**
 * The class of a member.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Reachability from "@catenet/crypto/admission/Reachability"
 *
 * strictEqual(Reachability.classify("192.168.1.5:5000", "203.0.113.7:7001"), "nat")
 * ```
 */
export const classify = (advertised: string, observed: string): Reachability => {
  const seen = Address.parse(observed)
  if (Result.isFailure(seen) || !Address.isGlobal(seen.success.address)) return Address.relayOnly
  const parsed = Address.parse(advertised)
  return Result.isSuccess(parsed) && Equal.equals(parsed.success, seen.success) ? "public" : "nat"
}

/**
 * Whether two members try a direct connection: unless one of them is relay-only.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Reachability from "@catenet/crypto/admission/Reachability"
 *
 * ok(Reachability.attemptsDirect("nat", "nat") && !Reachability.attemptsDirect("public", "relay-only"))
 * ```
 */
export const attemptsDirect = (a: Reachability, b: Reachability): boolean =>
  a !== Address.relayOnly && b !== Address.relayOnly

/**
 * The first `count` members of class public that are not vetoed, in bytewise order of their holder keys, each once.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import * as Reachability from "@catenet/crypto/admission/Reachability"
 *
 * const [a, b] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
 * const members = [b, a, b].map((holder) => ({ holder, reachability: "public" }))
 * deepStrictEqual(Reachability.electSuperPeers(members, [a], 8), [b])
 * ```
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
