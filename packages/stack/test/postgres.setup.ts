/**
 * Gives the tests a PostgreSQL in CATENET_TEST_DATABASE_URL: the one that CT_CP_DATABASE_URL names, else a disposable
 * one of our own that ends with the run.
 */
import { Effect, Exit, Redacted, Scope } from "effect"
import { randomBytes } from "node:crypto"
import { realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Cluster from "../src/postgres/Cluster.ts"

export default async () => {
  if (process.env["CATENET_TEST_DATABASE_URL"] !== undefined) return
  const external = process.env["CT_CP_DATABASE_URL"]
  if (external !== undefined) {
    process.env["CATENET_TEST_DATABASE_URL"] = external
    return
  }
  const folder = join(tmpdir(), `catenet-test-${randomBytes(8).toString("hex")}`)
  const scope = Scope.makeUnsafe()
  const cluster = await Effect.runPromise(Cluster.start({ folder, disposable: true }).pipe(Scope.provide(scope)))
  process.env["CATENET_TEST_DATABASE_URL"] = Redacted.value(cluster.url("postgres"))
  return async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    rmSync(realpathSync(folder), { recursive: true, force: true })
    for (const path of [folder, `${folder}.password`, `${folder}.port`]) rmSync(path, { force: true, recursive: true })
    delete process.env["CATENET_TEST_DATABASE_URL"]
  }
}
