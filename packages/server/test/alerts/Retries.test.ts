import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { FactsEdge } from "../records/FactsEdge.ts"
import { account } from "../records/World.ts"
import { isSigned, Receiver } from "./Receiver.ts"
import { alerted, here, pretend } from "./World.ts"

layer(here, { excludeTestServices: true, timeout: "60 seconds" })("a delivery that fails", (it) => {
  it.effect("is made again after two and after eight seconds, the same, and follows no redirect", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const receiver = yield* Receiver
      const { id, path, secret, token } = yield* alerted("ada", "cam", "/cam")
      yield* receiver.answer(path, 500, 302)
      yield* edge.tunnel(token, { connected: false })
      yield* pretend(id, 90)
      const attempts = yield* receiver.arrived(path, 3)
      const [one, two, three] = attempts
      assert(one !== undefined && two !== undefined && three !== undefined)
      assert.approximately(two.at - one.at, 2000, 900)
      assert.approximately(three.at - two.at, 8000, 1500)
      assert.isTrue(isSigned(one, secret))
      for (const { body, headers, method } of attempts) {
        assert.deepStrictEqual([method, body, headers], ["POST", one.body, one.headers])
      }
      assert.strictEqual(receiver.arrivals("/elsewhere").length, 0)
      const { tunnelControls } = yield* account("ada")
      const log = yield* tunnelControls.listDeliveries({ params: { id }, query: {} }).pipe(
        Effect.tap((lines) => (lines.length === 0 ? Effect.sleep("20 millis") : Effect.void)),
        Effect.repeat({ until: (lines) => lines.length > 0 }),
        Effect.timeout("5 seconds")
      )
      assert.deepStrictEqual(
        log.map(({ event, status }) => [event, status]),
        [["tunnel.down", "ok"]],
        "three attempts are one delivery"
      )
    })
  )
})
