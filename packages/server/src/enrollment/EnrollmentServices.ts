/** Agents' way in: join tokens, bootstrap tokens, and the keys that may serve a tunnel. */
import { Layer } from "effect"
import { AgentKeys } from "./AgentKeys.ts"
import { AgentProofs } from "./AgentProofs.ts"
import { Bootstraps } from "./Bootstraps.ts"
import { Enrollments } from "./Enrollments.ts"

export const layer = Layer.mergeAll(AgentKeys.layer, AgentProofs.layer, Bootstraps.layer, Enrollments.layer)
