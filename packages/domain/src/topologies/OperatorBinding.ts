/**
 * The operator key of a topology. While one is bound, every edge of the topology admits both its ends to the channel that is
 * derived for that link; nothing else does. Null stands for a topology without a bound key.
 */
import type { HolderKey, OperatorKey } from "../values/Keys.ts"

/** An undirected edge: `a` is not greater than `b`. */
export interface Link {
  readonly a: HolderKey
  readonly b: HolderKey
}

/** What changes at the edge servers: both ends of a link may now join its channel, or no longer. */
export interface LinkChange extends Link {
  readonly _tag: "LinkAuthorized" | "LinkRevoked"
  readonly operator: OperatorKey
}

/**
 * The links that a binding authorizes.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { changes } from "@catenet/domain/topologies/OperatorBinding"
 *
 * assert.deepEqual(changes("LinkRevoked", "k", [{ a: "x", b: "y" }]), [
 *   { _tag: "LinkRevoked", operator: "k", a: "x", b: "y" }
 * ])
 * assert.deepEqual(changes("LinkAuthorized", null, [{ a: "x", b: "y" }]), [])
 * ```
 */
export const changes = (
  _tag: LinkChange["_tag"],
  operator: OperatorKey | null,
  links: ReadonlyArray<Link>
): ReadonlyArray<LinkChange> => (operator === null ? [] : links.map(({ a, b }) => ({ _tag, operator, a, b })))

/**
 * What changes when one key takes the place of another over the same links.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { rebind } from "@catenet/domain/topologies/OperatorBinding"
 *
 * const link = { a: "x", b: "y" }
 * assert.deepEqual(rebind("k1", "k2", [link]).map((change) => change._tag), ["LinkRevoked", "LinkAuthorized"])
 * assert.deepEqual(rebind("k1", "k1", [link]), [])
 * ```
 */
export const rebind = (
  before: OperatorKey | null,
  after: OperatorKey | null,
  links: ReadonlyArray<Link>
): ReadonlyArray<LinkChange> =>
  before === after ? [] : [...changes("LinkRevoked", before, links), ...changes("LinkAuthorized", after, links)]
