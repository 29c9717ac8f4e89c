/** The login gate of tunnels: who may pass, and how visitors sign in. */
import { Layer } from "effect"
import { Gate } from "./Gate.ts"
import { GateCodes } from "./GateCodes.ts"
import { GateSignIns } from "./GateSignIns.ts"

export const layer = Layer.mergeAll(Gate.layer, GateCodes.layer, GateSignIns.layer)
