/** Whether an edge ends the TLS of a host name (`gelb`) or passes it through. */
import { Schema } from "effect"

export const Tier = Schema.Literals(["gelb", "passthrough"])
export type Tier = typeof Tier.Type
