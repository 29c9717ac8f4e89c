/**
 * Keeps what only the start of a program needs out of its memory at rest. A program calls this, a library never. Does nothing in a
 * program that is run from its sources, where the next restart is near. Imports nothing that is large.
 */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

const fromSources = import.meta.url.endsWith(".ts")

/** For programs that do not say when they serve, and those whose start takes this long. */
const longestStartMillis = 5000
/** In which the first requests get their answers. */
const quietMillis = 200

const setFlag = (name: string, isOn: boolean) => setFlagsFromString(isOn ? `--${name}` : `--no-${name}`)

const setCompilers = (isOn: boolean) => {
  for (const name of ["opt", "maglev"]) setFlag(name, isOn)
}

/** Frees what is unused, with the code of all functions that do not run now: those that run again are compiled again. */
const collect = () => {
  const flags = ["expose-gc", "stress-flush-code", "compact-on-every-full-gc"]
  for (const name of flags) setFlag(name, true)
  const gc: (how: { readonly type: "major"; readonly execution: "sync"; readonly flavor: "last-resort" }) => void =
    runInNewContext("gc")
  gc({ type: "major", execution: "sync", flavor: "last-resort" })
  for (const name of flags) setFlag(name, false)
}

let end = () => {}

/**
 * To be called before anything large is loaded. Until the program serves, V8's two optimizing compilers stay off: what they
 * compile of a start hardly runs again, and the compilers' own pages are a tenth of the resident memory at rest.
 */
export const begin = (): void => {
  if (fromSources) return
  setCompilers(false)
  const timer = setTimeout(() => end(), longestStartMillis).unref()
  end = () => {
    end = () => {}
    clearTimeout(timer)
    setCompilers(true)
    collect()
  }
}

/**
 * To be called when the program serves: turns the compilers on and collects the garbage of the start once, a fifth of the resident
 * memory, which V8 would hold until traffic forces a collection. Pauses for some 40 ms a moment later.
 */
export const serves = (): void => void setTimeout(() => end(), quietMillis).unref()
