/**
 * Whether an agent may serve a tunnel. If the control plane has named enrolled keys, or has seen one proved, the token is not
 * enough, because grantees and former agents know it too.
 */
import type { Routes } from "../routes/Routes.ts"

/** Whether an agent that proves no key is refused. */
export const needsProof = (routes: Routes["Service"], token: string): boolean => {
  const proof = routes.agentProof(token)
  return proof === "required" || (proof !== "lifted" && routes.agentKeys(token).size > 0)
}

/** Why an agent that proved this key, or none, may not serve the tunnel. */
export const refusalOf = (
  routes: Routes["Service"],
  token: string,
  key: string | undefined
): "proof-required" | "bad-proof" | undefined => {
  if (key === undefined) return needsProof(routes, token) ? "proof-required" : undefined
  const enrolled = routes.agentKeys(token)
  const named = enrolled.size > 0 || routes.agentProof(token) === "required"
  return named && !enrolled.has(key) ? "bad-proof" : undefined
}
