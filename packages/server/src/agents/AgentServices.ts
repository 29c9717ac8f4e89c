/** The directory of agents, and the pipelines that are published. */
import { Layer } from "effect"
import { Directory } from "./Directory.ts"
import { Pipelines } from "./Pipelines.ts"
import { Rendezvous } from "./Rendezvous.ts"

export const layer = Layer.mergeAll(Directory.layer, Pipelines.layer, Rendezvous.layer)
