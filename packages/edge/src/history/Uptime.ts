/** How much of a window a tunnel was served, from the spans of its sessions. Pure; seconds. */

export interface Span {
  readonly from: number
  /** Absent while the session lasts. */
  readonly until: number | null
}

/** Percent of the `window` seconds before `now` that lie inside a span, 0 to 100. Spans of one tunnel do not overlap. */
export const share = (spans: ReadonlyArray<Span>, window: number, now: number): number => {
  const start = now - window
  const covered = spans.reduce(
    (sum, { from, until }) => sum + Math.max(0, Math.min(until ?? now, now) - Math.max(from, start)),
    0
  )
  return Math.min(100, Math.max(0, (covered / window) * 100))
}

const DAY = 86_400

/** The three windows of the history route. */
export const shares = (spans: ReadonlyArray<Span>, now: number) => ({
  h24: share(spans, DAY, now),
  d7: share(spans, 7 * DAY, now),
  d30: share(spans, 30 * DAY, now)
})
