/** Random session cookies at a host with a login gate, 500 a second, while signed-in visitors come from other addresses. */
import { servingAgent } from "@catenet/testing/edge/Agent"
import { startControlPlane } from "@catenet/testing/edge/ControlPlane"
import { eventually, start, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { browserCookie, sessionCookie } from "@catenet/wire/transport/GateCookies"
import { assert, describe, it } from "@effect/vitest"
import { type Duration, Effect, Schedule } from "effect"
import { randomBytes } from "node:crypto"
import { createServer } from "node:http"
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2"
import { connect as connectTcp } from "node:net"
import { connect } from "node:tls"

const T = token("4")
const host = "app.zone.test"
const randomSession = () => randomBytes(32).toString("base64url")
const visitors = Array.from({ length: 16 }, randomSession)

/** A control plane that takes 200 ms for each answer, or longer for strangers. */
const stage = Effect.fn("stage")(function* (forStrangers: Duration.Input = "200 millis") {
  const controlPlane = yield* startControlPlane
  const run = Effect.runPromiseWith(yield* Effect.context())
  controlPlane.visitor = (session) => {
    const isKnown = visitors.includes(session ?? "")
    const answer = { identity: isKnown ? "vera@example.test" : null, expires_at: null, sign_in: null }
    return run(Effect.delay(Effect.succeed(answer), isKnown ? "200 millis" : forStrangers))
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

const ask = (session: ClientHttp2Session, cookie: string, path = "/") =>
  Effect.callback<{ readonly status: unknown; readonly cookie: string }>((resume) => {
    let status: unknown
    let given = ""
    const stream = session.request({ ":path": path, cookie })
    stream.on("response", (headers) => {
      status = headers[":status"]
      given = headers["set-cookie"]?.[0]?.split(";")[0] ?? ""
    })
    stream.on("error", () => undefined)
    stream.on("close", () => resume(Effect.succeed({ status, cookie: given })))
    stream.resume()
  })

const shows = (session: string) => `${sessionCookie}=${session}`

/** So many connections from each of so many addresses ask with random cookies, 500 times a second together. */
const flood = Effect.fn("flood")(function* (world: TestEdge, addresses: number, connections: number) {
  const clients: Array<ClientHttp2Session> = []
  for (let address = 0; address < addresses; address++)
    for (let count = 0; count < connections; count++) clients.push(yield* dial(world, `127.0.2.${address + 1}`))
  let turn = 0
  const one = Effect.suspend(() => ask(clients[turn++ % clients.length]!, shows(randomSession())))
  yield* Effect.forkScoped(Effect.repeat(Effect.forkScoped(one), Schedule.spaced("2 millis")))
})

const visits = (world: TestEdge, cookies: ReadonlyArray<string>) =>
  Effect.forEach(
    cookies,
    (cookie, index) =>
      Effect.scoped(
        Effect.flatMap(dial(world, `127.0.1.${index + 1}`), (client) =>
          Effect.map(ask(client, cookie), ({ status }) => status)
        )
      ),
    { concurrency: "unbounded" }
  )

/** Signs a visitor in at the host; the cookie that it was given. */
const signIn = Effect.fn("signIn")(function* (world: TestEdge, session: string) {
  const code = randomSession()
  world.controlPlane.gateCodes.set(code, session)
  const client = yield* dial(world, "127.0.0.1")
  const path = `/.catenet/gate?code=${code}`
  const { cookie, status } = yield* ask(client, `${browserCookie}=${randomSession()}`, path)
  assert.strictEqual(status, 303)
  return cookie
}, Effect.scoped)

const allServed = visitors.map(() => 200)

describe("a flood of random cookies at a gated host", () => {
  it.live("from one address leaves signed-in visitors of other addresses served, also when they come again", () =>
    Effect.gen(function* () {
      const { asked, world } = yield* stage()
      yield* flood(world, 1, 2)
      yield* Effect.promise(() => eventually(() => asked() >= 8, "the flood is on"))
      for (const when of ["first", "again"])
        assert.deepStrictEqual(yield* visits(world, visitors.map(shows)), allServed, `${when}: ${asked()} questions`)
      assert.isBelow(asked(), 200)
    }).pipe(Effect.scoped)
  )

  it.live("from many addresses leaves those served who have signed in at this edge, and are known to no cache", () =>
    Effect.gen(function* () {
      const { asked, world } = yield* stage("3 seconds")
      const cookies = yield* Effect.forEach(visitors, (session) => signIn(world, session))
      assert.match(cookies[0] ?? "", /^__Host-ct_gate_session=[\w-]{43}\.[\w-]{22}$/)
      yield* flood(world, 8, 1)
      yield* Effect.promise(() => eventually(() => asked() >= 32, "the flood is on"))
      assert.deepStrictEqual(yield* visits(world, cookies), allServed, `${asked()} questions`)
      const forged = visitors.map((session) => shows(`${randomSession()}.${session.slice(0, 22)}`))
      assert.include(yield* visits(world, forged), 503, "a MAC that is made up does not help")
    }).pipe(Effect.scoped)
  )
})
