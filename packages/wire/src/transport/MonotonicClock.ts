/**
 * The one clock of the byte-moving code. Round trips, rates and idle times are measured on every chunk, where a
 * service call would cost more than what it measures. No value of it is a date.
 */

/** Milliseconds since some moment in the past, never going back. */
export const monotonicMillis = (): number => performance.now()
