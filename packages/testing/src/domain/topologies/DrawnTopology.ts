/** What the server leaves to its database, for tests that hold a whole topology in memory. */
import { changes, type Link, type LinkChange } from "@catenet/domain/topologies/OperatorBinding"
import type { TopologyState } from "@catenet/domain/topologies/TopologyMachine"
import type { HolderKey, OperatorKey } from "@catenet/domain/values/Keys"
import type { Step } from "@catenet/domain/values/Step"

/** The topology after an agent has left it: its edges are gone, and what they authorized is revoked. */
export const withoutAgent = (topology: TopologyState, agent: HolderKey): Step<TopologyState, LinkChange> => {
  const gone = topology.edges.filter(({ a, b }) => a === agent || b === agent)
  return {
    next: { ...topology, edges: topology.edges.filter((edge) => !gone.includes(edge)) },
    effects: changes("LinkRevoked", topology.operatorPubkey, gone)
  }
}

/** The ends to which a holder is linked, with the operator key that authorizes it. */
export const peersOf = (
  operator: OperatorKey | null,
  links: ReadonlyArray<Link>,
  holder: HolderKey
): ReadonlyArray<{ readonly operator: OperatorKey; readonly peer: HolderKey }> =>
  operator === null
    ? []
    : links
        .filter(({ a, b }) => a === holder || b === holder)
        .map(({ a, b }) => ({ operator, peer: a === holder ? b : a }))
