import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import * as EventRing from "../../src/observe/EventRing.ts"

const cap = 1_048_576

const inFolder = <A, E>(body: (folder: string) => Effect.Effect<A, E, FileSystem.FileSystem>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    return yield* body(`${folder}/state`)
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

const modeOf = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return (yield* fs.stat(path)).mode & 0o777
})

describe("the event ring", () => {
  it.effect("gives back the last lines, oldest first, and is private", () =>
    inFolder(
      Effect.fn(function* (folder) {
        const ring = yield* EventRing.make(folder)
        for (let n = 1; n <= 5; n++) yield* ring.append(`{"n":${n}}`)
        assert.deepStrictEqual(yield* ring.last(3), [`{"n":3}`, `{"n":4}`, `{"n":5}`])
        assert.strictEqual(yield* modeOf(ring.path), 0o600)
        assert.strictEqual(ring.writeErrors(), 0)
      })
    )
  )

  it.effect("never grows past its cap and keeps one generation", () =>
    inFolder(
      Effect.fn(function* (folder) {
        const fs = yield* FileSystem.FileSystem
        const ring = yield* EventRing.make(folder)
        const line = (n: number) => JSON.stringify({ n, pad: "x".repeat(100_000) })
        for (let n = 0; n < 25; n++) {
          yield* ring.append(line(n))
          assert.isAtMost(Number((yield* fs.stat(ring.path)).size), cap)
        }
        const kept = (yield* ring.last(1000)).map((text): number => JSON.parse(text).n)
        assert.strictEqual(kept.at(-1), 24)
        assert.deepStrictEqual(
          kept,
          Array.from({ length: kept.length }, (_, i) => 25 - kept.length + i)
        )
        assert.isAbove(kept.length, 10)
        assert.deepStrictEqual((yield* fs.readDirectory(folder)).sort(), ["events.jsonl", "events.jsonl.1"])
      })
    )
  )

  it.effect("is filled to its last byte before it rotates", () =>
    inFolder(
      Effect.fn(function* (folder) {
        const fs = yield* FileSystem.FileSystem
        const line = (length: number) => JSON.stringify({ pad: "x".repeat(length - '{"pad":""}'.length - 1) })
        const ring = yield* EventRing.make(folder)
        yield* ring.append(line(cap - 100))
        yield* ring.append(line(100))
        assert.strictEqual(Number((yield* fs.stat(ring.path)).size), cap)
        assert.isFalse(yield* fs.exists(`${ring.path}.1`))
        const other = yield* EventRing.make(`${folder}/other`)
        yield* other.append(line(cap - 100))
        yield* other.append(line(101))
        assert.strictEqual(Number((yield* fs.stat(other.path)).size), 101)
        assert.strictEqual(Number((yield* fs.stat(`${other.path}.1`)).size), cap - 100)
      })
    )
  )

  it.effect("is shared by several writers without a lost or torn line", () =>
    inFolder(
      Effect.fn(function* (folder) {
        const rings = yield* Effect.all([EventRing.make(folder), EventRing.make(folder), EventRing.make(folder)])
        yield* Effect.forEach(
          rings,
          (ring, writer) =>
            Effect.forEach(
              Array.from({ length: 50 }, (_, n) => n),
              (n) => ring.append(JSON.stringify({ writer, n }))
            ),
          { concurrency: "unbounded" }
        )
        assert.strictEqual((yield* rings[0].last(1000)).length, 150)
      })
    )
  )

  it.effect("repairs a line that a crash tore, and restricts a file that others could read", () =>
    inFolder(
      Effect.fn(function* (folder) {
        const fs = yield* FileSystem.FileSystem
        yield* fs.makeDirectory(folder)
        yield* fs.writeFileString(`${folder}/events.jsonl`, `{"n":1}\n{"n":2`, { mode: 0o644 })
        const ring = yield* EventRing.make(folder)
        yield* ring.append(`{"n":3}`)
        assert.deepStrictEqual(yield* ring.last(10), [`{"n":1}`, `{"n":3}`])
        assert.strictEqual(yield* modeOf(ring.path), 0o600)
      })
    )
  )

  it.effect("does not follow a link, counts what it could not write, and never fails", () =>
    inFolder(
      Effect.fn(function* (folder) {
        const fs = yield* FileSystem.FileSystem
        yield* fs.makeDirectory(folder)
        yield* fs.writeFileString(`${folder}/elsewhere`, "")
        yield* fs.symlink(`${folder}/elsewhere`, `${folder}/events.jsonl`)
        const ring = yield* EventRing.make(folder)
        yield* ring.append(`{"n":1}`)
        yield* ring.append(`{"n":2}`)
        assert.strictEqual(ring.writeErrors(), 2)
        assert.strictEqual(yield* fs.readFileString(`${folder}/elsewhere`), "")
      })
    )
  )

  it.live("rotates in spite of a lock that a dead process left", () =>
    inFolder(
      Effect.fn(function* (folder) {
        const fs = yield* FileSystem.FileSystem
        yield* fs.makeDirectory(folder)
        yield* fs.writeFileString(`${folder}/events.jsonl`, `${JSON.stringify({ pad: "x".repeat(cap - 12) })}\n`)
        yield* fs.writeFileString(`${folder}/events.jsonl.lock`, "")
        yield* fs.utimes(`${folder}/events.jsonl.lock`, new Date(0), new Date(0))
        const ring = yield* EventRing.make(folder)
        yield* ring.append(`{"n":1}`)
        assert.strictEqual(yield* fs.readFileString(`${folder}/events.jsonl`), `{"n":1}\n`)
        assert.isTrue(yield* fs.exists(`${folder}/events.jsonl.1`))
        assert.isFalse(yield* fs.exists(`${folder}/events.jsonl.lock`))
      })
    )
  )
})
