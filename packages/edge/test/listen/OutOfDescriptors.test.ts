import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { connect } from "node:net"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const Line = Schema.fromJsonString(
  Schema.Struct({ what: Schema.String, port: Schema.Int, stalled: Schema.Array(Schema.String), cpu: Schema.Int })
)

const program = Effect.acquireRelease(
  Effect.sync(() => {
    const path = fileURLToPath(new URL("OutOfDescriptors.ts", import.meta.url))
    return spawn("sh", ["-c", `ulimit -n 64; exec "$0" "$1"`, process.execPath, path], {
      stdio: ["pipe", "pipe", "inherit"]
    })
  }),
  (child) => Effect.sync(() => child.kill("SIGKILL"))
)

/** What a visitor hears until its connection is closed. */
const visit = (port: number) =>
  new Promise<string>((resolve) => {
    let heard = ""
    const socket = connect({ host: "127.0.0.1", port })
    socket.on("error", () => undefined)
    socket.on("data", (chunk) => {
      heard += chunk.toString()
    })
    socket.on("close", () => resolve(heard))
  })

it.live("a listener without descriptors refuses every connection, reports it without a busy loop, and recovers", () =>
  Effect.gen(function* () {
    const child = yield* program
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    const next = () => Effect.promise(async () => Schema.decodeUnknownSync(Line)((await lines.next()).value))
    const goOn = Effect.sync(() => child.stdin.write("\n"))
    const up = yield* next()
    assert.deepStrictEqual(up.stalled, [])
    assert.strictEqual(yield* Effect.promise(() => visit(up.port)), "served")
    yield* goOn
    const exhausted = yield* next()
    assert.deepStrictEqual(exhausted.stalled, ["front-door"])
    const heard = yield* Effect.promise(() => Promise.all(Array.from({ length: 100 }, () => visit(exhausted.port))))
    assert.deepStrictEqual(new Set(heard), new Set([""]))
    yield* goOn
    const still = yield* next()
    assert.deepStrictEqual(still.stalled, ["front-door"])
    assert.isBelow(still.cpu - exhausted.cpu, 500_000, "microseconds of work for a hundred visitors")
    yield* goOn
    const recovered = yield* next()
    assert.deepStrictEqual(recovered.stalled, [])
    assert.strictEqual(yield* Effect.promise(() => visit(recovered.port)), "served")
    yield* goOn
    yield* Effect.promise(() => once(child, "exit"))
    assert.strictEqual(child.exitCode, 0)
  }).pipe(Effect.scoped)
)
