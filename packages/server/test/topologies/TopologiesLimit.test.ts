import * as Accounts from "@catenet/testing/server/Accounts"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as FactsServer from "../tunnels/records/FactsServer.ts"

layer(Accounts.server({}), { excludeTestServices: true, timeout: "60 seconds" })("topologies of an account", (it) => {
  it.effect("are at most a hundred, however many are created at once", () =>
    Effect.gen(function* () {
      const { topologies } = yield* FactsServer.account("drawer")
      const create = Effect.result(topologies.create({ headers: {} }))
      const made = yield* Effect.replicateEffect(create, 104, { concurrency: 8 })
      const refused = made.flatMap((each) => (each._tag === "Failure" ? [each.failure] : []))
      assert.strictEqual(made.length - refused.length, 100)
      assert.isTrue(refused.every((each) => each._tag === "TopologyLimitReached"))
      const [first] = yield* topologies.list({ query: {} })
      yield* topologies.remove({ params: { id: first!.id } })
      assert.strictEqual((yield* create)._tag, "Success")
      assert.strictEqual((yield* create)._tag, "Failure")
      const { topologies: ofAnother } = yield* FactsServer.account("another")
      assert.strictEqual((yield* Effect.result(ofAnother.create({ headers: {} })))._tag, "Success")
    })
  )
})
