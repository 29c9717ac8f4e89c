/** When to look at the certificate again, from the last outcome and the certificate's lifetime. The caller adds jitter. */
import { clockTolerance } from "./CertificateChain.ts"

/** When to renew a certificate: when a third of its lifetime is left, or when its CA suggests. */
export interface Lifetime {
  /** Unix milliseconds, like the other times. */
  readonly notBefore: number
  readonly notAfter: number
}

/** When the authority wants the renewal (RFC 9773). */
export interface Window {
  readonly start: number
  readonly end: number
}

/**
 * `share`, from 0 to 1, picks the time within the window and is constant for a certificate. Renewal happens at the latest when a
 * tenth of the lifetime is left, whatever the window says.
 */
export const dueAt = ({ notAfter, notBefore }: Lifetime, window: Window | undefined, share: number): number => {
  const life = Math.max(notAfter - notBefore, 0)
  if (window === undefined || window.end < window.start) return notAfter - life / 3
  return Math.min(window.start + (window.end - window.start) * share, notAfter - life / 10)
}

/**
 * The time used to check certificates. If this machine's clock differs a lot from the control plane's, the latter is used: a
 * wrong year must neither order a certificate nor let one expire.
 */
export const judgedTime = (own: number, theirs: number | undefined): number =>
  theirs !== undefined && Math.abs(theirs - own) > clockTolerance ? theirs : own

/** What a failure leaves undone: the certificate of an offer that expires, a renewal, or what only this machine lacks. */
export type Haste = "offer" | "renewal" | "disk"

/** How one look at the certificate ended. Times are Unix milliseconds. */
export type Outcome =
  /** The control plane does not let this name order a certificate yet. */
  | {
      readonly _tag: "Waiting"
      readonly status: "rot" | "gelb" | "gruen"
      /** Continue "the name". */
      readonly note: string
      /** Whether it waits for another agent's or process's order, which usually takes seconds. */
      readonly isTurn: boolean
    }
  /** `until`: when it ends. */
  | { readonly _tag: "Current" | "Issued"; readonly dueAt: number; readonly until: number; readonly now: number }
  | {
      readonly _tag: "Failed"
      readonly sentence: string
      readonly retryAfter: number | undefined
      readonly haste: Haste
      /** Whether CA or control plane are unreachable or have an internal error, rather than refusing. */
      readonly isUnreachable: boolean
      /** Whether it seems to be unreachable. */
      readonly isUnanswered: boolean
    }

const minute = 60
const turn = 5
/** An authority that did not answer counted nothing against its limits. */
const unanswered = 10
const longestWaiting = 15 * minute
const longest = 6 * 60 * minute
const longestFailing: Readonly<Record<Haste, number>> = { offer: longestWaiting, renewal: 60 * minute, disk: minute }

const doubled = (first: number, times: number, most: number) => Math.min(first * 2 ** Math.min(times, 20), most)

/** Seconds. `times` is how often the outcome has been of this kind without a break before. */
export const pause = (outcome: Outcome, times: number): number => {
  switch (outcome._tag) {
    case "Waiting":
      return outcome.isTurn ? turn : doubled(turn, times, longestWaiting)
    case "Current":
    case "Issued":
      return Math.min(Math.max((outcome.dueAt - outcome.now) / 1000, 5), longest)
    case "Failed":
      return Math.max(
        outcome.retryAfter ?? 0,
        doubled(outcome.isUnanswered ? unanswered : minute, times, longestFailing[outcome.haste])
      )
  }
}
