import { ticketKeySeconds } from "@catenet/domain/edges/TicketKeys"
import { startControlPlane } from "@catenet/testing/edge/ControlPlane"
import { start, type TestEdge, token } from "@catenet/testing/edge/TestEdge"
import { eventually } from "@catenet/testing/Eventually"
import { assert, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { connect } from "node:tls"

const host = "back.zone.test"

/** A visitor's TLS, and its newest ticket. Its certificate is not looked at: each edge of the test has one of its own. */
const visit = (world: TestEdge, session?: Buffer) =>
  new Promise<{ readonly resumed: boolean; readonly session: Buffer }>((resolve, reject) => {
    const socket = connect({
      host: "127.0.0.1",
      port: world.frontDoor,
      servername: host,
      rejectUnauthorized: false,
      ...(session === undefined ? {} : { session })
    })
    const end = (resumed: boolean, ticket: Buffer) => {
      resolve({ resumed, session: ticket })
      socket.destroy()
    }
    socket.once("secureConnect", () => {
      // Who has resumed is given no other ticket.
      if (socket.isSessionReused()) end(true, session ?? Buffer.alloc(0))
      else socket.once("session", (ticket: Buffer) => end(false, ticket))
    })
    socket.once("error", reject)
  })

const authorized = Effect.fnUntraced(function* (world: TestEdge) {
  yield* Effect.promise(() => world.authorize(token("a"), host, "gelb"))
  return world
})

const manyVisits = async (world: TestEdge, session: Buffer) => {
  const resumed: Array<boolean> = []
  for (let count = 0; count < 12; count++) resumed.push((await visit(world, session)).resumed)
  return resumed
}

it.live("a visitor who returns resumes at another edge of the same control plane, by keys that came sealed", () =>
  Effect.gen(function* () {
    const controlPlane = yield* startControlPlane
    const now = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
    const current = now - (now % ticketKeySeconds)
    controlPlane.ticketKeys.push(
      { key: "5a".repeat(48), from: current },
      { key: "5b".repeat(48), from: current + ticketKeySeconds }
    )
    const one = yield* Effect.flatMap(start({ CT_EDGE_ID: "one" }, { controlPlane }), authorized)
    const two = yield* Effect.flatMap(start({ CT_EDGE_ID: "two" }, { controlPlane }), authorized)
    const other = yield* Effect.flatMap(start(), authorized)
    let session: Buffer = Buffer.alloc(0)
    yield* Effect.promise(() =>
      eventually(async () => {
        session = (await visit(one)).session
        return (await visit(two, session)).resumed
      }, "a session resumed at the other edge")
    )
    assert.isTrue((yield* Effect.promise(() => visit(one, session))).resumed)
    assert.isFalse((yield* Effect.promise(() => visit(other, session))).resumed)
  }).pipe(Effect.scoped)
)

it.live("a visitor who returns resumes at every process of an edge", () =>
  Effect.gen(function* () {
    const world = yield* Effect.flatMap(start({ CT_EDGE_PROCESSES: "3" }), authorized)
    const { session } = yield* Effect.promise(() => visit(world))
    const resumed = yield* Effect.promise(() => manyVisits(world, session))
    assert.notInclude(resumed, false)
  }).pipe(Effect.scoped)
)
