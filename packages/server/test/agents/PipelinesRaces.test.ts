import { PipelineId, PipelineSpec } from "@catenet/domain/agents/Pipeline"
import { PipelinePublication } from "@catenet/domain/api/DirectoryApi"
import { bearerOf, ready, server } from "@catenet/testing/server/Accounts"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { HttpServer } from "effect/http"

const spec = (id: string, tag: string) =>
  Schema.decodeUnknownSync(PipelineSpec)({ id, roles: [{ service: "TextGeneration", units: 1, tag }] })

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("a pipeline's id", (it) => {
  it.effect("belongs to one of the accounts that publish under it at once, over two replicas", () =>
    Effect.gen(function* () {
      const { issuer } = yield* TestIssuer
      const replica = yield* Layer.build(TestServer.replica({ CT_OIDC_ISSUER: issuer }))
      const second = Context.get(replica, HttpServer.HttpServer)
      const accounts = yield* Effect.forEach(Array.from({ length: 10 }), (_, n) =>
        Effect.gen(function* () {
          const bearer = yield* bearerOf(`account-${n}`)
          const near = yield* TestServer.clientAs({ bearer })
          const far = yield* Effect.provideService(TestServer.clientAs({ bearer }), HttpServer.HttpServer, second)
          return [near.pipelines, far.pipelines] as const
        })
      )
      yield* Effect.provideService(ready, HttpServer.HttpServer, second)

      const outcomes = yield* Effect.forEach(
        accounts.flatMap((replicas, n) => replicas.map((pipelines) => ({ n, pipelines }))),
        ({ n, pipelines }) =>
          Effect.match(pipelines.publish({ payload: new PipelinePublication({ spec: spec("wanted", `by-${n}`) }) }), {
            onSuccess: () => ({ n, won: true }),
            onFailure: ({ _tag }) => {
              assert.strictEqual(_tag, "NotPipelineOwner")
              return { n, won: false }
            }
          }),
        { concurrency: "unbounded" }
      )
      const winners = new Set(outcomes.filter(({ won }) => won).map(({ n }) => n))
      assert.strictEqual(winners.size, 1, "both requests of one account, and of no other")
      const [n] = winners
      const { pipelines } = yield* TestServer.client
      assert.deepStrictEqual(
        (yield* pipelines.list({ query: {} })).map(({ owner }) => owner as string),
        [`account-${n}`]
      )
      const published = yield* pipelines.get({ params: { id: PipelineId.make("wanted") } })
      assert.strictEqual(published.roles[0]?.tag as string, `by-${n}`)
    }).pipe(Effect.scoped)
  )
})
