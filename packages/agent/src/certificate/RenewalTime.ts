/** When a certificate is to be renewed: when a third of its life is left, or when its authority suggests. Pure. */
import { clockTolerance } from "./CertificateChain.ts"

export interface Lifetime {
  /** Unix milliseconds, as the other times. */
  readonly notBefore: number
  readonly notAfter: number
}

/** When the authority wants the renewal (RFC 9773). */
export interface Window {
  readonly start: number
  readonly end: number
}

/**
 * `share` from 0 to 1 picks the moment within the window; the same certificate has always the same. A window is never waited
 * for until less than a tenth of the life is left, whatever it says.
 */
export const dueAt = ({ notAfter, notBefore }: Lifetime, window: Window | undefined, share: number): number => {
  const life = Math.max(notAfter - notBefore, 0)
  if (window === undefined || window.end < window.start) return notAfter - life / 3
  return Math.min(window.start + (window.end - window.start) * share, notAfter - life / 10)
}

/**
 * The time by which certificates are judged. Where this machine's clock is far off the control plane's, the latter counts: a
 * step of a year must neither order a certificate nor let one expire unseen.
 */
export const judgedTime = (own: number, theirs: number | undefined): number =>
  theirs !== undefined && Math.abs(theirs - own) > clockTolerance ? theirs : own
