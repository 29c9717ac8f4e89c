import { servingAgent } from "@catenet/testing/edge/Agent"
import { start, temporaryFolder, token } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { visits } from "../../src/up/Programs.ts"
import * as Settings from "../../src/up/Settings.ts"
import * as StackFolder from "../../src/up/StackFolder.ts"

const T = token("1")
const helloHost = "hello.zone.test"

describe("the demo tunnel", () => {
  it.live("counts as serving when a visitor gets the closed-window page, and not while its agent is away", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(T, helloHost, "gelb"))
      const settings = yield* Settings.read.pipe(Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({}))))
      const folder = StackFolder.at(yield* temporaryFolder)
      const root = join(yield* temporaryFolder, "root.pem")
      writeFileSync(root, world.wildcardRoot)
      const ready = visits(
        { ...settings, frontDoor: { ...settings.frontDoor, host: "127.0.0.1", port: world.frontDoor } },
        { ...folder, developmentRoot: root },
        helloHost
      )
      assert.strictEqual((yield* Effect.flip(ready)).cause, 502)
      yield* servingAgent(world, T, [helloHost], (stream) => {
        stream.once("data", () => stream.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
      })
      yield* ready
      const headers = { "x-ct-routing-token": T }
      yield* Effect.promise(() =>
        world.admin("POST", "/internal/tunnel/access-policy", { headers, body: { expires_at: 1 } })
      )
      yield* ready
    }).pipe(Effect.scoped)
  )
})
