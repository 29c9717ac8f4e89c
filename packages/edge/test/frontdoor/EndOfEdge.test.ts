/** What the fibers of connections did, connections do without: they end with their edge, wherever they stand. */
import { readUntil, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { helloFor } from "@catenet/testing/edge/Hello"
import { start, token } from "@catenet/testing/edge/TestEdge"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { connect, type Socket } from "node:net"

const host = "app.zone.test"

const gone = (socket: Socket) =>
  new Promise<void>((resolve) => {
    socket.on("error", () => undefined)
    if (socket.closed || socket.readableEnded) resolve()
    for (const event of ["end", "close"]) socket.once(event, () => resolve())
    socket.resume()
  })

it.live("connections end with their edge: silent ones, those in a handshake, and those that are served", () =>
  Effect.gen(function* () {
    const life = yield* Scope.make()
    const world = yield* start().pipe(Scope.provide(life))
    yield* Effect.promise(() => world.authorize(token("1"), host, "gelb"))
    yield* servingAgent(world, token("1"), [host]).pipe(Scope.provide(life))
    const sockets = yield* Effect.promise(async () => {
      const raw = () => connect(world.frontDoor, "127.0.0.1")
      const [silent, half] = [raw(), raw()]
      half.write(await helloFor(host, ["http/1.1"]))
      // Its answer says that the handshake has begun.
      await new Promise((resolve) => half.once("data", resolve))
      const secure = await tlsTo(world.frontDoor, world.wildcardRoot, host, ["http/1.1"])
      const served = await tlsTo(world.frontDoor, world.wildcardRoot, host)
      served.write("\x00served")
      await readUntil(served, "served")
      return { silent, half, secure, served }
    })
    yield* Scope.close(life, Exit.void)
    for (const [name, socket] of Object.entries(sockets)) {
      yield* Effect.promise(() => gone(socket)).pipe(
        Effect.timeoutOrElse({ duration: "5 seconds", orElse: () => Effect.sync(() => assert.fail(`${name} stays`)) })
      )
    }
  })
)
