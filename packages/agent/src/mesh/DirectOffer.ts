/**
 * What client and origin tell each other about a direct path, in the payloads of the Noise handshake, which no third party can read
 * or change it. On a path through the edge a client may ask where the origin can be reached directly, and one that knows the
 * answer understands that the origin then waits for its first frame. On the direct path it shows the token of the
 * capability, which only its holders know: the tunnel's visitor token, or in older ones its routing token.
 */
import { isIP } from "@catenet/platform/IpAddress"
import { formatHostPort, type HostPort, parseHostPort } from "../settings/HostPort.ts"

const ticketMark = 1
const questionMark = 2

/** The payload of a first message that asks where the origin can be reached directly. */
export const question = Uint8Array.of(questionMark)

/** The payload of a first message on the direct path (data-plane.md 4.6). */
export const ticket = (token: Uint8Array) => Uint8Array.from([ticketMark, ...token])

export type Payload =
  { readonly _tag: "Nothing" | "Question" } | { readonly _tag: "Ticket"; readonly token: Uint8Array }

/** What a client says in its first message; undefined when it is none of this. */
export const readPayload = (payload: Uint8Array): Payload | undefined => {
  if (payload.length === 0) return { _tag: "Nothing" }
  if (payload.length === 1 && payload[0] === questionMark) return { _tag: "Question" }
  return payload.length === 33 && payload[0] === ticketMark ? { _tag: "Ticket", token: payload.subarray(1) } : undefined
}

const utf8 = new TextEncoder()

/** The payload of the second message that answers the question; nothing when there is no direct path. */
export const answer = (listener: HostPort | undefined) =>
  listener === undefined ? new Uint8Array() : Uint8Array.from([questionMark, ...utf8.encode(formatHostPort(listener))])

/** The address in the second message; undefined when there is none that can be dialled. */
export const readAnswer = (payload: Uint8Array): HostPort | undefined => {
  if (payload[0] !== questionMark) return undefined
  const address = parseHostPort(new TextDecoder().decode(payload.subarray(1)))
  return address !== undefined && address.port > 0 && isIP(address.host) !== 0 ? address : undefined
}
