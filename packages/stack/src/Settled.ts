/** Gives memory back once a program that stays has started. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Effect } from "effect"

const fromSources = import.meta.url.endsWith(".ts")

/**
 * Collects, once, what starting left behind: a quarter of the resident memory of the one-file program, which V8 would
 * otherwise hold until traffic forces a collection. Pauses for some 40 ms. Does nothing in a program that is run from its
 * sources, where the next restart is near.
 */
export const settled: Effect.Effect<void> = Effect.sync(() => {
  if (fromSources) return
  setFlagsFromString("--expose-gc")
  const collect: (how: { readonly type: "major"; readonly execution: "sync"; readonly flavor: "last-resort" }) => void =
    runInNewContext("gc")
  collect({ type: "major", execution: "sync", flavor: "last-resort" })
  setFlagsFromString("--no-expose-gc")
})
