import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as SocketPaths from "../../src/processes/SocketPaths.ts"

const base = mkdtempSync(join(tmpdir(), "catenet-doors-"))
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(base, { recursive: true, force: true })
})

/** A folder whose path has so many bytes, for temporary files. */
const temporary = (bytes: number) => {
  const path = join(base, "x".repeat(bytes - base.length - 1))
  mkdirSync(path, { recursive: true })
  vi.stubEnv("TMPDIR", path)
}

const folder = Effect.scoped(
  Effect.map(SocketPaths.folder, (path) => ({
    mode: statSync(path).mode & 0o777,
    socketPath: SocketPaths.socketPath(path, 64)
  }))
).pipe(Effect.provide(NodeFileSystem.layer))

describe("the folder of the sockets between processes", () => {
  it.effect("is readable by its owner alone, and its socket paths fit every system's limit", () =>
    Effect.gen(function* () {
      temporary(60)
      const { socketPath, mode } = yield* folder
      assert.strictEqual(mode, 0o700)
      temporary(60 + 103 - socketPath.length)
      assert.strictEqual((yield* folder).socketPath.length, 103)
      temporary(60 + 104 - socketPath.length)
      const { message } = yield* Effect.flip(folder)
      assert.include(message, "name a shorter one by TMPDIR")
    })
  )
})
