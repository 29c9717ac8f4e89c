/** An enrolled agent program: the name it gives itself and the tenant that its join token was issued for. */
import { Schema } from "effect"
import { line } from "../values/Text.ts"

/** Stable over restarts of one agent; by default the tunnel's id. */
export const AgentId = line(255).pipe(Schema.brand("AgentId"))
export type AgentId = typeof AgentId.Type

/** Who a join token was issued for; for a tunnel of the portal it is the owner's subject. */
export const Tenant = line(255).pipe(Schema.brand("Tenant"))
export type Tenant = typeof Tenant.Type
