import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect, FileSystem, Logger } from "effect"
import { chownSync } from "node:fs"
import * as KeyFile from "../../src/state/KeyFile.ts"

const key = new Uint8Array(32).fill(7)
const isRoot = process.getuid?.() === 0

const stage = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = `${yield* fs.makeTempDirectoryScoped()}/key`
  yield* fs.writeFile(path, key, { mode: 0o600 })
  const said: Array<string> = []
  const logger = Logger.make(({ message }) => void said.push(String(message)))
  return { fs, path, said, read: Effect.provide(KeyFile.read(path), Logger.layer([logger])) }
})
const run = <A, E>(body: Effect.Effect<A, E, Effect.Services<typeof stage>>) =>
  body.pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

/** Another user of this machine, to whom the process belongs for the time of the effect. */
const asUser =
  (uid: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => vi.spyOn(process, "getuid").mockReturnValue(uid)),
      () => effect,
      (spy) => Effect.sync(() => spy.mockRestore())
    )

describe.skipIf(process.platform === "win32")("a file of a key", () => {
  it.effect("is read, and none is no key", () =>
    run(
      Effect.gen(function* () {
        const { fs, path, read, said } = yield* stage
        assert.deepStrictEqual(Buffer.from((yield* read) ?? []), Buffer.from(key))
        yield* fs.remove(path)
        assert.isUndefined(yield* read)
        assert.deepStrictEqual(said, [])
      })
    )
  )

  it.effect("that others can read is narrowed to its owner, and said once", () =>
    run(
      Effect.gen(function* () {
        const { fs, path, read, said } = yield* stage
        for (const mode of [0o640, 0o604, 0o666]) {
          yield* fs.chmod(path, mode)
          assert.deepStrictEqual(Buffer.from((yield* read) ?? []), Buffer.from(key))
          assert.strictEqual((yield* fs.stat(path)).mode & 0o777, 0o600)
          yield* read
        }
        assert.lengthOf(said, 3)
        for (const line of said) assert.include(line, `others could read ${path}; now its owner alone can.`)
      })
    )
  )

  it.effect.skipIf(!isRoot)("that another user owns is refused, and left as it is; root reads it", () =>
    run(
      Effect.gen(function* () {
        const { fs, path, read, said } = yield* stage
        assert.isDefined(yield* asUser(1001)(read))
        chownSync(path, 1002, 0)
        const { message } = yield* Effect.flip(asUser(1001)(read))
        assert.strictEqual(
          message,
          `${path}: another user owns it, so it is not used. Remove it, or make this user its owner.`
        )
        for (const uid of [0, 1002]) assert.isDefined(yield* asUser(uid)(read))
        assert.strictEqual((yield* fs.stat(path)).mode & 0o777, 0o600)
        assert.deepStrictEqual(said, [])
      })
    )
  )
})
