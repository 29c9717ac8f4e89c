/** Names whose servers never answer keep no other account waiting. */
import { eventually } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option } from "effect"
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { Settings } from "../../../src/settings/Settings.ts"
import { maxPerAccount, Resolver } from "../../../src/tunnels/hostnames/Resolver.ts"

/** Answers that there is no such name, and names that begin with `silent` not at all. */
const nameServer = Effect.acquireRelease(
  Effect.promise(async () => {
    const asked: Array<string> = []
    const socket = createSocket("udp4")
    socket.on("message", (query, { address, port }) => {
      const label = query.toString("latin1", 13, 13 + (query[12] ?? 0)).toLowerCase()
      asked.push(label)
      if (label.startsWith("silent")) return
      const answer = Buffer.from(query)
      answer.writeUInt16BE(0x8183, 2)
      socket.send(answer, port, address)
    })
    socket.bind(0, "127.0.0.1")
    await once(socket, "listening")
    return { asked, socket, port: socket.address().port }
  }),
  ({ socket }) => Effect.sync(() => socket.close())
)

const record = (name: string) => [{ name: `${name}.example.test`, type: "TXT" as const, value: "proof" }]

describe("look-ups of host names", () => {
  it.live("of one account are two at a time; one of another account is answered beside them", () =>
    Effect.gen(function* () {
      const { asked, port } = yield* nameServer
      const only = { dnsResolvers: [{ host: "127.0.0.1", port }] }
      const settings = Layer.succeed(Settings, only as unknown as Settings["Service"])
      const resolver = yield* Resolver.pipe(Effect.provide(Resolver.layerNoDeps.pipe(Layer.provide(settings))))
      const silent = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 40 }), (_, index) => resolver.look("a", record(`silent${index}`)), {
          concurrency: "unbounded"
        })
      )
      const waiting = () => new Set(asked.filter((label) => label.startsWith("silent"))).size
      yield* Effect.promise(() => eventually(() => waiting() > 0, "the first are asked for"))
      const answer = yield* Effect.timeoutOption(resolver.look("b", record("other")), "1 second")
      assert.deepStrictEqual(answer, Option.some("missing"))
      assert.strictEqual(waiting(), maxPerAccount)
      yield* Fiber.interrupt(silent)
    }).pipe(Effect.scoped)
  )
})
