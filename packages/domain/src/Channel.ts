/** A channel between agents: its id, its members, what its owner deposits for them. */
import { Schema } from "effect"
import { Hex64 } from "./Hex.ts"

/** Chosen by the owner; by convention derived from the keys of its two ends. 64 hex. */
export const ChannelId = Hex64.pipe(Schema.brand("ChannelId"))
export type ChannelId = typeof ChannelId.Type
