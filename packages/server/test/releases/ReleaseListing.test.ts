/** When the folder of releases is read: after each change, and not for each request. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as ByteRange from "../../src/releases/ByteRange.ts"
import * as ReleaseFolder from "../../src/releases/ReleaseFolder.ts"
import * as Releases from "../../src/releases/Releases.ts"

const Small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 }))

describe("a range of bytes", () => {
  const rows = [
    [undefined, 10, "whole"],
    ["bytes=0-", 10, { first: 0, last: 9 }],
    ["bytes=9-", 10, { first: 9, last: 9 }],
    ["bytes=10-", 10, "unsatisfiable"],
    ["BYTES=2-4", 10, { first: 2, last: 4 }],
    ["bytes=2-99", 10, { first: 2, last: 9 }],
    ["bytes=4-2", 10, "whole"],
    ["bytes=-3", 10, { first: 7, last: 9 }],
    ["bytes=-30", 10, { first: 0, last: 9 }],
    ["bytes=-0", 10, "unsatisfiable"],
    ["bytes=0-0", 0, "unsatisfiable"],
    ["bytes=-", 10, "whole"],
    ["bytes=0-1,3-4", 10, "whole"],
    ["items=0-1", 10, "whole"],
    ["bytes=0x1-2", 10, "whole"],
    ["bytes= 0-1", 10, "whole"],
    [`bytes=${"9".repeat(15)}-`, 10, "unsatisfiable"],
    [`bytes=${"9".repeat(16)}-`, 10, "whole"]
  ] as const
  for (const [header, size, wanted] of rows)
    it(`${header} of ${size}`, () => assert.deepStrictEqual(ByteRange.parse(header, size), wanted))

  it.prop(
    "stays within the file",
    [Arbitrary.schema(Small), Arbitrary.schema(Small), Arbitrary.schema(Small)],
    ([from, to, size]) => {
      for (const header of [`bytes=${from}-${to}`, `bytes=${from}-`, `bytes=-${to}`]) {
        const range = ByteRange.parse(header, size)
        if (typeof range === "string") continue
        assert.isTrue(range.first >= 0 && range.first <= range.last && range.last < size, header)
      }
    }
  )
})

const newFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "catenet-listing-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const publish = (folder: string, version: string) => {
  mkdirSync(join(folder, "next"))
  writeFileSync(join(folder, "next", "agent.tgz"), version)
  renameSync(join(folder, "next"), join(folder, version))
}

const counted = () => {
  const reads: Array<string> = []
  const list = (folder: string) => {
    reads.push(folder)
    return ReleaseFolder.list(folder)
  }
  return { list, reads }
}

const versions = (releases: ReadonlyArray<ReleaseFolder.Release>) => releases.map(({ version }) => version)

/** Seconds. */
const old = 1_000_000

describe("the listing of releases", () => {
  it.effect("is read once for many requests, and again for a file that was added later", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      yield* TestClock.setTime(2_000_000_000)
      publish(folder, "0.1.0")
      utimesSync(folder, old, old)
      const { list, reads } = counted()
      const listed = yield* Releases.makeReleaseListing(folder, list)
      const all = yield* Effect.all(
        Array.from({ length: 100 }, () => listed),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        all.map(versions),
        Array.from({ length: 100 }, () => ["0.1.0"])
      )
      assert.strictEqual(reads.length, 1)
      writeFileSync(join(folder, "0.1.0", "later"), "")
      yield* TestClock.adjust("2 seconds")
      assert.isTrue((yield* listed)[0]?.files.has("later"))
      assert.strictEqual(reads.length, 2)
    })
  )

  it.effect("has what is published between two requests, however close they are", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      const { list } = counted()
      const listed = yield* Releases.makeReleaseListing(folder, list)
      for (let minor = 1; minor <= 50; minor++) {
        publish(folder, `0.${minor}.0`)
        assert.strictEqual((yield* listed)[0]?.version, `0.${minor}.0`)
      }
    })
  )

  it.effect("is not kept where it was begun before a publication", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      yield* TestClock.setTime(2_000_000_000)
      publish(folder, "0.1.0")
      utimesSync(folder, old, old)
      const listed = yield* Releases.makeReleaseListing(folder, async (path) => {
        const found = await ReleaseFolder.list(path)
        if (found.length === 1) publish(folder, "0.2.0")
        return found
      })
      assert.deepStrictEqual(versions(yield* listed), ["0.1.0"])
      assert.deepStrictEqual(versions(yield* listed), ["0.2.0", "0.1.0"])
    })
  )

  it.effect("is empty while the folder is not there", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      const listed = yield* Releases.makeReleaseListing(join(folder, "releases"))
      assert.deepStrictEqual(yield* listed, [])
      mkdirSync(join(folder, "releases"))
      publish(join(folder, "releases"), "0.1.0")
      assert.deepStrictEqual(versions(yield* listed), ["0.1.0"])
    })
  )
})
