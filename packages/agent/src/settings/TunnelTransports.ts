/** The transports between agent and edge, in the order in which they are tried, for tunnels and for channels. */
import type { Problem } from "@catenet/platform/ConfigurationInvalid"
import * as Parser from "@catenet/platform/Parser"
import { optional } from "@catenet/platform/Variable"

// The order in which a channel member tries the edge's ports, TLS on TCP and QUIC on UDP, and whether direct paths use QUIC.

/** An edge of the reference kind has no TLS there and fails at once. */
export const standard = ["tls", "quic"] as const
export type PortTransport = (typeof standard)[number]

const isTransport = (word: string): word is PortTransport => (standard as ReadonlyArray<string>).includes(word)

const channelTransportOrder = Parser.make("a comma list of tls and quic, each at most once", (text) => {
  const parts = text.split(",").map((word) => word.trim())
  return parts.every(isTransport) && new Set(parts).size === parts.length ? parts : undefined
})

export const channelTransports = optional(
  "CT_CHANNEL_TRANSPORTS",
  channelTransportOrder,
  "Transports to broker and relay in order: TLS on TCP, QUIC on the UDP port of the same number. Without quic, direct paths do not use it either.",
  { standard: standard.join() }
)

/** One TLS connection for all visitors, one QUIC connection for all of them, and a TLS connection for each. */
const carriers = ["mux", "quic", "slots"] as const
export type Carrier = (typeof carriers)[number]

const isCarrier = (word: string): word is Carrier => (carriers as ReadonlyArray<string>).includes(word)

const order = Parser.make("a comma list of mux, quic and slots, each at most once", (text) => {
  const parts = text.split(",").map((word) => word.trim())
  return parts.every(isCarrier) && new Set(parts).size === parts.length ? parts : undefined
})

export const transports = optional(
  "CT_AGENT_TRANSPORTS",
  order,
  "Transports to the edge, in the order in which they are tried: one multiplexed TLS connection, QUIC, parked TLS connections.",
  { standard: carriers.join() }
)

interface Values {
  readonly transports?: ReadonlyArray<Carrier> | undefined
  readonly tcpOnly?: { readonly isOn: boolean } | undefined
}

export const rules = ({ tcpOnly, transports: named }: Values): ReadonlyArray<Problem> =>
  named !== undefined && tcpOnly?.isOn === true
    ? [
        {
          variable: "CT_AGENT_REGISTER_TCP_ONLY",
          problem: "does not work with CT_AGENT_TRANSPORTS",
          remedy: "unset one of the two; CT_AGENT_TRANSPORTS=slots means the same"
        }
      ]
    : []

export const of = ({ tcpOnly, transports: named }: Values): ReadonlyArray<Carrier> =>
  tcpOnly?.isOn === true ? ["slots"] : (named ?? carriers)
