import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import * as PrivateFile from "../../src/state/PrivateFile.ts"

describe("a private file", () => {
  it.effect("that cannot be read or written is reported with the system's message, and leaves no other file", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFileString(`${folder}/file`, "")
      const path = `${folder}/file/agent`
      const sentence = `${path}: ENOTDIR: not a directory. Something else is in its place or its folder's: move it away.`
      assert.strictEqual((yield* Effect.flip(PrivateFile.read(path))).message, sentence)
      const both = [`${folder}/first`, path].map((path) => ({ path, bytes: Uint8Array.of(1) }))
      assert.strictEqual((yield* Effect.flip(PrivateFile.replaceAll(both))).message, sentence)
      assert.deepStrictEqual(yield* fs.readDirectory(folder), ["file"])
      assert.isUndefined(yield* PrivateFile.read(`${folder}/none`))
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  )
})
