/**
 * What the link allows.
 * @internal
 */
import type { MuxLimits } from "../../transport/MuxLimits.ts"

/** The link carries the streams of all connections. Both ends are ours. */
export const linkLimits: Partial<MuxLimits> = { maxStreams: 65_536, registrations: 0 }
