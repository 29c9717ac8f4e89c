/** What the editor of a topology shows, by who looks at it. */
import type { OperatorBinding, Suggestion, Topology } from "@catenet/domain/topologies/Topology"
import type { Sent } from "../../shell/Field.ts"

/** A tunnel of the owner whose bridge is in a channel of the topology. */
export interface LinkedTunnel {
  readonly id: string
  readonly name: string
}

/** In no page but the owner's. */
export interface OwnerFacts {
  readonly shares: ReadonlyArray<string>
  readonly operator: OperatorBinding | undefined
  readonly tunnels: ReadonlyArray<LinkedTunnel>
}

export interface EditorFacts {
  readonly topology: Topology
  /** What its owner calls it. */
  readonly name: string | null
  readonly labels: ReadonlyMap<string, string>
  readonly own: string
  readonly owner: OwnerFacts | undefined
  /** Members of those noted channels that are the caller's. */
  readonly members: ReadonlyMap<string, number>
  readonly suggestion: Suggestion | undefined
  /** A form that was refused. */
  readonly sent: Sent | undefined
  readonly notice: string | undefined
  /** The name of the state that the page shows. */
  readonly version: string
  readonly ports: { readonly mesh: number; readonly broker: number | undefined }
  readonly host: string
  /** What starts an agent in a terminal. */
  readonly command: string
}
