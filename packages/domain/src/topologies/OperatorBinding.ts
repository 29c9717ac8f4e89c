/**
 * The operator key of a topology. While one is bound, every edge of the topology admits both its ends to the channel that is
 * derived for that link; nothing else does.
 */

export type OperatorBinding = { readonly _tag: "Unbound" } | { readonly _tag: "Bound"; readonly operator: string }

/** An undirected edge: `a` before `b`, both holder keys in lower case. */
export interface Link {
  readonly a: string
  readonly b: string
}

/** What changes at the edge servers: both ends of a link may now join its channel, or no longer. */
export interface LinkChange {
  readonly _tag: "LinkAuthorized" | "LinkRevoked"
  readonly operator: string
  readonly a: string
  readonly b: string
}

/**
 * The links that a binding authorizes.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { changes } from "@catenet/domain/topologies/OperatorBinding"
 *
 * assert.deepEqual(changes("LinkRevoked", { _tag: "Bound", operator: "k" }, [{ a: "x", b: "y" }]), [
 *   { _tag: "LinkRevoked", operator: "k", a: "x", b: "y" }
 * ])
 * assert.deepEqual(changes("LinkAuthorized", { _tag: "Unbound" }, [{ a: "x", b: "y" }]), [])
 * ```
 */
export const changes = (
  _tag: LinkChange["_tag"],
  binding: OperatorBinding,
  links: ReadonlyArray<Link>
): ReadonlyArray<LinkChange> =>
  binding._tag === "Bound" ? links.map(({ a, b }) => ({ _tag, operator: binding.operator, a, b })) : []

/**
 * What changes when one binding takes the place of another over the same links.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { rebind } from "@catenet/domain/topologies/OperatorBinding"
 *
 * const link = { a: "x", b: "y" }
 * const [k1, k2] = [{ _tag: "Bound", operator: "k1" }, { _tag: "Bound", operator: "k2" }] as const
 * assert.deepEqual(rebind(k1, k2, [link]).map((change) => change._tag), ["LinkRevoked", "LinkAuthorized"])
 * assert.deepEqual(rebind(k1, k1, [link]), [])
 * ```
 */
export const rebind = (
  before: OperatorBinding,
  after: OperatorBinding,
  links: ReadonlyArray<Link>
): ReadonlyArray<LinkChange> => {
  const same = before._tag === "Bound" && after._tag === "Bound" && before.operator === after.operator
  return same ? [] : [...changes("LinkRevoked", before, links), ...changes("LinkAuthorized", after, links)]
}

/**
 * The ends to which a holder is linked, with the operator key that authorizes it: from each of them follows one channel that
 * the holder may join.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { peersOf } from "@catenet/domain/topologies/OperatorBinding"
 *
 * const links = [{ a: "x", b: "y" }, { a: "y", b: "z" }]
 * assert.deepEqual(peersOf({ _tag: "Bound", operator: "k" }, links, "y"), [
 *   { operator: "k", peer: "x" },
 *   { operator: "k", peer: "z" }
 * ])
 * assert.deepEqual(peersOf({ _tag: "Unbound" }, links, "y"), [])
 * ```
 */
export const peersOf = (
  binding: OperatorBinding,
  links: ReadonlyArray<Link>,
  holder: string
): ReadonlyArray<{ readonly operator: string; readonly peer: string }> =>
  binding._tag === "Unbound"
    ? []
    : links
        .filter(({ a, b }) => a === holder || b === holder)
        .map(({ a, b }) => ({ operator: binding.operator, peer: a === holder ? b : a }))
