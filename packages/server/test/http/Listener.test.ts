import { untilSuccess } from "@catenet/testing/Eventually"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import { freePort } from "../../../stack/src/Ports.ts"

/** Asks again while no server listens; the first connection that is accepted must be answered. */
const firstAnswer = (url: string) =>
  untilSuccess(
    Effect.tryPromise(() => fetch(url)),
    "60 seconds",
    "1 millis"
  )

layer(TestDatabase.layerEmpty, { excludeTestServices: true, timeout: "60 seconds" })("a server that starts", (it) => {
  it.effect("answers the first request that it accepts, and stops when asked", () =>
    Effect.gen(function* () {
      const port = yield* freePort("127.0.0.1")
      const url = `http://127.0.0.1:${port}/status`
      const scope = yield* Scope.make()
      const starting = Layer.buildWithScope(TestServer.replica({ CT_CONTROL_PLANE_LISTEN: `127.0.0.1:${port}` }), scope)
      const [answer] = yield* Effect.all([firstAnswer(url), starting], { concurrency: "unbounded" })
      assert.include([200, 503], answer.status)
      assert.strictEqual((yield* Effect.promise(() => fetch(url))).status, 200)
      yield* Scope.close(scope, Exit.void)
      yield* Effect.flip(Effect.tryPromise(() => fetch(url)))
    })
  )
})
