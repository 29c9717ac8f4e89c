/** What the lock file says about a program: every package that it is made of, in the version that was locked. */
import { readFileSync } from "node:fs"
import { join, posix } from "node:path"
import { root } from "../node.mjs"

const packages = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages

/** Where npm finds a package that one at `from` needs: beside it, or beside what it lies in. */
const placeOf = (from, name) => {
  for (let at = from; ; at = posix.dirname(at)) {
    const place = posix.join(at === "." ? "" : at, "node_modules", name)
    const entry = packages[place]
    if (entry !== undefined) return entry.link ? entry.resolved : place
    if (at === "." || at === "") return undefined
  }
}

/** The name of the package at a place. */
const nameOf = (place) => packages[place].name ?? place.replace(/^.*node_modules\//u, "")

/** The package at a place of the lock file, and all that it needs: each with what it needs itself, by places. */
export const closure = (start) => {
  const found = new Map()
  const waiting = [start]
  while (waiting.length > 0) {
    const place = waiting.pop()
    if (found.has(place)) continue
    const { dependencies, integrity, license, optionalDependencies, version } = packages[place]
    const needs = Object.keys({ ...dependencies, ...optionalDependencies })
      .map((name) => placeOf(place, name))
      .filter((there) => there !== undefined)
      .sort()
    const digest = integrity?.startsWith("sha512-")
      ? Buffer.from(integrity.slice(7), "base64").toString("hex")
      : undefined
    found.set(place, { place, name: nameOf(place), version, license, sha512: digest, needs })
    waiting.push(...needs)
  }
  return [...found.values()].sort((a, b) => (a.place < b.place ? -1 : 1))
}
