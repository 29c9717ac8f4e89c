/** The control plane takes many connections in one turn of its event loop, where the system lets sockets share an address. */
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { HttpServer } from "effect/http"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { connect } from "node:net"
import { freePort } from "../../../stack/src/Ports.ts"

/** Sockets of this machine that listen at a port, from the kernel. */
const listening = (port: number) => {
  const address = `:${port.toString(16).toUpperCase().padStart(4, "0")}`
  return readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .filter((line) => line.trim().split(/\s+/)[1]?.endsWith(address) && line.trim().split(/\s+/)[3] === "0A").length
}

const head = "GET /status HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"

/** The first line of the answer on a connection of its own. */
const ask = async (port: number) => {
  const socket = connect({ host: "127.0.0.1", port })
  const heard: Array<Buffer> = []
  socket.on("data", (bytes: Buffer) => heard.push(bytes))
  socket.write(head)
  await once(socket, "close")
  return Buffer.concat(heard).toString().split("\r\n")[0]
}

layer(TestDatabase.layer, { excludeTestServices: true, timeout: "60 seconds" })("the sockets of a server", (it) => {
  const start = (port: number, scope: Scope.Scope) =>
    Layer.buildWithScope(TestServer.replica({ CT_CONTROL_PLANE_LISTEN: `127.0.0.1:${port}` }), scope)

  it.effect.skipIf(process.platform !== "linux")(
    "are sixteen, at a port of its own choice too, and all are served",
    () =>
      Effect.gen(function* () {
        for (const wanted of [yield* freePort("127.0.0.1"), 0]) {
          const scope = yield* Scope.make()
          const { address } = Context.get(yield* start(wanted, scope), HttpServer.HttpServer)
          const port = "port" in address ? address.port : 0
          assert.strictEqual(listening(port), 16)
          const answers = yield* Effect.promise(() => Promise.all(Array.from({ length: 200 }, () => ask(port))))
          assert.deepStrictEqual(new Set(answers), new Set(["HTTP/1.1 200 OK"]))
          yield* Scope.close(scope, Exit.void)
          assert.strictEqual(listening(port), 0)
        }
      })
  )

  it.effect("are not shared with another program", () =>
    Effect.gen(function* () {
      const port = yield* freePort("127.0.0.1")
      const scope = yield* Scope.make()
      yield* start(port, scope)
      const refused = yield* Effect.flip(Effect.scoped(Effect.flatMap(Effect.scope, (own) => start(port, own))))
      assert.match(String(refused), /cannot be opened \(.*EADDRINUSE.*\); move it with CT_CONTROL_PLANE_LISTEN\./u)
      yield* Scope.close(scope, Exit.void)
    })
  )
})
