import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Settings } from "../../src/settings/Settings.ts"
import { backup, restore } from "../../src/store/Backup.ts"

const folder = mkdtempSync(join(tmpdir(), "catenet-backup-"))
const cleaned = Layer.effectDiscard(
  Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
)

/** A database with settings that name it. */
const at = (url: Redacted.Redacted, bin?: string) =>
  Layer.fresh(
    Layer.mergeAll(
      PgClient.layer({ url, maxConnections: 2 }),
      Settings.layer.pipe(
        Layer.provide(
          ConfigProvider.layer(
            ConfigProvider.fromUnknown({
              CT_CP_DATABASE_URL: Redacted.value(url),
              ...(bin === undefined ? {} : { CT_CP_PG_BIN: bin })
            })
          )
        )
      )
    )
  )

/** A program that reports a version, and writes to the given place, or runs the given script. */
const pretending = (version: string, instead = "") => {
  const bin = mkdtempSync(join(folder, "bin-"))
  for (const name of ["pg_dump", "pg_restore"]) {
    const says = `[ "$1" = --version ] && { echo "${name} (PostgreSQL) ${version}"; exit 0; }`
    const writes = `for each in "$@"; do case $each in --file=*) echo dump > "\${each#--file=}";; esac; done`
    writeFileSync(join(bin, name), `#!/bin/sh\n${says}\n${instead}\n${writes}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  return bin
}

const installed = () => {
  try {
    return Number(/(\d+)\./.exec(execFileSync("pg_dump", ["--version"], { encoding: "utf8" }))?.[1] ?? 0)
  } catch {
    return 0
  }
}

layer(Layer.merge(TestDatabase.layer, cleaned), { excludeTestServices: true, timeout: "60 seconds" })(
  "a backup",
  (it) => {
    it.effect("is refused in a sentence where the tools are absent, older than the server, or fail", () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const file = join(folder, "never")
        const aFile = join(folder, "a file")
        writeFileSync(aFile, "")
        for (const [bin, sentence] of [
          [join(folder, "nowhere"), "cannot be run (ENOENT); install the client programs"],
          [aFile, "cannot be run (ENOTDIR); install the client programs"],
          [pretending("9.6.1"), "is of PostgreSQL 9"]
        ] as const) {
          const refusal = yield* Effect.flip(Effect.provide(backup(file), at(url, bin)))
          assert.strictEqual(refusal._tag, "BackupRefused")
          assert.include(refusal.message, sentence)
          assert.notInclude(refusal.message, new URL(Redacted.value(url)).password || "no password")
        }
        assert.isFalse(existsSync(file))
      })
    )

    it.effect("is its owner's alone, and takes the place of an older one only when it is whole", () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const file = join(folder, "kept")
        writeFileSync(file, "older", { mode: 0o644 })
        const failed = backup(file).pipe(Effect.provide(at(url, pretending("99.1", "echo no space >&2; exit 1"))))
        assert.include((yield* Effect.flip(failed)).message, "pg_dump failed: no space; nothing is changed.")
        assert.strictEqual(readFileSync(file, "utf8"), "older")
        yield* Effect.provide(backup(file), at(url, pretending("99.1")))
        assert.strictEqual(readFileSync(file, "utf8"), "dump\n")
        assert.strictEqual(statSync(file).mode & 0o777, 0o600)
        assert.isFalse(existsSync(`${file}.part`))
        const nowhere = backup(join(folder, "nowhere", "file")).pipe(Effect.provide(at(url, pretending("99.1"))))
        assert.include((yield* Effect.flip(nowhere)).message, "cannot be written")
      })
    )

    it.effect("is not poured over a database that holds tables", () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const refusal = yield* Effect.flip(Effect.provide(restore(join(folder, "any")), at(url)))
        assert.include(refusal.message, "not empty")
      })
    )

    it.effect("brings everything back into an empty database (needs pg_dump as new as the server)", (context) =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase
        const sql = yield* Effect.map(Layer.build(at(url)), (built) => built)
        const version = yield* SqlClient.SqlClient.use(
          (client) => client<{ v: string }>`select current_setting('server_version') as v`
        ).pipe(Effect.provide(sql))
        if (installed() < Number.parseInt(version[0]?.v ?? "0", 10)) context.skip("pg_dump is absent or too old")
        yield* SqlClient.SqlClient.use(
          (client) => client`insert into audit_log (actor, action, target, detail, at) values ('a', 'kept', 't', '', 1)`
        ).pipe(Effect.provide(sql))
        const file = join(folder, "whole")
        yield* Effect.provide(backup(file), sql)
        assert.isAbove(statSync(file).size, 1000)

        const empty = yield* Layer.build(Layer.fresh(TestDatabase.layerEmpty))
        const target = yield* Effect.provide(TestDatabase, empty)
        const there = yield* Layer.build(at(target.url))
        yield* Effect.provide(restore(file), there)
        const rows = yield* SqlClient.SqlClient.use((client) => client`select action from audit_log`).pipe(
          Effect.provide(there)
        )
        assert.deepStrictEqual(rows, [{ action: "kept" }])
        const change = SqlClient.SqlClient.use((client) => client`delete from audit_log`).pipe(Effect.provide(there))
        assert.strictEqual((yield* Effect.flip(change))._tag, "SqlError")
        assert.include((yield* Effect.flip(Effect.provide(restore(file), there))).message, "not empty")
      })
    )
  }
)
