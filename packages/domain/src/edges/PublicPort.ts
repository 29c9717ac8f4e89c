/**
 * A port of the edges at which the public reaches a tunnel without a host name. The control plane allots it from the ranges that
 * edges report, and it belongs to the tunnel until the tunnel is deleted.
 */
import { Schema } from "effect"
import { boundedArray } from "../values/BoundedArray.ts"
import { Port } from "../values/Numbers.ts"
import { literal, pattern } from "../values/Pattern.ts"

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

/** A public port as text, such as `tcp/20022`. */
export const PortName = Schema.String.check(
  pattern(
    /^(?:tcp|udp)\/(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])$/u,
    "tcp or udp, a slash, and a port from 1 to 65535"
  )
).pipe(Schema.brand("PortName"))
export type PortName = typeof PortName.Type

/**
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { portName } from "@catenet/domain/edges/PublicPort"
 *
 * strictEqual(portName({ protocol: "tcp", port: 20022 }), "tcp/20022")
 * ```
 */
export const portName = ({ port, protocol }: { readonly protocol: PortProtocol; readonly port: number }): PortName =>
  PortName.make(`${protocol}/${port}`)

/**
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { PortName, publicPort } from "@catenet/domain/edges/PublicPort"
 *
 * deepStrictEqual(publicPort(PortName.make("udp/53")), { protocol: "udp", port: 53 })
 * ```
 */
export const publicPort = (name: PortName): PublicPort => ({
  protocol: name.startsWith("udp") ? "udp" : "tcp",
  port: Port.make(Number(name.slice(4)))
})

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
