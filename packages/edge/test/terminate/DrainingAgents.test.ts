/** An agent that takes no more streams, with visitors who keep their connections. */
import { servingAgent } from "@catenet/testing/edge/Agent"
import { eventually, start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type RequestListener } from "node:http"
import { connect } from "node:http2"
import { Agent as HttpsAgent, get } from "node:https"

const T = token("7")
const host = "app.zone.test"

const gelb = Effect.gen(function* () {
  const world = yield* start()
  yield* Effect.promise(() => world.authorize(T, host, "gelb"))
  return world
})

/** An agent in front of a real HTTP server that keeps connections. */
const agentOf = (world: TestEdge, listener: RequestListener) => {
  const server = createServer({ keepAliveTimeout: 60_000 }, listener)
  return servingAgent(world, T, [host], (stream) => void server.emit("connection", stream))
}

const tls = (world: TestEdge) => ({
  host: "127.0.0.1",
  port: world.frontDoor,
  servername: host,
  ca: world.wildcardRoot
})

const keeping = Effect.acquireRelease(
  Effect.sync(() => new HttpsAgent({ keepAlive: true, maxSockets: 1 })),
  (agent) => Effect.sync(() => agent.destroy())
)

const ask = (world: TestEdge, agent: HttpsAgent, path = "/") =>
  new Promise<{ body: string; connection: string | undefined }>((resolve, reject) => {
    get({ ...tls(world), agent, path, headers: { host } }, (response) => {
      let body = ""
      response.on("data", (chunk: Buffer) => (body += String(chunk)))
      response.on("end", () => resolve({ body, connection: response.headers.connection }))
      response.on("error", reject)
    }).on("error", reject)
  })

/** The agent's session ends by itself when the last stream of it has ended. */
const endOf = ({ mux }: { readonly mux: { readonly closed: Promise<{ readonly sentence: string }> } }) => {
  let sentence = ""
  void mux.closed.then((end) => (sentence = end.sentence))
  return Effect.promise(() =>
    eventually(
      () => sentence === "all streams are done",
      () => `it ends: ${sentence}`
    )
  )
}

describe("an agent that leaves", () => {
  it.live("does not wait for a visitor who keeps an idle connection, which ends in order", () =>
    Effect.gen(function* () {
      const world = yield* gelb
      const agent = yield* agentOf(world, (_, response) => response.end("first"))
      const visitor = yield* keeping
      assert.deepStrictEqual(yield* Effect.promise(() => ask(world, visitor)), {
        body: "first",
        connection: "keep-alive"
      })
      const [socket] = Object.values(visitor.freeSockets).flatMap((all) => all ?? [])
      let how = ""
      socket?.on("error", ({ message }) => (how = message)).on("close", () => (how ||= "closed"))
      agent.mux.goAway("the agent takes no more streams")
      yield* endOf(agent)
      yield* Effect.promise(() => eventually(() => how !== "", "the visitor sees the end"))
      assert.strictEqual(how, "closed")
      yield* agentOf(world, (_, response) => response.end("second"))
      assert.strictEqual((yield* Effect.promise(() => ask(world, visitor))).body, "second")
    }).pipe(Effect.scoped)
  )

  it.live("answers what is asked, and the answer says that the connection ends", () =>
    Effect.gen(function* () {
      const world = yield* gelb
      const waiting: Array<() => void> = []
      const agent = yield* agentOf(world, ({ url }, response) =>
        url === "/late" ? void waiting.push(() => response.end("late")) : response.end("first")
      )
      const visitor = yield* keeping
      const idle = yield* keeping
      yield* Effect.promise(() => ask(world, idle))
      const asked = ask(world, visitor, "/late")
      yield* Effect.promise(() => eventually(() => waiting.length === 1, "it is asked"))
      agent.mux.goAway("the agent takes no more streams")
      yield* Effect.promise(() => eventually(() => Object.keys(idle.freeSockets).length === 0, "what is idle ends"))
      waiting[0]?.()
      assert.deepStrictEqual(yield* Effect.promise(() => asked), { body: "late", connection: "close" })
      yield* endOf(agent)
    }).pipe(Effect.scoped)
  )

  it.live("does not wait for the connections that are kept for a visitor who speaks HTTP/2, who notices nothing", () =>
    Effect.gen(function* () {
      const world = yield* gelb
      const waiting: Array<() => void> = []
      const first = yield* agentOf(world, (request, response) =>
        request.url === "/slow" ? void waiting.push(() => response.end("slow")) : response.end("first")
      )
      const session = yield* Effect.acquireRelease(
        Effect.sync(() => connect(`https://${host}`, tls(world))),
        (session) => Effect.sync(() => session.destroy())
      )
      const fetched = (path: string) =>
        new Promise<string>((resolve, reject) => {
          let body = ""
          session
            .request({ ":path": path, ":authority": host })
            .on("data", (chunk: Buffer) => (body += String(chunk)))
            .on("end", () => resolve(body))
            .on("error", reject)
        })
      const slow = fetched("/slow")
      yield* Effect.promise(() => eventually(() => waiting.length === 1, "it is asked"))
      assert.strictEqual(yield* Effect.promise(() => fetched("/")), "first")
      first.mux.goAway("the agent takes no more streams")
      yield* agentOf(world, (_, response) => response.end("second"))
      yield* Effect.promise(() => eventually(async () => (await fetched("/")) === "second", "the other one is asked"))
      waiting[0]?.()
      assert.strictEqual(yield* Effect.promise(() => slow), "slow")
      yield* endOf(first)
      assert.strictEqual(yield* Effect.promise(() => fetched("/")), "second")
    }).pipe(Effect.scoped)
  )
})
