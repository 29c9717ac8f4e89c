/** The transports between agent and edge, in the order in which they are tried, for tunnels and for channels. */
import * as Problems from "@catenet/platform/ConfigurationInvalid"
import * as Parser from "@catenet/platform/Parser"
import { optional } from "@catenet/platform/Variable"

// The order in which a channel member tries the edge's ports, TLS on TCP and QUIC on UDP, and whether direct paths use QUIC.

/** An edge of the reference kind has no TLS there and fails at once. */
export const standard = ["tls", "quic"] as const
export type PortTransport = (typeof standard)[number]

/** Words between commas, each at most once. */
const order = <const A extends string>(words: ReadonlyArray<A>, expected: string) =>
  Parser.make(expected, (text) => {
    const parts = text.split(",").map((part) => words.find((word) => word === part.trim()))
    const known = parts.filter((part) => part !== undefined)
    return known.length === parts.length && new Set(known).size === known.length ? known : undefined
  })

export const channelTransports = optional(
  "CT_CHANNEL_TRANSPORTS",
  order(standard, "a comma-separated list of tls and quic, each at most once"),
  "Transports to broker and relay in order: TLS on TCP, QUIC on the UDP port of the same number. Without quic, direct paths do not use it either.",
  { standard: standard.join() }
)

/** One TLS connection for all visitors, one QUIC connection for all of them, and a TLS connection for each. */
const carriers = ["mux", "quic", "slots"] as const
export type Carrier = (typeof carriers)[number]

export const transports = optional(
  "CT_AGENT_TRANSPORTS",
  order(carriers, "a comma-separated list of mux, quic and slots, each at most once"),
  "Transports to the edge, in the order in which they are tried: one multiplexed TLS connection, QUIC, parked TLS connections.",
  { standard: carriers.join() }
)

interface Values {
  readonly transports?: ReadonlyArray<Carrier> | undefined
  readonly tcpOnly?: { readonly isOn: boolean } | undefined
}

export const rules = ({ tcpOnly, transports: named }: Values) =>
  named !== undefined &&
  tcpOnly?.isOn === true &&
  Problems.problem(
    "CT_AGENT_REGISTER_TCP_ONLY",
    "does not work with CT_AGENT_TRANSPORTS",
    "unset one of the two; CT_AGENT_TRANSPORTS=slots means the same"
  )

export const of = ({ tcpOnly, transports: named }: Values): ReadonlyArray<Carrier> =>
  tcpOnly?.isOn === true ? ["slots"] : (named ?? carriers)
