import { server } from "@catenet/testing/server/Accounts"
import { ask, person } from "@catenet/testing/server/channels/Asking"
import { headersOf } from "@catenet/testing/server/Contract"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { openStream } from "./EventStream.ts"

const open = (headers: Readonly<Record<string, string>>, ids: ReadonlyArray<string>) =>
  openStream(`/portal/events?tunnels=${ids.join(",")}`, headers)

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("events of the portal", (it) => {
  it.effect("tell an account the states of its own tunnels, in the language of the page", () =>
    Effect.gen(function* () {
      const [fay, bob] = [person("events-fay"), person("events-bob")]
      const id = String((yield* ask(fay, "/me/tunnels", { name: "cam" })).body["id"])
      const foreign = String((yield* ask(bob, "/me/tunnels", { name: "his" })).body["id"])
      const headers = yield* headersOf(fay)
      const stream = yield* open({ ...headers, "accept-language": "de" }, [foreign, "nonsense", id])
      assert.deepStrictEqual([stream.status, stream.type], [200, "text/event-stream"])
      const text = yield* stream.until("\n\nevent: state\ndata: ")
      assert.include(
        text,
        `{"id":"${id}","state":"unknown","text":"Derzeit unbekannt: Der Edge antwortet nicht.","word":"Nicht gemessen"}`
      )
      assert.notInclude(text, foreign)
    }).pipe(Effect.scoped)
  )

  it.effect("are for sessions only, six at once for each", () =>
    Effect.gen(function* () {
      const refused = yield* open({}, [])
      assert.strictEqual(refused.status, 401)
      const headers = yield* headersOf(person("events-gus"))
      for (let n = 0; n < 6; n++) {
        const stream = yield* open(headers, [])
        assert.strictEqual(stream.status, 200)
        yield* stream.until(":\n\n")
      }
      assert.strictEqual((yield* open(headers, [])).status, 429)
      const other = yield* headersOf(person("events-gus"))
      assert.strictEqual((yield* open(other, [])).status, 200)
    }).pipe(Effect.scoped)
  )
})
