/** Finds the variable that a misspelt one was probably meant to be. Pure. */
import { variables } from "./Variables.ts"

const mostEdits = 2

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

/** The variable that this name misses by at most two characters; none for a variable of ours and for a foreign one. */
export const meant = (name: string): string | undefined =>
  Object.hasOwn(variables, name) ? undefined : Object.keys(variables).find((each) => distance(name, each) <= mostEdits)
