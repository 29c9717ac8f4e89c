/**
 * The reference transport: one QUIC connection on which the edge opens a stream for each client without naming it (data-plane 2).
 * It proves no key, and the agent cannot ask the edge to pause.
 */
import { Scheduler } from "@catenet/platform/Scheduler"
import { revokedClose } from "@catenet/wire/frames/QuicRole"
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import { Deferred, Effect, Redacted } from "effect"
import * as QuicRequest from "../carrier/QuicRequest.ts"
import type { EdgeLink } from "./EdgeLink.ts"
import type { Serve } from "./MuxSession.ts"
import { refused, type Registration, RegistrationLost } from "./Registration.ts"

const tickMillis = 15_000
/** The runtime's keepalive is answered by the runtime of the edge, also while the edge itself hangs. */
const maxUnanswered = 2

const no =
  "the token is revoked, the edge is full, or it takes only agents that prove their key, which this carrier cannot"

/** How long after its last client a link counts as used. */
const usedMillis = 15_000

/** Closing a connection discards data in transit. */
const closeDelay = "2 seconds"

/** This transport does not report certificates. */
const unheard = { heeds: false, say: () => Promise.resolve() }

/** Why the connection is over, and whether for good. */
const endOf = (
  edge: string,
  { by, code, isIdle, reason }: Awaited<QuicConnection["closed"]>,
  isUnanswered: boolean
) => {
  if (by === "remote" && code === revokedClose.code && reason === revokedClose.reason)
    return { reason: refused(edge, "revoked", "this tunnel was revoked").message, final: true, isRevoked: true }
  return {
    reason: `the QUIC connection ended${reason === "" ? "" : `: ${reason}`}`,
    final: false,
    isSilent: isIdle === true || (by === "local" && isUnanswered)
  }
}

/** Registers on the connection, which the scope closes. */
export const open = Effect.fn("QuicEdgeLink.open")(function* (
  edge: string,
  connection: QuicConnection,
  { certificate, host, policy, token: secret }: Registration,
  serve: Serve
) {
  const token = Redacted.value(secret)
  const lost = (why: string) => new RegistrationLost({ edge, why })
  const streams = new Set<object>()
  const idle = yield* Deferred.make<void>()
  let lastReceived = 0
  let lastUsed = Number.NEGATIVE_INFINITY
  let retired = false
  let isUnanswered = false

  const say = Effect.fnUntraced(function* (role: Parameters<typeof QuicRequest.admitted>[1], sentence: string) {
    const reply = yield* QuicRequest.admitted(connection, role)
    if (reply === undefined) return yield* lost("no answer to the registration by QUIC")
    lastReceived++
    if (!reply) return yield* refused(edge, "no", sentence)
  })

  connection.take((stream) => {
    lastReceived++
    streams.add(stream)
    stream.once("close", () => {
      streams.delete(stream)
      lastUsed = Scheduler.monotonicMillis()
      if (retired && streams.size === 0) Deferred.doneUnsafe(idle, Effect.void)
    })
    serve(stream, undefined)
  })
  yield* say({ role: "A", token }, no)
  if (host !== undefined) yield* say({ role: "H", token, host }, `${host} is not authorized for this tunnel, or ${no}`)

  /** Sends a request that every edge answers. */
  const listen = Effect.gen(function* () {
    for (let unanswered = 0; unanswered < maxUnanswered;) {
      yield* Effect.sleep(tickMillis)
      const isAnswered = (yield* QuicRequest.ask(connection, { role: "W" })) !== undefined
      if (isAnswered) lastReceived++
      unanswered = isAnswered ? 0 : unanswered + 1
    }
    isUnanswered = true
    connection.close(0, "no answer")
  })
  yield* Effect.forkScoped(listen)
  const answered = Effect.flatMap(QuicRequest.ask(connection, { role: "W" }), (reply) =>
    reply === undefined ? Effect.never : Effect.sync(() => void lastReceived++)
  )
  const leave = certificate?.join(unheard, undefined)
  if (leave !== undefined) yield* Effect.addFinalizer(() => Effect.sync(leave))
  const unannounced = policy?.joined(false)
  if (unannounced !== undefined) yield* Effect.addFinalizer(() => Effect.sync(unannounced))

  const closed = Effect.promise(() => connection.closed)
  return {
    edge,
    carrier: "quic",
    edgeProcess: undefined,
    visitorTokens: false,
    ended: Effect.map(closed, (end) => endOf(edge, end, isUnanswered)),
    inquiry: { isUsed: () => streams.size > 0 || Scheduler.monotonicMillis() - lastUsed < usedMillis, answered },
    received: () => lastReceived,
    retire: () => {
      retired = true
      if (streams.size === 0) Deferred.doneUnsafe(idle, Effect.void)
    },
    drained: Effect.raceFirst(Effect.andThen(Deferred.await(idle), Effect.sleep(closeDelay)), Effect.asVoid(closed)),
    close: () => connection.close()
  } satisfies EdgeLink
})
