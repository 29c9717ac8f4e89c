import { PipelineId, PipelineSpec } from "@catenet/domain/agents/Pipeline"
import { PipelinePublication } from "@catenet/domain/api/DirectoryApi"
import { bearerOf, ready, server } from "@catenet/testing/server/Accounts"
import { hold, row, type Row } from "@catenet/testing/server/Contract"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { HttpServer } from "effect/http"

const ada = { bearer: "ada" }
const bob = { bearer: "bob" }
const role = { service: "TextGeneration", units: 2, tag: "writer" }
const whole = {
  id: "flappy-demo",
  roles: [
    { ...role, selection_policy: null },
    { service: { Custom: "Art" }, units: 3, tag: "art", selection_policy: "RoundRobin" }
  ],
  operator_pubkey_hex: "11".repeat(32),
  selection_policy: "LeastCalls"
}
const spec = (id: string, roles: ReadonlyArray<unknown> = [role]) => ({ spec: { id, roles } })
const at = (id: string) => ({ at: { id } })
const largest = `{"spec":{"id":"large","roles":[{"service":"SafetyCheck","units":18446744073709551615,"tag":"t"}]}}`

const rows: ReadonlyArray<Row> = [
  row("list", 200, { answer: [] }),
  row("publish", 200, { as: ada, body: { spec: whole } }),
  row("get", 200, { ...at("flappy-demo"), answer: whole }),
  row("publish", 200, { as: ada, body: { spec: { ...whole, id: "a.second" } } }),
  row("publish", 200, { as: ada, body: largest, because: "units reach 2^64-1" }),
  row("publish", "403 NotPipelineOwner", { as: bob, body: spec("flappy-demo") }),
  row("get", 200, { ...at("flappy-demo"), answer: whole, because: "a refusal changes nothing" }),
  row("publish", 200, { as: ada, body: spec("flappy-demo"), because: "the owner replaces it" }),
  row("get", 200, {
    ...at("flappy-demo"),
    answer: {
      id: "flappy-demo",
      roles: [{ ...role, selection_policy: null }],
      operator_pubkey_hex: null,
      selection_policy: "LowestFloor"
    }
  }),
  row("publish", "400 RoleTagRepeated", { as: ada, body: spec("x", [role, role]) }),
  row("publish", "400 RoleWithoutUnits", { as: ada, body: spec("x", [{ ...role, units: 0 }]) }),
  row("publish", "400 RoleTagRepeated", {
    as: bob,
    body: spec("flappy-demo", [role, role]),
    because: "the specification is checked before the owner"
  }),
  row("publish", "400 MalformedRequest", { as: ada, body: spec("no blanks") }),
  row("publish", "422 WrongShape", { as: ada, body: spec("x", []) }),
  row("publish", "422 WrongShape", { as: ada, body: spec("x", [{ ...role, units: -1 }]) }),
  row("publish", "422 WrongShape", { as: ada, body: spec("x", [{ ...role, service: "Magic" }]) }),
  row("publishFor", 200, { as: "operator", body: spec("house") }),
  row("publishFor", 200, { as: "operator", body: { owner: "bob", ...spec("for-bob") } }),
  row("publishFor", "409 PipelineIdTaken", { as: "operator", body: spec("flappy-demo") }),
  row("publishFor", "400 RoleTagRepeated", { as: "operator", body: spec("x", [role, role]) }),
  row("publishFor", "400 RoleWithoutUnits", { as: "operator", body: spec("x", [{ ...role, units: 0 }]) }),
  row("publish", 200, { as: bob, body: spec("for-bob"), because: "an operator published it in his name" }),
  row("list", 200, {
    answer: [
      { id: "a.second", owner: "ada" },
      { id: "flappy-demo", owner: "ada" },
      { id: "for-bob", owner: "bob" },
      { id: "house", owner: "operator" },
      { id: "large", owner: "ada" }
    ]
  }),
  row("list", 200, { query: "?limit=1", answer: [{ id: "a.second", owner: "ada" }] }),
  row("listOwn", 200, { as: bob, answer: [{ id: "for-bob", owner: "bob" }] }),
  row("withdraw", "403 NotPipelineOwner", { as: bob, ...at("flappy-demo") }),
  row("withdraw", "404 PipelineNotFound", { as: bob, ...at("unknown") }),
  row("withdraw", 200, { as: bob, ...at("for-bob") }),
  row("withdraw", "404 PipelineNotFound", { as: bob, ...at("for-bob") }),
  row("withdraw", "400 MalformedRequest", { as: bob, ...at("no%20blanks") }),
  row("publish", 200, { as: ada, body: spec("for-bob"), because: "a withdrawn id is free" }),
  row("get", "404 PipelineNotFound", { ...at("unknown") }),
  row("get", "400 MalformedRequest", { ...at("no%20blanks") })
]

const wanted = (tag: string) =>
  Schema.decodeUnknownSync(PipelineSpec)({ id: "wanted", roles: [{ service: "TextGeneration", units: 1, tag }] })

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("pipelines", (it) => {
  it.effect("answer as declared", () => hold("pipelines", ada, rows))

  it.effect("an id belongs to one of the accounts that publish under it at once, over two replicas", () =>
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
          Effect.match(pipelines.publish({ payload: new PipelinePublication({ spec: wanted(`by-${n}`) }) }), {
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
      const listed = yield* pipelines.list({ query: {} })
      assert.strictEqual(listed.find(({ id }) => id === "wanted")?.owner as string, `account-${n}`)
      const published = yield* pipelines.get({ params: { id: PipelineId.make("wanted") } })
      assert.strictEqual(published.roles[0]?.tag as string, `by-${n}`)
    }).pipe(Effect.scoped)
  )
})
