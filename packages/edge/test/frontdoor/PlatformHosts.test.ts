import { readAll, tlsTo } from "@catenet/testing/edge/Agent"
import { mintPair, start, temporaryFolder } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { createServer as createTlsServer } from "node:tls"

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

  it.live("send a PROXY header with the visitor's address, where the upstream wants one", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const pair = mintPair(["portal.example.test"])
      writeFileSync(join(folder, "portal.pem"), pair.cert)
      writeFileSync(join(folder, "portal-key.pem"), pair.key)
      const secure = mintPair(["auth.example.test"])
      const heard: Array<Buffer> = []
      const upstream = yield* listening(
        createServer({ allowHalfOpen: true }, (socket) => {
          let bytes = Buffer.alloc(0)
          socket
            .on("error", () => {})
            .on("data", (chunk: Buffer) => {
              bytes = Buffer.concat([bytes, chunk])
              // A visitor's own TLS is not answered here.
              if (bytes.includes("hello")) socket.end("heard")
              else if (bytes.length > 100) socket.destroy()
            })
          socket.on("close", () => heard.push(bytes))
        })
      )
      const world = yield* start({
        CT_EDGE_PORTAL_HOST: "portal.example.test",
        CT_CP_PROXY_ADDR: `127.0.0.1:${upstream}`,
        CT_EDGE_PORTAL_CERT: join(folder, "portal.pem"),
        CT_EDGE_PORTAL_KEY: join(folder, "portal-key.pem"),
        CT_EDGE_PORTAL_PROXY_PROTOCOL: "1",
        CT_EDGE_AUTH_HOST: "auth.example.test",
        CT_EDGE_AUTH_ADDR: `127.0.0.1:${upstream}`,
        CT_EDGE_AUTH_PROXY_PROTOCOL: "1"
      })
      assert.strictEqual(yield* say(world.frontDoor, pair.root, "portal.example.test"), "heard")
      // Without a certificate the visitor's own TLS follows the header.
      yield* Effect.ignore(Effect.tryPromise(() => tlsTo(world.frontDoor, secure.root, "auth.example.test")))
      const [portal, auth] = heard
      assert.match(portal?.toString("hex") ?? "", /^0d0a0d0a000d0a515549540a2111000c7f0000017f000001\w{8}68656c6c6f$/)
      assert.match(auth?.toString("hex") ?? "", /^0d0a0d0a000d0a515549540a2111000c7f0000017f000001\w{8}1603/)
    }).pipe(Effect.scoped)
  )
})
