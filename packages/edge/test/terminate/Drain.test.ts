/** An edge that is asked to stop while many visitors keep their connections busy. `CT_DRAIN_VISITORS` says how many. */
import { servingAgent, slotAgent } from "@catenet/testing/edge/Agent"
import { eventually, start, token } from "@catenet/testing/edge/TestEdge"
import { onThisMachine } from "@catenet/testing/Promptness"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Result, Scope } from "effect"
import { createServer } from "node:http"
import { connect, constants } from "node:http2"
import { Agent as HttpsAgent, get } from "node:https"

const visitors = Number(process.env["CT_DRAIN_VISITORS"] ?? 100)
const T = token("1")
const host = "app.zone.test"
const origin = createServer((_, response) => response.end("hi"))

it.live("visitors that keep asking hear that their connections end, within 2 s, and none is reset", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const world = yield* Scope.provide(
      start({ CT_EDGE_SHUTDOWN_GRACE_SECS: "30", CT_EDGE_DRAIN_DELAY_SECS: "1" }),
      scope
    )
    yield* Effect.promise(() => world.authorize(T, host, "gelb"))
    yield* servingAgent(world, T, [host], (stream) => void origin.emit("connection", stream))
    const ends = new Map<string, number>()
    const ended = (how: string) => void ends.set(how, (ends.get(how) ?? 0) + 1)
    const served = new Set<number>()
    const tls = { host: "127.0.0.1", port: world.frontDoor, servername: host, ca: world.wildcardRoot }

    const ask = (agent: HttpsAgent) =>
      new Promise<boolean>((resolve, reject) => {
        get({ ...tls, agent, headers: { host } }, (response) => {
          response.resume()
          response.on("end", () => resolve(response.headers.connection === "close"))
          response.on("error", reject)
        }).on("error", reject)
      })
    const stays = async (n: number) => {
      const agent = new HttpsAgent({ keepAlive: true, maxSockets: 1 })
      for (;;)
        try {
          const closes = await ask(agent)
          served.add(n)
          if (closes) return ended("said to close")
          await new Promise((resolve) => setTimeout(resolve, 100))
        } catch (error) {
          return ended(String(Reflect.get(Object(error), "code")))
        }
    }
    const staysByHttp2 = async (n: number) => {
      const session = connect(`https://${host}`, tls)
      const heard = new Set<number>()
      session.on("goaway", (code) => heard.add(code)).on("error", () => undefined)
      const request = () =>
        new Promise<void>((resolve, reject) => {
          const stream = session.request({ ":path": "/", ":authority": host })
          stream.resume().on("end", resolve).on("error", reject)
        })
      while (heard.size === 0)
        try {
          await request()
          served.add(n)
          await new Promise((resolve) => setTimeout(resolve, 100))
        } catch (error) {
          return ended(
            heard.has(constants.NGHTTP2_NO_ERROR) ? "said GOAWAY" : String(Reflect.get(Object(error), "code"))
          )
        }
      session.close()
      return ended(heard.has(constants.NGHTTP2_NO_ERROR) ? "said GOAWAY" : "another GOAWAY")
    }
    const all = Array.from({ length: visitors }, (_, n) => (n % 4 === 3 ? staysByHttp2(n) : stays(n)))
    yield* Effect.promise(() => eventually(() => served.size === visitors, "they are served", 60_000))
    const began = performance.now()
    const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void))
    const healthz = () =>
      fetch(`http://127.0.0.1:${world.bound.metrics?.port}/healthz`).then(({ status }) => status === 503)
    yield* Effect.promise(() => eventually(healthz, "not ready"))
    assert.strictEqual(ends.size, 0, "meanwhile visitors are served")
    yield* stopping.pipe((fiber) =>
      Effect.promise(() => new Promise<void>((resolve) => fiber.addObserver(() => resolve())))
    )
    const took = performance.now() - began
    yield* Effect.promise(() => Promise.all(all))
    const http2 = Math.floor(visitors / 4)
    assert.deepStrictEqual(Object.fromEntries(ends), { "said to close": visitors - http2, "said GOAWAY": http2 })
    assert.isAtLeast(took, 1_000)
    assert.isBelow(took, onThisMachine(3_000))
  }).pipe(Effect.scoped)
)

it.live(
  "an edge that is about to stop takes slots that come back, so that every visitor before it drains is served",
  () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const world = yield* Scope.provide(start({ CT_EDGE_DRAIN_DELAY_SECS: "2" }), scope)
      yield* Effect.promise(() => world.authorize(T, host, "gelb"))
      const waiting = Effect.fnUntraced(function* () {
        const { parked } = yield* slotAgent(world, T, "L", host)
        if (Result.isFailure(parked)) return yield* Effect.die(new Error(`refused: ${parked.failure.reason}`))
        const taken = yield* Effect.promise(() => parked.success.taken)
        if (Result.isSuccess(taken)) yield* Effect.sync(() => void origin.emit("connection", taken.success))
        // The visit goes on while the next slot waits.
        yield* Effect.forkScoped(Effect.never)
      })
      const agents = yield* Effect.forkScoped(
        Effect.forEach([1, 2, 3], () => Effect.forever(waiting()), { concurrency: 3, discard: true })
      )
      const ask = () =>
        new Promise<number | string | undefined>((resolve) => {
          const tls = { host: "127.0.0.1", port: world.frontDoor, servername: host, ca: world.wildcardRoot }
          get({ ...tls, agent: false, headers: { host } }, (response) => {
            response.resume().on("end", () => resolve(response.statusCode))
          }).on("error", (error) => resolve(error.message))
        })
      yield* Effect.promise(() => eventually(async () => (await ask()) === 200, "a visitor is served"))
      const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      const answers: Array<number | string | undefined> = []
      for (const until = performance.now() + 1_500; performance.now() < until;) answers.push(yield* Effect.promise(ask))
      assert.deepStrictEqual(
        answers.filter((answer) => answer !== 200),
        []
      )
      assert.isAbove(answers.length, 10)
      yield* Fiber.interrupt(agents)
      yield* Fiber.join(stopping)
    }).pipe(Effect.scoped)
)
