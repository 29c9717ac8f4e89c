import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import {
  chmodSync,
  chownSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as PostgresHome from "../../src/postgres/PostgresHome.ts"

/** Another account of the machine: the one that PostgreSQL does not run under. */
const stranger = 12_345
const asRoot = process.getuid?.() === 0

const made = (mode: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const path = mkdtempSync(join(tmpdir(), "catenet-home-"))
      chmodSync(path, mode)
      return path
    }),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )

/** A data folder below a folder that only root enters, and where root's copies go. */
const closed = Effect.gen(function* () {
  const system = join(yield* made(0o711), "catenet")
  return { folder: join(yield* made(0o700), "data"), system }
})

const settle = ({ folder, system }: Effect.Success<typeof closed>) => PostgresHome.settle(folder, system)

const dataPlace = ({ folder, system }: Effect.Success<typeof closed>) =>
  join(system, `data-${createHash("sha256").update(folder).digest("hex").slice(0, 16)}`)

const mode = (path: string) => lstatSync(path).mode & 0o777

describe.skipIf(!asRoot)("the folders of root's embedded PostgreSQL", () => {
  it.live("belong to root and to PostgreSQL's account alone", () =>
    Effect.gen(function* () {
      const place = yield* closed
      const { account, binaries, data } = yield* settle(place)
      assert.strictEqual(mode(place.system), 0o711)
      assert.strictEqual(mode(data), 0o700)
      assert.strictEqual(lstatSync(data).uid, account?.uid)
      if (binaries.home.startsWith(place.system)) assert.strictEqual(lstatSync(binaries.home).uid, 0)
      assert.strictEqual((yield* settle(place)).data, data, "the next start finds them again")
    }).pipe(Effect.scoped)
  )

  it.live("are refused where another account made the data folder", () =>
    Effect.gen(function* () {
      const place = yield* closed
      mkdirSync(dataPlace(place), { recursive: true })
      chownSync(dataPlace(place), stranger, stranger)
      const failure = yield* Effect.flip(settle(place))
      assert.include(failure.message, `belongs to another account (uid ${stranger})`)
    }).pipe(Effect.scoped)
  )

  it.live("are refused where others can write to the data folder", () =>
    Effect.gen(function* () {
      const place = yield* closed
      mkdirSync(dataPlace(place), { recursive: true })
      chmodSync(dataPlace(place), 0o777)
      assert.include((yield* Effect.flip(settle(place))).message, "can be written by other accounts")
    }).pipe(Effect.scoped)
  )

  it.live("are refused if a link replaces the data or the whole folder", () =>
    Effect.gen(function* () {
      const elsewhere = yield* made(0o755)
      const data = yield* closed
      mkdirSync(data.system)
      symlinkSync(elsewhere, dataPlace(data))
      assert.include((yield* Effect.flip(settle(data))).message, "is a symbolic link")
      const whole = yield* closed
      symlinkSync(elsewhere, whole.system)
      assert.include((yield* Effect.flip(settle(whole))).message, "is a symbolic link")
      assert.deepStrictEqual(readdirSync(elsewhere), [])
    }).pipe(Effect.scoped)
  )

  it.live("are refused below a folder in which every account can create files", () =>
    Effect.gen(function* () {
      const open = yield* made(0o1777)
      const place = { folder: join(yield* made(0o700), "data"), system: join(open, "catenet") }
      assert.include((yield* Effect.flip(settle(place))).message, "can be written by other accounts")
    }).pipe(Effect.scoped)
  )

  it.live("are refused where the link of an earlier start leads elsewhere", () =>
    Effect.gen(function* () {
      const place = yield* closed
      const elsewhere = yield* made(0o777)
      symlinkSync(elsewhere, place.folder)
      const failure = yield* Effect.flip(settle(place))
      assert.include(failure.message, `leads to ${elsewhere}`)
    }).pipe(Effect.scoped)
  )

  it.live("hold programs that only root has put there", () =>
    Effect.gen(function* () {
      const place = yield* closed
      const { binaries } = yield* settle(place)
      if (!binaries.home.startsWith(place.system)) return
      const planted = yield* made(0o755)
      cpSync(join(binaries.home, "bin"), join(planted, "bin"), { recursive: true })
      writeFileSync(join(planted, "bin", "initdb"), "#!/bin/sh\ntouch /planted\n", { mode: 0o755 })
      rmSync(binaries.home, { recursive: true })
      symlinkSync(planted, binaries.home)
      assert.include((yield* Effect.flip(settle(place))).message, "is a symbolic link")
    }).pipe(Effect.scoped)
  )
})
