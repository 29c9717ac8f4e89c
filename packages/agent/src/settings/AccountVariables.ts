/** The variables of the commands that act as a user at the control plane. */
import * as BridgeVariables from "./BridgeVariables.ts"
import * as LoginVariables from "./LoginVariables.ts"
import * as TunnelVariables from "./TunnelVariables.ts"

/** Of a command that acts as a user at the control plane. */
export const account = {
  controlPlane: TunnelVariables.knownControlPlane,
  stateDir: TunnelVariables.variables.stateDir,
  ...BridgeVariables.credential
}

/** Of `login`. */
export const login = { ...account, ...LoginVariables.provider }
