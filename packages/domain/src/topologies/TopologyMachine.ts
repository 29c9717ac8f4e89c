/**
 * A topology: edges between agents, the overlay mode, whom it is shared with, and its operator key. Agents join and
 * leave by `AgentAssignment`. For strangers a topology does not exist.
 */
import { Order, Result } from "effect"
import type { ChannelId } from "../channels/Channel.ts"
import type { Email } from "../values/Email.ts"
import type { Subject } from "../values/Ids.ts"
import type { HolderKey, OperatorKey } from "../values/Keys.ts"
import { step, type Step } from "../values/Step.ts"
import { changes, type Link, type LinkChange, rebind } from "./OperatorBinding.ts"
import type { OverlayMode } from "./Topology.ts"
import { ChannelUnrelated, EdgeNotFound, EdgeRefused, ShareNotFound, TopologyNotFound } from "./TopologyErrors.ts"

/** `channel` is a note that authorizes nothing. */
export interface Edge extends Link {
  readonly channel: ChannelId | null
}

/** A topology as it is stored. `owner` is null for an id that no topology has; `edges` are sorted by their ends. */
export interface TopologyState {
  readonly owner: Subject | null
  readonly overlayMode: OverlayMode
  readonly operatorPubkey: OperatorKey | null
  readonly shares: ReadonlyArray<Email>
  readonly edges: ReadonlyArray<Edge>
}

/** Who acts. `email` is the verified one of a session; a bearer caller has none. */
export interface Actor {
  readonly subject: Subject
  readonly email: Email | null
}

/** What an actor is to a topology. */
export type Role = "owner" | "editor" | "stranger"

/** The two ends of an edge, in either order. */
export interface Ends {
  readonly a: HolderKey
  readonly b: HolderKey
}

type Answer<E> = Result.Result<Step<TopologyState, LinkChange>, E>

/**
 * A topology as its owner gets it.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { created } from "@catenet/domain/topologies/TopologyMachine"
 *
 * assert.equal(created("ada").overlayMode, "baseline")
 * ```
 */
export const created = (owner: Subject | null): TopologyState => ({
  owner,
  overlayMode: "baseline",
  operatorPubkey: null,
  shares: [],
  edges: []
})

/**
 * The role of an actor. Editors see the topology and wire their own agents; the rest is the owner's.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { created, roleOf } from "@catenet/domain/topologies/TopologyMachine"
 *
 * const shared = { ...created("ada"), shares: ["bob@b.example"] }
 * assert.equal(roleOf(shared, { subject: "ada", email: null }), "owner")
 * assert.equal(roleOf(shared, { subject: "bob", email: "bob@b.example" }), "editor")
 * assert.equal(roleOf(shared, { subject: "bob", email: null }), "stranger")
 * ```
 */
export const roleOf = ({ owner, shares }: TopologyState, { email, subject }: Actor): Role => {
  if (subject === owner) return "owner"
  return email !== null && shares.includes(email) ? "editor" : "stranger"
}

/**
 * Fails for every actor but the owner.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { created, requireOwner } from "@catenet/domain/topologies/TopologyMachine"
 *
 * assert.ok(Result.isSuccess(requireOwner(created("ada"), { subject: "ada", email: null })))
 * assert.ok(Result.isFailure(requireOwner(created("ada"), { subject: "bob", email: null })))
 * ```
 */
export const requireOwner = (topology: TopologyState, actor: Actor): Result.Result<void, TopologyNotFound> =>
  roleOf(topology, actor) === "owner" ? Result.void : Result.fail(new TopologyNotFound())

/**
 * An edge as it is stored, from its ends in either order.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { linkOf } from "@catenet/domain/topologies/TopologyMachine"
 *
 * assert.deepEqual(linkOf({ a: "y", b: "x" }), { a: "x", b: "y" })
 * ```
 */
export const linkOf = ({ a, b }: Ends): Link => (a <= b ? { a, b } : { a: b, b: a })

const is =
  ({ a, b }: Link) =>
  (edge: Edge) =>
    edge.a === a && edge.b === b

const byEnds = Order.Struct({ a: Order.String, b: Order.String })

/**
 * Adds an edge.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { addEdge, created } from "@catenet/domain/topologies/TopologyMachine"
 *
 * const ada = { subject: "ada", email: null }
 * const bound = { ...created("ada"), operatorPubkey: "k" }
 * const { effects, next } = Result.getOrThrow(addEdge(bound, ada, { a: "y", b: "x" }))
 * assert.deepEqual(next.edges, [{ a: "x", b: "y", channel: null }])
 * assert.deepEqual(effects, [{ _tag: "LinkAuthorized", operator: "k", a: "x", b: "y" }])
 * assert.ok(Result.isFailure(addEdge(next, ada, { a: "x", b: "y" })))
 * ```
 */
export const addEdge = (topology: TopologyState, actor: Actor, ends: Ends): Answer<EdgeRefused> => {
  const added = linkOf(ends)
  if (roleOf(topology, actor) === "stranger") return Result.fail(new EdgeRefused({ reason: "no-access" }))
  if (added.a === added.b) return Result.fail(new EdgeRefused({ reason: "self-loop" }))
  if (topology.edges.some(is(added))) return Result.fail(new EdgeRefused({ reason: "duplicate" }))
  const edges = [...topology.edges, { ...added, channel: null }].toSorted(byEnds)
  return step({ ...topology, edges }, ...changes("LinkAuthorized", topology.operatorPubkey, [added]))
}

/** Whether the actor may edit this edge, which exists. */
const mayEdit = (topology: TopologyState, actor: Actor, link: Link) =>
  roleOf(topology, actor) !== "stranger" && topology.edges.some(is(link))

/**
 * Removes an edge; its channel is closed.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { created, removeEdge } from "@catenet/domain/topologies/TopologyMachine"
 *
 * const ada = { subject: "ada", email: null }
 * const drawn = { ...created("ada"), edges: [{ a: "x", b: "y", channel: null }] }
 * assert.deepEqual(Result.getOrThrow(removeEdge(drawn, ada, { a: "y", b: "x" })).next.edges, [])
 * assert.ok(Result.isFailure(removeEdge(created("ada"), ada, { a: "x", b: "y" })))
 * ```
 */
export const removeEdge = (topology: TopologyState, actor: Actor, ends: Ends): Answer<EdgeNotFound> => {
  const removed = linkOf(ends)
  if (!mayEdit(topology, actor, removed)) return Result.fail(new EdgeNotFound())
  const edges = topology.edges.filter((edge) => !is(removed)(edge))
  return step({ ...topology, edges }, ...changes("LinkRevoked", topology.operatorPubkey, [removed]))
}

/**
 * Notes a channel at an edge, or takes the note away. `mayNote`: the actor owns the channel or is on its allow-list.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { created, noteChannel } from "@catenet/domain/topologies/TopologyMachine"
 *
 * const ada = { subject: "ada", email: null }
 * const [ends, drawn] = [{ a: "x", b: "y" }, { ...created("ada"), edges: [{ a: "x", b: "y", channel: null }] }]
 * assert.equal(Result.getOrThrow(noteChannel(drawn, ada, { ...ends, channel: "c", mayNote: true })).next.edges[0].channel, "c")
 * assert.ok(Result.isFailure(noteChannel(drawn, ada, { ...ends, channel: "c", mayNote: false })))
 * ```
 */
export const noteChannel = (
  topology: TopologyState,
  actor: Actor,
  { channel, mayNote, ...ends }: Ends & { readonly channel: ChannelId | null; readonly mayNote: boolean }
): Answer<EdgeNotFound | ChannelUnrelated> => {
  const noted = linkOf(ends)
  if (!mayEdit(topology, actor, noted)) return Result.fail(new EdgeNotFound())
  if (channel !== null && !mayNote) return Result.fail(new ChannelUnrelated())
  return step({ ...topology, edges: topology.edges.map((edge) => (is(noted)(edge) ? { ...edge, channel } : edge)) })
}

/**
 * Sets the overlay mode.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { created, setMode } from "@catenet/domain/topologies/TopologyMachine"
 *
 * const answer = setMode(created("ada"), { subject: "ada", email: null }, "shortcut")
 * assert.equal(Result.getOrThrow(answer).next.overlayMode, "shortcut")
 * ```
 */
export const setMode = (topology: TopologyState, actor: Actor, overlayMode: OverlayMode): Answer<TopologyNotFound> =>
  Result.flatMap(requireOwner(topology, actor), () => step({ ...topology, overlayMode }))

/**
 * Lets an address view the topology and wire its own agents. The state stays the same object where the address may already.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { created, share } from "@catenet/domain/topologies/TopologyMachine"
 *
 * const answer = share(created("ada"), { subject: "ada", email: null }, "bob@b.example")
 * assert.deepEqual(Result.getOrThrow(answer).next.shares, ["bob@b.example"])
 * ```
 */
export const share = (topology: TopologyState, actor: Actor, email: Email): Answer<TopologyNotFound> =>
  Result.flatMap(requireOwner(topology, actor), () =>
    step(topology.shares.includes(email) ? topology : { ...topology, shares: [...topology.shares, email] })
  )

/**
 * Ends the share of an address.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { created, unshare } from "@catenet/domain/topologies/TopologyMachine"
 *
 * const ada = { subject: "ada", email: null }
 * const shared = { ...created("ada"), shares: ["bob@b.example"] }
 * assert.deepEqual(Result.getOrThrow(unshare(shared, ada, "bob@b.example")).next.shares, [])
 * assert.ok(Result.isFailure(unshare(created("ada"), ada, "bob@b.example")))
 * ```
 */
export const unshare = (topology: TopologyState, actor: Actor, email: Email): Answer<ShareNotFound> =>
  roleOf(topology, actor) === "owner" && topology.shares.includes(email)
    ? step({ ...topology, shares: topology.shares.filter((shared) => shared !== email) })
    : Result.fail(new ShareNotFound())

const rebound = (topology: TopologyState, actor: Actor, operatorPubkey: OperatorKey | null): Answer<TopologyNotFound> =>
  Result.flatMap(requireOwner(topology, actor), () =>
    step({ ...topology, operatorPubkey }, ...rebind(topology.operatorPubkey, operatorPubkey, topology.edges))
  )

/**
 * Binds an operator key, in place of an earlier one. `proofValid`: the key signed this binding.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { bind, created } from "@catenet/domain/topologies/TopologyMachine"
 *
 * const ada = { subject: "ada", email: null }
 * assert.equal(Result.getOrThrow(bind(created("ada"), ada, "k", true)).next.operatorPubkey, "k")
 * assert.ok(Result.isFailure(bind(created("ada"), ada, "k", false)))
 * ```
 */
export const bind = (
  topology: TopologyState,
  actor: Actor,
  operator: OperatorKey,
  proofValid: boolean
): Answer<TopologyNotFound> => (proofValid ? rebound(topology, actor, operator) : Result.fail(new TopologyNotFound()))

/**
 * Takes the operator key away; every channel that it opened is closed.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { created, unbind } from "@catenet/domain/topologies/TopologyMachine"
 *
 * const bound = { ...created("ada"), operatorPubkey: "k", edges: [{ a: "x", b: "y", channel: null }] }
 * const { effects } = Result.getOrThrow(unbind(bound, { subject: "ada", email: null }))
 * assert.deepEqual(effects, [{ _tag: "LinkRevoked", operator: "k", a: "x", b: "y" }])
 * ```
 */
export const unbind = (topology: TopologyState, actor: Actor): Answer<TopologyNotFound> =>
  rebound(topology, actor, null)
