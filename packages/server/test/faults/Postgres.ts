/** A PostgreSQL of the test's own that loses nothing it has confirmed, and that can be killed. */
import type { Victim } from "@catenet/testing/server/faults/Program"
import * as DataFolder from "@catenet/testing/stack/postgres/DataFolder"
import { temporaryRoot } from "@catenet/testing/TemporaryRoot"
import { Effect, Exit, type Redacted, Scope, Semaphore } from "effect"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import * as Cluster from "../../../stack/src/postgres/Cluster.ts"

export interface Postgres extends Victim {
  readonly url: (database: string) => Redacted.Redacted
}

export const make = Effect.gen(function* () {
  const folder = join(temporaryRoot(), `catenet-faults-${randomBytes(8).toString("hex")}`)
  yield* Effect.addFinalizer(() => Effect.sync(() => DataFolder.remove(folder)))
  const begin = Effect.gen(function* () {
    const scope = yield* Scope.make()
    const cluster = yield* Effect.orDie(Cluster.start({ folder }).pipe(Scope.provide(scope)))
    return { cluster, end: Scope.close(scope, Exit.void) }
  })
  let running = yield* begin
  yield* Effect.addFinalizer(() => Effect.suspend(() => running.end))
  const one = yield* Semaphore.make(1)
  const strike = Effect.gen(function* () {
    process.kill(running.cluster.pid, "SIGKILL")
    yield* running.cluster.ended
    yield* running.end
    running = yield* begin
  }).pipe(one.withPermits(1))
  return { name: "postgres", url: (database) => running.cluster.url(database), strike } satisfies Postgres
})
