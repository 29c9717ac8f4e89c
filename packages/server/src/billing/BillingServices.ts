/** Credits and the payments that buy them. */
import { Layer } from "effect"
import { Credits } from "./Credits.ts"
import { Payments } from "./Payments.ts"

export const layer = Layer.mergeAll(Credits.layer, Payments.layer)
