/** What is recorded of a tunnel, for its owner and for others. */
import { Layer } from "effect"
import { Badges } from "./Badges.ts"
import { Receipts } from "./Receipts.ts"
import { Records } from "./Records.ts"

export const layer = Layer.mergeAll(Badges.layer, Receipts.layer, Records.layer)
