/** How a member of a channel tries the edge's own ports, in order: TLS on TCP, and QUIC on UDP; and whether direct paths use QUIC. */
import * as Parser from "@catenet/platform/Parser"
import { optional } from "@catenet/platform/Variable"

/** An edge of the reference kind has no TLS there, and says so at once. */
export const standard = ["tls", "quic"] as const
export type PortTransport = (typeof standard)[number]

const isTransport = (word: string): word is PortTransport => (standard as ReadonlyArray<string>).includes(word)

const order = Parser.make("a comma list of tls and quic, each at most once", (text) => {
  const parts = text.split(",").map((word) => word.trim())
  return parts.every(isTransport) && new Set(parts).size === parts.length ? parts : undefined
})

export const channelTransports = optional(
  "CT_CHANNEL_TRANSPORTS",
  order,
  "Transports to broker and relay in order: TLS on TCP, QUIC on the UDP port of the same number. Without quic, direct paths do not use it either.",
  { standard: standard.join() }
)
