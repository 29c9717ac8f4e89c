/**
 * A program that is a PostgreSQL for one run of the tests: it prints the server's URL, and when its standard input closes
 * it ends the server and removes the data. So nothing is left of a run that was killed either.
 */
import * as DataFolder from "@catenet/testing/stack/postgres/DataFolder"
import { temporaryRoot } from "@catenet/testing/TemporaryRoot"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import * as Cluster from "../../src/postgres/Cluster.ts"
import { outliveReaders, watchParent } from "../../src/supervisor/ParentWatch.ts"

watchParent()
outliveReaders()

Effect.gen(function* () {
  const folder = join(temporaryRoot(), `catenet-test-${randomBytes(8).toString("hex")}`)
  yield* Effect.addFinalizer(() => Effect.sync(() => DataFolder.remove(folder)))
  const cluster = yield* Cluster.start({ folder, disposable: true })
  yield* Console.log(Redacted.value(cluster.url("postgres")))
  return yield* Effect.never
}).pipe(Effect.scoped, NodeRuntime.runMain)
