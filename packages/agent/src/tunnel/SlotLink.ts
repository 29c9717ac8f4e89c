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
import type { Serve } from "./MuxLink.ts"
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

/**
 * Parks the first slot, and keeps the pool full until the scope closes or no slot can be had. Slots that are lost one at a time
 * are replaced in silence; with the last one the registration is over, whatever could be parked next.
 */
export const open = Effect.fn("SlotLink.open")(function* (options: SlotOptions, first: TLSSocket) {
  const { edge, registration, serve } = options
  const token = Redacted.value(registration.token)
  const scope = yield* Effect.scope
  const { ending } = yield* AgentMetrics
  const ended = yield* Deferred.make<string>()
  const sockets = new Set<TLSSocket>()
  const idle = new Set<TLSSocket>()
  let role: Role = registration.host === undefined ? "K" : options.framed ? "F" : "L"
  const pool = { retired: false, serving: 0 }
  let receivedBefore = 0

  const hold = (socket: TLSSocket) => {
    guard(socket, ending(socket))
    sockets.add(socket)
    socket.once("close", () => {
      if (sockets.delete(socket)) receivedBefore += socket.bytesRead
    })
    return socket
  }

  const admission = () => {
    const { host } = registration
    return host === undefined
      ? ({ role: role === "A" ? "A" : "K", token } as const)
      : ({ role: role === "K" || role === "A" ? "L" : role, token, host } as const)
  }

  /** Parks a slot on this connection or a new one; steps down to the older role when an edge does not know the newer. */
  const park: (begun?: TLSSocket) => Effect.Effect<Parked, DialFailed | RegistrationLost | RegistrationRefused> =
    Effect.fnUntraced(function* (begun) {
      const socket = hold(begun ?? (yield* options.dial))
      const slot = yield* Effect.promise(() => parkAgentSlot(socket, admission()))
      if (Result.isSuccess(slot)) return { socket, slot: slot.success }
      socket.destroy()
      const { reason } = slot.failure
      if (reason === "no")
        return yield* refused(
          edge,
          "no",
          "the token is revoked, the host is not authorized for it, the edge is full, or it takes only agents that prove their key, which this carrier cannot"
        )
      const next = older[role]
      if (reason !== "closed" || next === undefined || idle.size > 0)
        return yield* new RegistrationLost({ edge, why: `no answer to the registration (${reason})` })
      role = next
      return yield* park()
    })

  /** Ends a slot that should be pinged and receives nothing for half a minute. */
  const silence = Effect.fnUntraced(function* (socket: TLSSocket) {
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
  const occupy = ({ socket, slot }: Parked) => {
    idle.add(socket)
    const taken = Effect.map(
      Effect.promise(() => slot.taken),
      (outcome) => {
        if (Result.isFailure(outcome)) return false
        pool.serving++
        socket.once("close", () => pool.serving--)
        serve(outcome.success, undefined)
        return true
      }
    )
    return Effect.ensuring(
      pings(role) ? Effect.raceFirst(taken, silence(socket)) : taken,
      Effect.sync(() => idle.delete(socket))
    )
  }

  const pause = (failures: number) =>
    failures === 0
      ? Effect.void
      : Effect.sleep(Math.min(longestPauseMillis, pauseMillis * 2 ** Math.max(0, failures - 2)))

  const worker = Effect.fnUntraced(function* (begun?: Parked): Effect.fn.Return<void> {
    let mine = begun
    let failures = 0
    while (!pool.retired) {
      if (mine === undefined) {
        const again = yield* Effect.result(park())
        if (Result.isFailure(again)) {
          if (idle.size === 0) return void (yield* Deferred.succeed(ended, again.failure.message))
          yield* pause(++failures)
          continue
        }
        mine = again.success
        if (pool.retired) return void mine.socket.destroy()
      }
      const [held, taken] = yield* Effect.timed(occupy(mine))
      mine = undefined
      if (!taken && idle.size === 0 && !pool.retired)
        return void (yield* Deferred.succeed(ended, "every parked connection was lost"))
      failures = taken || Duration.toMillis(held) >= hastyMillis ? 0 : failures + 1
      yield* pause(failures)
      while (pool.serving >= options.maxServing) yield* Effect.sleep(pauseMillis)
    }
  })

  const begun = yield* park(first)
  const closeAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  yield* Scope.addFinalizer(scope, Effect.sync(closeAll))
  const unheard = { heeds: false, say: () => Promise.resolve() }
  const leave = registration.certificate?.join(unheard, undefined)
  if (leave !== undefined) yield* Scope.addFinalizer(scope, Effect.sync(leave))
  yield* Effect.forkIn(worker(begun), scope)
  for (let more = 1; more < options.poolSize; more++) yield* Effect.forkIn(worker(), scope)
  return {
    edge,
    carrier: "slots",
    edgeProcess: undefined,
    visitorTokens: false,
    ended: Effect.map(Deferred.await(ended), (reason) => ({ reason, final: false })),
    received: () => {
      let bytes = receivedBefore
      for (const socket of sockets) bytes += socket.bytesRead
      return bytes
    },
    retire: () => {
      pool.retired = true
      for (const socket of idle) socket.destroy()
    },
    drained: Effect.gen(function* () {
      while (pool.serving > 0) yield* Effect.sleep(pauseMillis)
    }),
    close: closeAll
  } satisfies EdgeLink
})
