/** What is kept of a tunnel's creation: the calls that were left for the edge, and what the caller was shown. */
import { Hostname } from "@catenet/domain/values/Hostname"
import { TunnelId } from "@catenet/domain/values/Ids"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { Schema } from "effect"

const made = {
  id: TunnelId,
  token: RoutingToken,
  hostname: Schema.NullOr(Hostname),
  calls: Schema.Array(Schema.Int)
}
export const Made = Schema.Struct(made)
export const MadeAndShown = Schema.Struct({ ...made, tunnel: Tunnel })
