/** A registration that an edge has accepted, whatever carries it. */
import type { EdgeProcess } from "@catenet/wire/frames/MuxHello"
import { Effect, Exit, Scope } from "effect"
import type { Carrier } from "../settings/TunnelTransports.ts"

/** Why a registration ended. `final` when the edge took it back for good. */
export interface LinkEnd {
  readonly reason: string
  readonly final: boolean
  /** The edge took the routing token back; another one may have taken its place. */
  readonly isRevoked?: boolean
  /** The edge went silent, and what carried this may not come through to it any more. */
  readonly isSilent?: boolean
}

export interface EdgeLink {
  /** `host:port` of the edge. */
  readonly edge: string
  readonly carrier: Carrier
  /** Which process of the edge it leads to, where the edge has several. */
  readonly edgeProcess: EdgeProcess | undefined
  /** The edge lets mesh clients in by visitor tokens. */
  readonly visitorTokens: boolean
  /** Waits for the end of the registration. */
  readonly ended: Effect.Effect<LinkEnd>
  /** Of a link that says nothing of its end where the other side was killed. */
  readonly inquiry?: {
    /** Clients come through it, or have come a moment ago. */
    isUsed(): boolean
    /** Asks the edge, and waits for the answer. */
    readonly answered: Effect.Effect<void>
  }
  /** Grows whenever anything arrives from the edge. */
  received(): number
  /** Asks the edge for no more streams; those that run go on. */
  retire(): void
  /** After `retire`: waits until the last stream has ended. */
  readonly drained: Effect.Effect<void>
  /** Ends everything at once. */
  close(): void
}

/** Lets the streams of a link that is over finish, then closes it and its scope. */
export const discard = Effect.fnUntraced(function* (link: EdgeLink, scope: Scope.Closeable) {
  link.retire()
  yield* link.drained
  link.close()
  yield* Scope.close(scope, Exit.void)
})
