/**
 * A port of the edges at which the public reaches a tunnel without a host name. The control plane allots it from the ranges that
 * edges report, and it belongs to the tunnel until the tunnel is deleted.
 */
import { Schema } from "effect"
import { boundedArray } from "../values/BoundedArray.ts"
import { Port } from "../values/Numbers.ts"
import { literal } from "../values/Pattern.ts"

export const PortProtocol = literal(["tcp", "udp"])
export type PortProtocol = typeof PortProtocol.Type

/** The first and the last port of a range, which is empty if the last is below the first. */
export const PortRange = Schema.Tuple([Port, Port])
export type PortRange = typeof PortRange.Type

/** Ranges of one protocol at one edge. */
export const maxPortRanges = 64

/** The ports that an edge offers. */
const ranges = boundedArray(maxPortRanges, PortRange)
export const OfferedPorts = Schema.Struct({ tcp: ranges, udp: ranges })
export type OfferedPorts = typeof OfferedPorts.Type

export const PublicPort = Schema.Struct({ protocol: PortProtocol, port: Port })
export type PublicPort = typeof PublicPort.Type

/**
 * Whether a range contains the port.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { isOffered } from "@catenet/domain/edges/PublicPort"
 *
 * strictEqual(isOffered([[20000, 20999]], 20999), true)
 * strictEqual(isOffered([[20000, 20999]], 21000), false)
 * ```
 */
export const isOffered = (ranges: ReadonlyArray<PortRange> | undefined, port: number): boolean =>
  ranges?.some(([first, last]) => port >= first && port <= last) === true

/**
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { formatRanges } from "@catenet/domain/edges/PublicPort"
 *
 * strictEqual(formatRanges([[20000, 20999], [22, 22]]), "20000-20999, 22")
 * ```
 */
export const formatRanges = (ranges: ReadonlyArray<PortRange>): string =>
  ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(", ")
