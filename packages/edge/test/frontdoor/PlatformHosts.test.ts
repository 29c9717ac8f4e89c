import { createServer } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readAll, tlsTo } from "../world/Agent.ts"
import { mintPair, start, temporaryFolder } from "../world/World.ts"

const listening = (server: ReturnType<typeof createServer>) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<number>((resolve) => {
          server.listen(0, "127.0.0.1", () => {
            const address = server.address()
            resolve(typeof address === "object" ? (address?.port ?? 0) : 0)
          })
        })
    ),
    () => Effect.sync(() => server.close())
  )

const say = (port: number, root: string, name: string) =>
  Effect.promise(async () => {
    const visitor = await tlsTo(port, root, name, ["http/1.1"])
    const answer = readAll(visitor)
    visitor.end("hello")
    return (await answer).toString()
  })

describe("hosts of the platform", () => {
  it.live("end TLS with their own certificate and pass plain bytes on, by name and by default", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const pair = mintPair(["portal.example.test"])
      writeFileSync(join(folder, "portal.pem"), pair.cert)
      writeFileSync(join(folder, "portal-key.pem"), pair.key)
      const upstream = yield* listening(
        createServer({ allowHalfOpen: true }, (socket) => {
          void readAll(socket).then((bytes) => socket.end(`portal heard ${bytes.toString()}`))
        })
      )
      const secure = mintPair(["auth.example.test"])
      const identity = yield* listening(
        createTlsServer({ cert: secure.cert, key: secure.key, allowHalfOpen: true }, (socket) => {
          void readAll(socket).then((bytes) => socket.end(`auth heard ${bytes.toString()}`))
        })
      )
      const world = yield* start({
        CT_EDGE_PORTAL_HOST: "Portal.example.test",
        CT_CP_PROXY_ADDR: `127.0.0.1:${upstream}`,
        CT_EDGE_PORTAL_CERT: join(folder, "portal.pem"),
        CT_EDGE_PORTAL_KEY: join(folder, "portal-key.pem"),
        CT_EDGE_AUTH_HOST: "auth.example.test",
        CT_EDGE_AUTH_ADDR: `127.0.0.1:${identity}`
      })
      assert.strictEqual(yield* say(world.frontDoor, pair.root, "portal.example.test"), "portal heard hello")
      assert.strictEqual(yield* say(world.frontDoor, secure.root, "auth.example.test"), "auth heard hello")
    }).pipe(Effect.scoped)
  )
})
