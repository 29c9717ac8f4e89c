/**
 * A seam is a table of functions in module scope through which every program reaches the machine it runs on: `Sockets`, `Files`,
 * `Processes`, `Scheduler`, `Entropy`. A simulation puts functions of its own into the tables before it starts a program. A call
 * costs what a call of the function itself costs.
 */

/** Puts other functions in the place of some; the result brings back the ones of before. */
export const replace = <Seam extends object>(seam: Seam, others: Partial<Seam>): (() => void) => {
  const before = { ...seam }
  Object.assign(seam, others)
  return () => void Object.assign(seam, before)
}
