import { server } from "@catenet/testing/server/Accounts"
import { account, ask } from "@catenet/testing/server/channels/Asking"
import { idOf, keyOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"

const ada = account("ada")

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("a member that the body does not have", (it) => {
  it.effect("is refused by name at our own routes, and nothing is changed", () =>
    Effect.gen(function* () {
      const unknown = yield* ask(ada, "/me/tunnels", { name: "cam", kind: "sctp", colour: "red" })
      assert.strictEqual(unknown.status, 422)
      assert.deepInclude(unknown.body, { code: "WrongShape" })
      assert.sameDeepMembers(
        (unknown.body["errors"] as ReadonlyArray<{ path: unknown }>).map(({ path }) => path),
        [["kind"], ["colour"]]
      )
      assert.deepEqual<unknown>((yield* ask(ada, "/me/tunnels")).body, [])
      assert.strictEqual((yield* ask(ada, "/me/tunnels", { name: "cam" })).status, 200)
    })
  )

  it.effect("is ignored in bodies of the contract", () =>
    Effect.gen(function* () {
      const registration = { channel: idOf("lenient"), operator_pubkey: keyOf("operator"), colour: "red" }
      assert.strictEqual((yield* ask(ada, "/me/channels", registration)).status, 200)
    })
  )
})
