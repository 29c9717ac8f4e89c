import { TLSSocket } from "node:tls"
import { queryObjects } from "node:v8"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Clients } from "../fuzz/Clients.ts"
import { mutate, random } from "../fuzz/Mutation.ts"
import { http2 } from "../fuzz/Samples.ts"
import { eventually, start, token } from "../world/World.ts"

const HOST = "app.zone.test"
const VISITORS = 150
/** Some are only cut after a few seconds. */
const OPEN = 5

it.live("HTTP/2 visitors that break the protocol and never acknowledge the settings leave nothing behind", () =>
  Effect.gen(function* () {
    const world = yield* start()
    yield* Effect.promise(() => world.authorise(token("1"), HOST, "gelb"))
    const clients = new Clients()
    const target = {
      port: world.frontDoor,
      ca: world.wildcardRoot,
      name: HOST,
      alpn: ["h2"],
      lowest: "TLSv1.2"
    } as const
    const visit = async (seed: number) => {
      const chance = random(seed)
      await clients.tls(target, mutate(http2(HOST), chance), { kind: "HTTP/2", seed, chance })
    }
    yield* Effect.promise(() => visit(0))
    yield* Effect.promise(() => Promise.all(Array.from({ length: VISITORS }, (_, index) => visit(index + 1))))
    const leftOpen = async () => (await world.metrics())["ct_edge_connections"]
    yield* Effect.promise(() => eventually(async () => ((await leftOpen()) ?? 0) <= OPEN, "they are gone", 10_000))
    assert.isBelow(queryObjects(TLSSocket, { format: "count" }), OPEN + VISITORS / 15)
  }).pipe(Effect.scoped)
)
