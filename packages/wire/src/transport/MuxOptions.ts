/** What a multiplexed session is begun with. */
import type { EdgeProcess } from "../frames/MuxHello.ts"
import type { OnEcho } from "./Echoes.ts"
import type { OnFault } from "./FaultBoundary.ts"
import type { MuxLimits } from "./MuxLimits.ts"
import type { MuxStream } from "./MuxStream.ts"
import type { InboundRegistration } from "./Registrations.ts"

export interface MuxOptions {
  /** The agent dials, the edge accepts. */
  readonly side: "dialler" | "acceptor"
  /** 32 fresh random bytes; an acceptor needs them. */
  readonly challenge?: Uint8Array
  /** Which process of an edge an acceptor is, where there are several. */
  readonly edgeProcess?: EdgeProcess
  /** Echo this often, and call the peer dead when an echo is unanswered for so long; `false` for neither. */
  readonly keepAlive?: { readonly everyMillis: number; readonly deadMillis: number } | false
  readonly helloMillis?: number
  readonly limits?: Partial<MuxLimits>
  /** The peer opened a stream. Without it the peer may open none. */
  readonly onStream?: (stream: MuxStream) => void
  /** The peer asks to be registered. Without it every registration is refused. */
  readonly onRegister?: (registration: InboundRegistration) => void
  /** The peer asks for the origin behind a registration of this side. Without it no question is answered. */
  readonly onEcho?: OnEcho
  /**
   * Receives what a callback threw. A throw that belongs to one stream resets that stream, one that belongs to a registration
   * refuses it; any other one ends the session. The events of the carrier are its owner's to guard.
   */
  readonly onFault?: OnFault
}
