/**
 * The transport for edges that do not multiplex (data-plane.md 5): a pool of parked TLS connections, each for one client. A taken
 * slot is replaced at once.
 */
import type { BrowserSlot, MeshSlot } from "@catenet/wire/frames/Role"
import { type AgentSlot, parkAgentSlot } from "@catenet/wire/transport/AgentSlot"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Deferred, Duration, Effect, Redacted, Result, Scope } from "effect"
import type { TLSSocket } from "node:tls"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import type { DialFailed } from "./EdgeDial.ts"
import type { EdgeLink } from "./EdgeLink.ts"
import type { Serve } from "./MuxSession.ts"
import { refused, type Registration, RegistrationLost, type RegistrationRefused } from "./Registration.ts"

export interface SlotOptions {
  readonly edge: string
  readonly dial: Effect.Effect<TLSSocket, DialFailed>
  readonly registration: Registration
  readonly serve: Serve
  readonly poolSize: number
  readonly maxServing: number
  /** Asks for the framed relay first, which keeps quiet streams alive. */
  readonly framed: boolean
}

const silenceTicks = 3
const tickMillis = 10_000
const hastyMillis = 2000
const pauseMillis = 500
const longestPauseMillis = 30_000

interface Parked {
  readonly socket: TLSSocket
  readonly slot: AgentSlot
}

type Role = (MeshSlot | BrowserSlot)["role"]

const older: Readonly<Record<Role, Role | undefined>> = { K: "A", A: undefined, F: "L", L: "B", B: undefined }
const pings = (role: Role) => role !== "A" && role !== "B"

/** A pool of slots at one edge. */
interface Pool {
  readonly options: SlotOptions
  readonly onFault: AgentMetrics["Service"]["ending"]
  /** Why the registration is over. */
  readonly ended: Deferred.Deferred<string>
  readonly sockets: Set<TLSSocket>
  /** Parked connections without a client. */
  readonly idle: Set<TLSSocket>
  role: Role
  isRetired: boolean
  serving: number
  /** Bytes of connections that have closed. */
  receivedBefore: number
}

const hold = (pool: Pool, socket: TLSSocket) => {
  guard(socket, pool.onFault(socket))
  pool.sockets.add(socket)
  socket.once("close", () => {
    if (pool.sockets.delete(socket)) pool.receivedBefore += socket.bytesRead
  })
  return socket
}

const admissionOf = ({ options: { registration }, role }: Pool) => {
  const { host } = registration
  const token = Redacted.value(registration.token)
  return host === undefined
    ? ({ role: role === "A" ? "A" : "K", token } as const)
    : ({ role: role === "K" || role === "A" ? "L" : role, token, host } as const)
}

/** Parks a slot on this connection or a new one; steps down to the older role when an edge does not know the newer. */
const park: (
  pool: Pool,
  begun?: TLSSocket
) => Effect.Effect<Parked, DialFailed | RegistrationLost | RegistrationRefused> = Effect.fnUntraced(
  function* (pool, begun) {
    const { dial, edge } = pool.options
    const socket = hold(pool, begun ?? (yield* dial))
    const slot = yield* Effect.promise(() => parkAgentSlot(socket, admissionOf(pool)))
    if (Result.isSuccess(slot)) return { socket, slot: slot.success }
    socket.destroy()
    const { reason } = slot.failure
    if (reason === "no")
      return yield* refused(
        edge,
        "no",
        "the token is revoked, the host is not authorized for it, the edge is full, or it takes only agents that prove their key, which this carrier cannot"
      )
    const next = older[pool.role]
    if (reason !== "closed" || next === undefined || pool.idle.size > 0)
      return yield* new RegistrationLost({ edge, why: `no answer to the registration (${reason})` })
    pool.role = next
    return yield* park(pool)
  }
)

/** Ends a slot that should be pinged and receives nothing for half a minute. */
const endSilent = Effect.fnUntraced(function* (socket: TLSSocket) {
  let quiet = 0
  let seen = socket.bytesRead
  while (quiet < silenceTicks) {
    yield* Effect.sleep(tickMillis)
    quiet = socket.bytesRead === seen ? quiet + 1 : 0
    seen = socket.bytesRead
  }
  socket.destroy()
  return false
})

/** Waits until the slot is taken or lost; returns whether it was taken. */
const occupy = (pool: Pool, { slot, socket }: Parked) => {
  pool.idle.add(socket)
  const taken = Effect.map(
    Effect.promise(() => slot.taken),
    (outcome) => {
      if (Result.isFailure(outcome)) return false
      pool.serving++
      socket.once("close", () => pool.serving--)
      pool.options.serve(outcome.success, undefined)
      return true
    }
  )
  return Effect.ensuring(
    pings(pool.role) ? Effect.raceFirst(taken, endSilent(socket)) : taken,
    Effect.sync(() => pool.idle.delete(socket))
  )
}

const pause = (failures: number) =>
  failures === 0
    ? Effect.void
    : Effect.sleep(Math.min(longestPauseMillis, pauseMillis * 2 ** Math.max(0, failures - 2)))

/** Keeps one slot of the pool parked, until the pool is retired or the registration is over. */
const keepSlot = Effect.fnUntraced(function* (pool: Pool, begun?: Parked): Effect.fn.Return<void> {
  const { ended, idle, options } = pool
  let mine = begun
  let failures = 0
  while (!pool.isRetired) {
    if (mine === undefined) {
      const again = yield* Effect.result(park(pool))
      if (Result.isFailure(again)) {
        if (idle.size === 0) return void (yield* Deferred.succeed(ended, again.failure.message))
        yield* pause(++failures)
        continue
      }
      mine = again.success
      if (pool.isRetired) return void mine.socket.destroy()
    }
    const [held, taken] = yield* Effect.timed(occupy(pool, mine))
    mine = undefined
    if (!taken && idle.size === 0 && !pool.isRetired)
      return void (yield* Deferred.succeed(ended, "every parked connection was lost"))
    failures = taken || Duration.toMillis(held) >= hastyMillis ? 0 : failures + 1
    yield* pause(failures)
    while (pool.serving >= options.maxServing) yield* Effect.sleep(pauseMillis)
  }
})

const closeAll = ({ sockets }: Pool) => {
  for (const socket of sockets) socket.destroy()
}

const linkOf = (pool: Pool): EdgeLink => ({
  edge: pool.options.edge,
  carrier: "slots",
  edgeProcess: undefined,
  visitorTokens: false,
  ended: Effect.map(Deferred.await(pool.ended), (reason) => ({ reason, final: false })),
  received: () => {
    let bytes = pool.receivedBefore
    for (const socket of pool.sockets) bytes += socket.bytesRead
    return bytes
  },
  retire: () => {
    pool.isRetired = true
    for (const socket of pool.idle) socket.destroy()
  },
  drained: Effect.gen(function* () {
    while (pool.serving > 0) yield* Effect.sleep(pauseMillis)
  }),
  close: () => closeAll(pool)
})

/**
 * Parks the first slot, and keeps the pool full until the scope closes or no slot can be had. Slots that are lost one at a time
 * are replaced silently; with the last one the registration is over, whatever could be parked next.
 */
export const open = Effect.fn("SlotLink.open")(function* (options: SlotOptions, first: TLSSocket) {
  const { framed, poolSize, registration } = options
  const scope = yield* Effect.scope
  const { ending } = yield* AgentMetrics
  const pool: Pool = {
    options,
    onFault: ending,
    ended: yield* Deferred.make<string>(),
    sockets: new Set(),
    idle: new Set(),
    role: registration.host === undefined ? "K" : framed ? "F" : "L",
    isRetired: false,
    serving: 0,
    receivedBefore: 0
  }
  const begun = yield* park(pool, first)
  yield* Scope.addFinalizer(
    scope,
    Effect.sync(() => closeAll(pool))
  )
  const unheard = { heeds: false, say: () => Promise.resolve() }
  const leave = registration.certificate?.join(unheard, undefined)
  if (leave !== undefined) yield* Scope.addFinalizer(scope, Effect.sync(leave))
  const unannounced = registration.policy?.joined(false)
  if (unannounced !== undefined) yield* Scope.addFinalizer(scope, Effect.sync(unannounced))
  yield* Effect.forkIn(keepSlot(pool, begun), scope)
  for (let more = 1; more < poolSize; more++) yield* Effect.forkIn(keepSlot(pool), scope)
  return linkOf(pool)
})
