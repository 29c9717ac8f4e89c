/**
 * Whether an agent has to prove that it holds an enrolled key before it may serve a tunnel. The routing token alone is
 * known to everyone who was ever given it.
 *
 * - `optional`: no enrolled agent has proved its key yet, so programs that cannot prove are let in.
 * - `required`: an enrolled agent has proved its key once; every other registration is refused.
 * - `lifted`: the owner lets programs in that cannot prove.
 */
import { literal } from "../values/Pattern.ts"

export const AgentProof = literal(["optional", "required", "lifted"])
export type AgentProof = typeof AgentProof.Type
