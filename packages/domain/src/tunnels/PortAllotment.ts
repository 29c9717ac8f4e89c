/** Whether an account gets a public port for one more tunnel. Pure: the server counts and inserts. */
import { formatRanges, isOffered, type PortProtocol, type PortRange } from "../edges/PublicPort.ts"
import { NoPortLeft, PortLimitReached, PortRefused, PortTaken } from "./PortErrors.ts"

/** What the server knows when an account asks for a port. */
export interface Asked {
  readonly protocol: PortProtocol
  readonly ranges: ReadonlyArray<PortRange>
  readonly wish: number | undefined
  readonly isWishTaken: boolean
  /** Public ports of the account, of both protocols. */
  readonly held: number
  /** Those of this protocol. */
  readonly heldOfProtocol: number
  readonly limit: number
  /** Distinct ports that live edges offer, and how many of them no tunnel has. */
  readonly offered: number
  readonly free: number
}

/**
 * Why the account gets no port. It has at most as many ports of a protocol as are left for others, so that the last ones go to the
 * accounts with fewest.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { refusalOf } from "@catenet/domain/tunnels/PortAllotment"
 *
 * const asked = { protocol: "tcp", ranges: [], wish: undefined, isWishTaken: false, held: 0, heldOfProtocol: 0, limit: 5 } as const
 * strictEqual(refusalOf({ ...asked, offered: 0, free: 0 })?._tag, "NoPortLeft")
 * ```
 */
export const refusalOf = (asked: Asked) => {
  const { free, held, heldOfProtocol, isWishTaken, limit, offered, protocol, ranges, wish } = asked
  if (offered === 0) return new NoPortLeft({ protocol, offered })
  if (wish !== undefined && !isOffered(ranges, wish))
    return new PortRefused({ field: "port", reason: `must be one that edges offer: ${formatRanges(ranges)}` })
  if (held >= limit) return new PortLimitReached({ limit })
  if (wish !== undefined && isWishTaken) return new PortTaken({ protocol, port: wish })
  return heldOfProtocol >= free ? new NoPortLeft({ protocol, offered }) : undefined
}
