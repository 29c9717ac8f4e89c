/** Topologies, their editor, and what of them agents run. */
import { Layer } from "effect"
import { Assignments } from "./Assignments.ts"
import { Suggestions } from "./Suggestions.ts"
import { Topologies } from "./Topologies.ts"
import { TopologyEditor } from "./TopologyEditor.ts"

export const layer = Layer.mergeAll(Assignments.layer, Suggestions.layer, Topologies.layer, TopologyEditor.layer)
