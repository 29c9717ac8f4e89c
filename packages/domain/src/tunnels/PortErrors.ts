/** Refusals of public ports. */
import { Schema } from "effect"
import { PortProtocol } from "../edges/PublicPort.ts"
import { Count, Port } from "../values/Numbers.ts"
import { Problem } from "../values/Problem.ts"
import { clause } from "../values/Sentence.ts"

/** A field of the request contradicts the kind of the tunnel, or the port is none that edges offer. */
export class PortRefused extends Problem<PortRefused>()(
  "PortRefused",
  { status: 400, title: "Port refused", detail: ({ field, reason }) => `${field} ${clause(reason)}.` },
  { field: Schema.Literals(["hostname", "port", "tls", "require_login", "http_only"]), reason: Schema.String }
) {}

/** Another tunnel has the port. */
export class PortTaken extends Problem<PortTaken>()(
  "PortTaken",
  {
    status: 409,
    title: "Port taken",
    detail: ({ port, protocol }) =>
      `Another tunnel has ${protocol.toUpperCase()} port ${port}; ask for another port, or for none in particular.`
  },
  { protocol: PortProtocol, port: Port }
) {}

/** No edge offers a port of the protocol, or no port is left for the account. */
export class NoPortLeft extends Problem<NoPortLeft>()(
  "NoPortLeft",
  {
    status: 409,
    title: "No port left",
    detail: ({ offered, protocol }) =>
      offered === 0
        ? `No edge offers public ${protocol.toUpperCase()} ports; the operator sets ${protocol === "tcp" ? "CT_EDGE_PORTS" : "CT_EDGE_UDP_PORTS"} at an edge.`
        : `Your account cannot have another of the ${offered} public ${protocol.toUpperCase()} ports, because the rest is kept for accounts that have fewer; delete a tunnel, or ask the operator for more ports.`
  },
  { protocol: PortProtocol, offered: Count }
) {}

/** The account has reached its limit of public ports. */
export class PortLimitReached extends Problem<PortLimitReached>()(
  "PortLimitReached",
  {
    status: 403,
    title: "Port limit reached",
    detail: ({ limit }) => `Your account has reached its limit of ${limit} tunnels with a public port.`
  },
  { limit: Count }
) {}
