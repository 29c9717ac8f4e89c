/** A service of this machine is found at either of its two addresses. */
import { eventually } from "@catenet/testing/Eventually"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger } from "effect"
import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { freePort } from "../../../stack/src/Ports.ts"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import * as Origin from "../../src/tunnel/Origin.ts"
import * as OriginConnections from "../../src/tunnel/OriginConnections.ts"
import { plainOrigin } from "../harness/Origins.ts"

describe("an origin at localhost", () => {
  it.live.each(["127.0.0.1", "::1"])("is reached where it listens at %s alone", (host) =>
    Effect.gen(function* () {
      const server = createServer((socket) => void socket.on("error", () => {})).listen(0, host)
      yield* Effect.promise(() => once(server, "listening"))
      const { port } = server.address() as AddressInfo
      const socket = yield* Origin.dial({ host: "localhost", port })
      assert.strictEqual(socket.remoteAddress, host)
      socket.destroy()
      server.close()
    })
  )

  it.live("that does not listen yet is waited for, and both are logged", () =>
    Effect.gen(function* () {
      const port = yield* freePort("127.0.0.1")
      const lines: Array<string> = []
      const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
      const waiting = yield* Effect.forkChild(
        OriginConnections.open(plainOrigin(port, "localhost")).pipe(
          Effect.flatMap(OriginConnections.awaitService),
          Effect.provide([Logger.layer([logger]), AgentMetrics.layer, NodeFileSystem.layer])
        )
      )
      yield* Effect.promise(() => eventually(() => lines.length === 1, "the warning"))
      const server = createServer((socket) => void socket.on("error", () => {})).listen(port, "127.0.0.1")
      yield* Fiber.join(waiting)
      assert.match(lines.join("\n"), /nothing listens at localhost:\d+ yet.*\n.*answers now/u)
      server.close()
    })
  )

  it.live("is refused where nothing listens at either", () =>
    Effect.gen(function* () {
      const { code } = yield* Effect.flip(Origin.dial({ host: "localhost", port: 1 }))
      assert.strictEqual(code, "ECONNREFUSED")
    })
  )
})
