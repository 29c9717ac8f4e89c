import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { Files } from "../src/Files.ts"
import * as PrivateFile from "../src/PrivateFile.ts"
import { replace } from "../src/Seam.ts"

const { commit, read, readStaged, replaceAll, reserve, rewrite } = PrivateFile.make(
  (path) =>
    ({ message }) =>
      `${path}: ${message}`
)
const bytes = (text: string) => new TextEncoder().encode(text)
const text = (found: Uint8Array | undefined) => found && new TextDecoder().decode(found)

const inFolder = (test: (folder: string) => Effect.Effect<void, unknown, FileSystem.FileSystem>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    yield* test(yield* fs.makeTempDirectoryScoped())
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

describe("a private file", () => {
  it.effect("is its owner's alone, whoever could read the one before, and replaces no file behind a link", () =>
    inFolder((folder) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        yield* fs.writeFileString(`${folder}/other`, "other", { mode: 0o644 })
        yield* fs.symlink(`${folder}/other`, `${folder}/secret.new`)
        for (const write of [
          replaceAll([{ path: `${folder}/secret`, bytes: bytes("new") }]),
          Effect.sync(() => PrivateFile.replaceNow(`${folder}/secret`, "new"))
        ]) {
          yield* fs.writeFileString(`${folder}/secret`, "old", { mode: 0o644 })
          yield* write
          assert.strictEqual(yield* fs.readFileString(`${folder}/secret`), "new")
          assert.strictEqual((yield* fs.stat(`${folder}/secret`)).mode & 0o777, 0o600)
        }
        assert.strictEqual(yield* fs.readFileString(`${folder}/other`), "other")
        assert.sameMembers([...(yield* fs.readDirectory(folder))], ["other", "secret"])
      })
    )
  )

  it.effect("stays as it was when it cannot be replaced, and nothing staged stays behind", () =>
    inFolder((folder) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        yield* fs.writeFileString(`${folder}/first`, "old")
        yield* fs.makeDirectory(`${folder}/second`)
        yield* fs.writeFileString(`${folder}/second/full`, "")
        const contents = ["first", "second"].map((name) => ({ path: `${folder}/${name}`, bytes: bytes("new") }))
        assert.include(yield* Effect.flip(replaceAll(contents)), `${folder}/second: `)
        assert.strictEqual(yield* fs.readFileString(`${folder}/first`), "old")
        const failing = replace(Files, {
          renameSync: () => {
            throw new Error("no space")
          }
        })
        assert.throws(() => PrivateFile.replaceNow(`${folder}/first`, "new"), "no space")
        failing()
        assert.strictEqual(yield* fs.readFileString(`${folder}/first`), "old")
        assert.sameMembers([...(yield* fs.readDirectory(folder))], ["first", "second"])
      })
    )
  )

  it.effect("has room reserved for what is not known yet, and is replaced by the commit alone", () =>
    inFolder((folder) =>
      Effect.gen(function* () {
        const path = `${folder}/token`
        assert.isUndefined(yield* read(path))
        yield* reserve(path, 8)
        assert.strictEqual(text(yield* readStaged(path)), " ".repeat(8))
        yield* rewrite({ path, bytes: bytes("known") })
        assert.isUndefined(yield* read(path))
        yield* commit([path])
        assert.strictEqual(text(yield* read(path)), "known")
        assert.isUndefined(yield* readStaged(path))
      })
    )
  )
})
