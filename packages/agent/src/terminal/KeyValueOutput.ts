/** A result of named facts: a line for each, the names padded to a width, or one JSON object. */
import type { Screen } from "./Screen.ts"

export type KeyValueOutput = ReadonlyArray<readonly [name: string, value: string]>

export const print = (screen: Screen["Service"], facts: KeyValueOutput, width: number) => {
  if (screen.json) return screen.result(JSON.stringify(Object.fromEntries(facts)))
  for (const [name, value] of facts) screen.result(`${name.padEnd(width)} = ${value}`)
}
