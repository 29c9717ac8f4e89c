/** What carries the visitors between the edge and this agent, in the order in which it is tried. */
import type { Problem } from "@catenet/platform/ConfigurationInvalid"
import * as Parser from "@catenet/platform/Parser"
import { optional } from "@catenet/platform/Variable"

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
