/**
 * A topology: the edges between agents, the way links are suggested, with whom it is shared, and its operator key. Agents join
 * and leave by `AgentAssignment`. To a stranger a topology does not exist.
 */
import { Order, type Result } from "effect"
import { lowerAscii } from "../values/AsciiCase.ts"
import { refuse, step, type Step } from "../values/Step.ts"
import { changes, type Link, type LinkChange, type OperatorBinding, rebind } from "./OperatorBinding.ts"
import { type OverlayMode } from "./Topology.ts"

/** `channel` is a note that authorizes nothing. */
export interface Edge extends Link {
  readonly channel: string | null
}

/** `edges` are sorted by their ends. `shares` are e-mail addresses in lower case. */
export interface Topology {
  readonly owner: string
  readonly edges: ReadonlyArray<Edge>
  readonly mode: OverlayMode
  readonly shares: ReadonlySet<string>
  readonly binding: OperatorBinding
}

/** Who acts. `email` is the verified one of a session; a bearer caller has none. */
export interface Actor {
  readonly subject: string
  readonly email: string | null
}

/** `mayNote`: the actor owns the channel or is on its allow-list. `proofValid`: the operator key signed this binding. */
export type TopologyEvent =
  | { readonly _tag: "AddEdge"; readonly a: string; readonly b: string }
  | { readonly _tag: "RemoveEdge"; readonly a: string; readonly b: string }
  | {
      readonly _tag: "NoteChannel"
      readonly a: string
      readonly b: string
      readonly channel: string | null
      readonly mayNote: boolean
    }
  | { readonly _tag: "SetMode"; readonly mode: OverlayMode }
  | { readonly _tag: "Share"; readonly email: string }
  | { readonly _tag: "Unshare"; readonly email: string }
  | { readonly _tag: "Bind"; readonly operator: string; readonly proofValid: boolean }
  | { readonly _tag: "Unbind" }

/** `TopologyNotFound` also stands for a caller who may not do this, and for a binding without a valid proof. */
export type TopologyRefusal =
  | { readonly _tag: "EdgeRefused"; readonly reason: "no access" | "self-loop" | "duplicate" }
  | { readonly _tag: "TopologyNotFound" | "EdgeNotFound" | "ShareNotFound" | "ChannelUnrelated" }

type Answer = Result.Result<Step<Topology, LinkChange>, TopologyRefusal>

/**
 * A topology as its owner gets it.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { created } from "@catenet/domain/topologies/TopologyMachine"
 *
 * assert.equal(created("ada").mode, "baseline")
 * ```
 */
export const created = (owner: string): Topology => ({
  owner,
  edges: [],
  mode: "baseline",
  shares: new Set(),
  binding: { _tag: "Unbound" }
})

/**
 * What an actor is to a topology. Editors see it, and wire their own agents; the rest is the owner's.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { created, roleOf } from "@catenet/domain/topologies/TopologyMachine"
 *
 * const shared = { ...created("ada"), shares: new Set(["bob@b.example"]) }
 * assert.equal(roleOf(shared, { subject: "ada", email: null }), "owner")
 * assert.equal(roleOf(shared, { subject: "bob", email: "Bob@B.example" }), "editor")
 * assert.equal(roleOf(shared, { subject: "bob", email: null }), "stranger")
 * ```
 */
export const roleOf = ({ owner, shares }: Topology, { email, subject }: Actor): "owner" | "editor" | "stranger" => {
  if (subject === owner) return "owner"
  return email !== null && shares.has(lowerAscii(email)) ? "editor" : "stranger"
}

const link = (x: string, y: string): Link => {
  const [a, b] = [x.toLowerCase(), y.toLowerCase()]
  return a <= b ? { a, b } : { a: b, b: a }
}

const is =
  ({ a, b }: Link) =>
  (edge: Edge) =>
    edge.a === a && edge.b === b

const byEnds = Order.Struct({ a: Order.String, b: Order.String })

const addEdge = (topology: Topology, added: Link): Answer => {
  if (added.a === added.b) return refuse({ _tag: "EdgeRefused", reason: "self-loop" })
  if (topology.edges.some(is(added))) return refuse({ _tag: "EdgeRefused", reason: "duplicate" })
  const edges = [...topology.edges, { ...added, channel: null }].toSorted(byEnds)
  return step({ ...topology, edges }, ...changes("LinkAuthorized", topology.binding, [added]))
}

const removeEdge = (topology: Topology, removed: Link): Answer => {
  const edges = topology.edges.filter((edge) => !is(removed)(edge))
  if (edges.length === topology.edges.length) return refuse({ _tag: "EdgeNotFound" })
  return step({ ...topology, edges }, ...changes("LinkRevoked", topology.binding, [removed]))
}

const bind = (topology: Topology, binding: OperatorBinding): Answer =>
  step({ ...topology, binding }, ...rebind(topology.binding, binding, topology.edges))

const asEditor = (topology: Topology, event: TopologyEvent): Answer => {
  switch (event._tag) {
    case "AddEdge":
      return addEdge(topology, link(event.a, event.b))
    case "RemoveEdge":
      return removeEdge(topology, link(event.a, event.b))
    case "NoteChannel": {
      const noted = is(link(event.a, event.b))
      if (!topology.edges.some(noted)) return refuse({ _tag: "EdgeNotFound" })
      const { channel, mayNote } = event
      if (channel !== null && !mayNote) return refuse({ _tag: "ChannelUnrelated" })
      return step({ ...topology, edges: topology.edges.map((edge) => (noted(edge) ? { ...edge, channel } : edge)) })
    }
    default:
      return refuse({ _tag: "TopologyNotFound" })
  }
}

const asOwner = (topology: Topology, event: TopologyEvent): Answer => {
  switch (event._tag) {
    case "SetMode":
      return step({ ...topology, mode: event.mode })
    case "Share":
      return step({ ...topology, shares: new Set(topology.shares).add(lowerAscii(event.email)) })
    case "Unshare": {
      const shares = topology.shares.difference(new Set([lowerAscii(event.email)]))
      return shares.size === topology.shares.size ? refuse({ _tag: "ShareNotFound" }) : step({ ...topology, shares })
    }
    case "Bind": {
      const { operator, proofValid } = event
      return proofValid ? bind(topology, { _tag: "Bound", operator }) : refuse({ _tag: "TopologyNotFound" })
    }
    case "Unbind":
      return bind(topology, { _tag: "Unbound" })
    default:
      return asEditor(topology, event)
  }
}

const asStranger = (event: TopologyEvent): Answer => {
  if (event._tag === "AddEdge") return refuse({ _tag: "EdgeRefused", reason: "no access" })
  return refuse({ _tag: event._tag === "RemoveEdge" ? "EdgeNotFound" : "TopologyNotFound" })
}

/**
 * The machine.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { created, transition } from "@catenet/domain/topologies/TopologyMachine"
 *
 * const ada = { subject: "ada", email: null }
 * const bound = Result.getOrThrow(transition(created("ada"), ada, { _tag: "Bind", operator: "k", proofValid: true })).next
 * const { effects, next } = Result.getOrThrow(transition(bound, ada, { _tag: "AddEdge", a: "yy", b: "XX" }))
 * assert.deepEqual(next.edges, [{ a: "xx", b: "yy", channel: null }])
 * assert.deepEqual(effects, [{ _tag: "LinkAuthorized", operator: "k", a: "xx", b: "yy" }])
 * assert.ok(Result.isFailure(transition(next, ada, { _tag: "AddEdge", a: "xx", b: "yy" })))
 * ```
 */
export const transition = (topology: Topology, actor: Actor, event: TopologyEvent): Answer => {
  switch (roleOf(topology, actor)) {
    case "owner":
      return asOwner(topology, event)
    case "editor":
      return asEditor(topology, event)
    case "stranger":
      return asStranger(event)
  }
}

/**
 * The topology after an agent has left it: its edges are gone, and what they authorized is revoked.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { created, withoutAgent } from "@catenet/domain/topologies/TopologyMachine"
 *
 * const edges = [{ a: "x", b: "y", channel: null }, { a: "y", b: "z", channel: null }]
 * const { effects, next } = withoutAgent({ ...created("ada"), edges, binding: { _tag: "Bound", operator: "k" } }, "x")
 * assert.deepEqual(next.edges, [{ a: "y", b: "z", channel: null }])
 * assert.deepEqual(effects, [{ _tag: "LinkRevoked", operator: "k", a: "x", b: "y" }])
 * ```
 */
export const withoutAgent = (topology: Topology, agent: string): Step<Topology, LinkChange> => {
  const gone = topology.edges.filter(({ a, b }) => a === agent || b === agent)
  return {
    next: { ...topology, edges: topology.edges.filter((edge) => !gone.includes(edge)) },
    effects: changes("LinkRevoked", topology.binding, gone)
  }
}
