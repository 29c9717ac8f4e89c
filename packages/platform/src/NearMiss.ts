/** Finds the variable that a misspelt one was probably meant to be: it is not read, and the program starts without it. */
import { type ConfigProvider, Effect } from "effect"

const maxEdits = 2

/** How many characters have to be put in, left out or replaced to make one text of the other. */
const distance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [i, character] of Array.from(from).entries()) {
    const next = [i + 1]
    for (const [j, other] of Array.from(to).entries())
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, (row[j] ?? 0) + (character === other ? 0 : 1)))
    row = next
  }
  return row.at(-1) ?? 0
}

/** The nearest known name that this one misses by at most two characters; none for a known name and for a foreign one. */
export const closestMatch = (name: string, known: ReadonlySet<string>): string | undefined => {
  if (known.has(name)) return undefined
  let nearest: string | undefined
  let least = maxEdits + 1
  for (const each of known) {
    const edits = Math.abs(each.length - name.length) < least ? distance(name, each) : least
    if (edits < least) [nearest, least] = [each, edits]
  }
  return nearest
}

const prefix = "CT"

/** The full names of all variables of this provider that begin with these parts. */
const namesUnder: (
  provider: ConfigProvider.ConfigProvider,
  parts: ReadonlyArray<string>
) => Effect.Effect<ReadonlyArray<string>> = Effect.fnUntraced(function* (provider, parts) {
  const node = yield* Effect.orElseSucceed(provider.load(parts), () => undefined)
  const own = node?.value === undefined ? [] : [parts.join("_")]
  if (node?._tag !== "Record") return own
  const below = yield* Effect.forEach(node.keys, (key) => namesUnder(provider, [...parts, key]))
  return [...own, ...below.flat()]
})

/** A sentence for each `CT_*` variable of this provider that is not known and resembles one that is. */
export const sentences = (provider: ConfigProvider.ConfigProvider, known: ReadonlySet<string>) =>
  Effect.map(namesUnder(provider, [prefix]), (names) =>
    names.flatMap((name) => {
      const other = closestMatch(name, known)
      return other === undefined ? [] : [`${name} is not read. Correct it if ${other} was meant.`]
    })
  )
