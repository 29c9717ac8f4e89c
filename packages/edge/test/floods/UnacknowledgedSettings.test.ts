import { mutate, random } from "@catenet/testing/edge/fuzz/Mutation"
import { http2 } from "@catenet/testing/edge/fuzz/Samples"
import { eventually, start, token } from "@catenet/testing/edge/TestEdge"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { Socket } from "node:net"
import { Clients } from "../fuzz/Clients.ts"
import { megabytes } from "../fuzz/OpenSockets.ts"

const tunnelHost = "app.zone.test"
const visitorCount = 150
/** The others are cut after some seconds. */
const closedCount = 100

/** The accepted sockets that have closed, as far as anything else keeps them. */
const closedSockets = Effect.acquireRelease(
  Effect.sync(() => {
    const closed: Array<WeakRef<Socket>> = []
    const seen = (message: unknown) => {
      if (typeof message !== "object" || message === null || !("socket" in message)) return
      const { socket } = message
      if (socket instanceof Socket) socket.once("close", () => closed.push(new WeakRef(socket)))
    }
    subscribe("net.server.socket", seen)
    return { closed, seen }
  }),
  ({ seen }) => Effect.sync(() => void unsubscribe("net.server.socket", seen))
)

it.live("HTTP/2 visitors that break the protocol and never acknowledge the settings leave nothing behind", () =>
  Effect.gen(function* () {
    const world = yield* start()
    yield* Effect.promise(() => world.authorize(token("1"), tunnelHost, "gelb"))
    const { closed } = yield* closedSockets
    const clients = new Clients()
    const target = {
      port: world.frontDoor,
      ca: world.wildcardRoot,
      name: tunnelHost,
      alpn: ["h2"],
      lowest: "TLSv1.2"
    } as const
    const visit = async (seed: number) => {
      const chance = random(seed)
      await clients.tls(target, mutate(http2(tunnelHost), chance), { kind: "HTTP/2", seed, chance })
    }
    yield* Effect.promise(() => Promise.all(Array.from({ length: visitorCount }, (_, index) => visit(index + 1))))
    yield* Effect.promise(() => eventually(() => closed.length >= closedCount, "they are gone"))
    yield* Effect.promise(megabytes)
    assert.isBelow(closed.filter((socket) => socket.deref() !== undefined).length, closedCount / 20)
  }).pipe(Effect.scoped)
)
