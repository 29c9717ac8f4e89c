import { Email } from "@catenet/domain/Email"
import { TunnelChange } from "@catenet/domain/Tunnel"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { gated, portal } from "../../../server/test/gate/World.ts"
import { ask, browser, edge, origin, serve, world } from "./World.ts"

const email = Schema.decodeSync(Email)

layer(world, { excludeTestServices: true, timeout: "120 seconds" })("the login gate of the edge", (it) => {
  it.effect("sends visitors to sign in and back, names them to the origin, and forgets nobody's host", () =>
    Effect.gen(function* () {
      const { id, tunnels } = yield* gated("cam.zone.test")
      yield* tunnels.allowVisitor({ params: { id }, payload: { email: email("vera@example.test") } })
      const at = yield* edge({ CT_EDGE_PROCESSES: "2" })
      const { port } = yield* origin
      yield* serve(at, id, "cam.zone.test", port)
      const vera = browser(() => at)
      const anonymous = yield* vera.get("https://cam.zone.test/photos?year=2026")
      assert.strictEqual(anonymous.status, 302)
      const seen = yield* vera.visit("https://cam.zone.test/photos?year=2026", "vera@example.test")
      assert.strictEqual(seen.at, "https://cam.zone.test/photos?year=2026")
      assert.strictEqual(seen.status, 200)
      void portal
      void TunnelChange
      void ask
    }).pipe(Effect.scoped)
  )
})
