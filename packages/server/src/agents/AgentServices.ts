/** The directory of agents, and the pipelines that are published. */
import { Layer } from "effect"
import { Directory } from "./Directory.ts"
import { Pipelines } from "./Pipelines.ts"
import { RendezvousRecords } from "./RendezvousRecords.ts"

export const layer = Layer.mergeAll(Directory.layer, Pipelines.layer, RendezvousRecords.layer)
