/** What the inspector learns of visits, as far as those know of it who carry them. */
import type * as Json from "@catenet/crypto/Json"
import type { Effect } from "effect"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"

/** What is known of a visit beside its bytes. */
export interface Visit {
  /** The visitor's address as the edge names it. */
  readonly client: string | undefined
  /** The name that the visitor asked for. */
  readonly host: string | undefined
  /** Who ended the visitor's TLS, and so reads the contents: for end-to-end names nobody but the agent. */
  readonly tls: "agent" | "edge"
  /** The version between visitor and agent; behind an edge that ends TLS it is the edge's. */
  readonly http: "1.1" | "2"
  /** Milliseconds that connecting to the origin took, for the first request of a connection. */
  readonly connectMillis: number | undefined
  /** One more connection to the same origin. */
  readonly dial: Effect.Effect<Socket, Error>
}

/** A call of a tool over a channel. */
export interface InspectedCall {
  /** The key of the member that calls. */
  readonly peer: string
  readonly tool: string
  readonly args: Json.Json
}

/** How it ended: the answer, or why there is none. */
export type CallEnd = { readonly answer: Uint8Array } | { readonly why: string }

/** Follows what passes between visitors and the origin, for the inspector. */
export interface Inspection {
  /** A connection to the origin stands. It carries HTTP/1.1, whatever the visitor speaks. */
  readonly connected: (socket: Duplex, visit: Visit) => void
  /** The origin could not be reached for a visitor who has said this. */
  readonly unreached: (said: Uint8Array, visit: Visit, why: string) => void
  /** A call begins; to be told of its end, once. */
  readonly called: (call: InspectedCall) => (end: CallEnd) => void
}

/** What an agent's visits look up; undefined while nobody inspects. */
export interface Inspected {
  current: Inspection | undefined
  /** Of a service of this name, in an agent that has several. */
  ofService: ((name: string) => Inspection) | undefined
}
