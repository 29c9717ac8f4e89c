import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Option } from "effect"
import * as FileWatcher from "../../src/state/FileWatcher.ts"

describe("changes of files", () => {
  it.live("are seen within a second, each once: a file comes, is replaced, is written, goes, and with its folder", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const [first, second] = [`${folder}/first`, `${folder}/later/second`]
      yield* fs.writeFileString(first, "a")
      const change = yield* FileWatcher.make([first, second])
      const within = (seconds: number) =>
        Effect.map(Effect.timeoutOption(change, `${seconds} seconds`), (seen) => Option.isSome(seen))
      assert.isFalse(yield* within(2.5), "nothing has changed")
      yield* fs.makeDirectory(`${folder}/later`)
      assert.isFalse(yield* within(2.5), "none of the files has changed")
      const changes = [
        fs.writeFileString(second, "a"),
        Effect.andThen(fs.writeFileString(`${folder}/new`, "a"), fs.rename(`${folder}/new`, first)),
        fs.writeFileString(first, "bc"),
        fs.utimes(first, 1, 1),
        fs.remove(first),
        fs.remove(`${folder}/later`, { recursive: true })
      ]
      for (const [at, made] of changes.entries()) {
        yield* made
        assert.isTrue(yield* within(2.5), `change ${at}`)
      }
      assert.isFalse(yield* within(2.5), "nothing more has changed")
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  )
})
