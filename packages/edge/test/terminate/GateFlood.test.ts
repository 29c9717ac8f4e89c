/** Random session cookies at a host with a login gate, from one address, while signed-in visitors come from others. */
import { servingAgent } from "@catenet/testing/edge/Agent"
import { startControlPlane } from "@catenet/testing/edge/ControlPlane"
import { eventually, start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { sessionCookie } from "@catenet/wire/transport/GateCookies"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { randomBytes } from "node:crypto"
import { createServer } from "node:http"
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2"
import { connect as connectTcp } from "node:net"
import { connect } from "node:tls"

const T = token("4")
const host = "app.zone.test"
const randomSession = () => randomBytes(32).toString("base64url")
const visitors = Array.from({ length: 16 }, randomSession)

/** A control plane that takes 200 ms for each answer. */
const stage = Effect.gen(function* () {
  const controlPlane = yield* startControlPlane
  const run = Effect.runPromiseWith(yield* Effect.context())
  controlPlane.visitor = (session) => {
    const identity = visitors.includes(session ?? "") ? "vera@example.test" : null
    return run(Effect.delay(Effect.succeed({ identity, expires_at: null, sign_in: null }), "200 millis"))
  }
  const world = yield* start({}, { controlPlane })
  yield* Effect.promise(() => world.authorize(T, host, "gelb"))
  const origin = createServer((_request, response) => void response.end("served"))
  yield* servingAgent(world, T, [host], (stream) => void origin.emit("connection", stream))
  const headers = { "x-ct-routing-token": T }
  yield* Effect.promise(() => world.admin("POST", "/internal/tunnel/login", { headers, body: { required: true } }))
  const asked = () => controlPlane.requests.filter((request) => request.endsWith("/internal/gate/check")).length
  return { world, asked }
})

const dial = (world: TestEdge, localAddress: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const socket = connect({
        socket: connectTcp({ host: "127.0.0.1", port: world.frontDoor, localAddress }),
        servername: host,
        ca: world.wildcardRoot,
        ALPNProtocols: ["h2"]
      })
      return connectHttp2(`https://${host}`, { createConnection: () => socket }).on("error", () => undefined)
    }),
    (session) => Effect.sync(() => session.destroy())
  )

const ask = (session: ClientHttp2Session, cookie: string) =>
  Effect.callback<unknown>((resume) => {
    let status: unknown
    const stream = session.request({ ":path": "/", cookie: `${sessionCookie}=${cookie}` })
    stream.on("response", (headers) => (status = headers[":status"])).on("error", () => undefined)
    stream.on("close", () => resume(Effect.succeed(status)))
    stream.resume()
  })

describe("a flood of random cookies from one address at a gated host", () => {
  it.live("leaves signed-in visitors of other addresses served, also when they come again", () =>
    Effect.gen(function* () {
      const { asked, world } = yield* stage
      for (let count = 0; count < 2; count++) {
        const flooding = yield* dial(world, "127.0.0.2")
        const one = Effect.forkScoped(Effect.suspend(() => ask(flooding, randomSession())))
        yield* Effect.forkScoped(Effect.repeat(Effect.all([one, one, one]), Schedule.spaced("4 millis")))
      }
      yield* Effect.promise(() => eventually(() => asked() >= 8, "the flood is on"))
      const visit = (session: string, index: number) =>
        Effect.scoped(Effect.flatMap(dial(world, `127.0.1.${index + 1}`), (client) => ask(client, session)))
      for (const when of ["first", "again"]) {
        const answers = yield* Effect.all(visitors.map(visit), { concurrency: "unbounded" })
        const served = answers.filter((status) => status === 200).length
        assert.strictEqual(served, visitors.length, `${when}: ${answers.join(" ")}; ${asked()} questions`)
      }
      assert.isBelow(asked(), 200)
    }).pipe(Effect.scoped)
  )
})
