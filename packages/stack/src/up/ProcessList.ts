/** Which process runs which program now, for people and for tests, in one file. */
import { Effect } from "effect"
import { rmSync } from "node:fs"
import * as PrivateFile from "./PrivateFile.ts"

export class ProcessList {
  readonly #path: string
  readonly #pids = new Map<string, number>()

  constructor(path: string) {
    this.#path = path
  }

  readonly set = (name: string, pid: number): Effect.Effect<void> =>
    Effect.sync(() => {
      this.#pids.set(name, pid)
      PrivateFile.write(this.#path, `${JSON.stringify(Object.fromEntries(this.#pids), null, 2)}\n`)
    })

  readonly remove: Effect.Effect<void> = Effect.sync(() => rmSync(this.#path, { force: true }))
}
