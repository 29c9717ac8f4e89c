/** What one multiplexed session allows its peer. */

export interface MuxLimits {
  /** Streams the peer may have open at a time. */
  readonly maxStreams: number
  /** Unread bytes of one stream at most, once its reader has shown that it keeps up. */
  readonly window: number
  /** Unread bytes of a fresh stream at most. */
  readonly initialWindow: number
  /** Unread bytes of the session from which windows shrink. */
  readonly receiveBudget: number
  /** Unread bytes of the session from which the streams that hold the most are reset. */
  readonly receiveLimit: number
  /** Registrations the peer may have at a time. */
  readonly registrations: number
}

const KiB = 1024
const MiB = 1024 * KiB

export const defaultLimits: MuxLimits = {
  maxStreams: 8192,
  window: MiB,
  initialWindow: 256 * KiB,
  receiveBudget: 32 * MiB,
  receiveLimit: 256 * MiB,
  registrations: 64
}
