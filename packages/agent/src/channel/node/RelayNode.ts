/**
 * A relay for channel members, behind an edge's gate or dialed directly: accepts joins on plain TCP, pairs members and copies
 * their encrypted messages.
 */
import * as Acknowledgement from "@catenet/crypto/admission/Acknowledgement"
import * as Address from "@catenet/crypto/admission/Address"
import * as Possession from "@catenet/crypto/admission/Possession"
import * as Refusal from "@catenet/crypto/admission/Refusal"
import * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import type { Seconds } from "@catenet/crypto/Integer"
import { native } from "@catenet/crypto/native"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Entropy } from "@catenet/platform/Entropy"
import { Sockets } from "@catenet/platform/Sockets"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import { BrokerAdmission, type Step } from "@catenet/wire/channels/BrokerAdmission"
import { PairingRoom, type Present } from "@catenet/wire/channels/PairingRoom"
import { guard, guarded } from "@catenet/wire/transport/FaultBoundary"
import { nextChunk } from "@catenet/wire/transport/NextChunk"
import { splice, type SpliceCounters } from "@catenet/wire/transport/Splice"
import { Clock, Effect, FiberSet, Result, Schedule } from "effect"
import type { Server, Socket } from "node:net"
import { keepAliveMillis } from "../../carrier/OutgoingProxy.ts"
import { AgentMetrics } from "../../observe/AgentMetrics.ts"
import { formatHostPort, type HostPort } from "../../settings/HostPort.ts"

/** How a member is let in at a relay node: the bytes of the broker's admission, on a plain connection. */
const joinLimit = "15 seconds"
const nothing = new Uint8Array(0)

const isAlive = (grant: Grant.Grant, now: Seconds): boolean => grant.expiresAt > BigInt(now)

/** Whether one of these operators has signed the grant. Without any the grant must only be alive: the gate in front has checked it. */
export const holdsGrant =
  (operators: ReadonlyArray<Uint8Array>) =>
  (grant: Grant.Grant, now: Seconds): boolean =>
    operators.length === 0
      ? isAlive(grant, now)
      : operators.some((operator) => Result.isSuccess(Grant.verify(native, grant, operator, now)))

/** The member's grant; if it is rejected or the member leaves, the connection ends. */
const admit = Effect.fn("RelayNode.admit")(function* (socket: Socket, operators: ReadonlyArray<Uint8Array>) {
  const clock = yield* Clock.Clock
  const admission = new BrokerAdmission({
    suite: native,
    first: "join",
    marked: true,
    phase: "relay",
    observed: undefined,
    requireAttested: false,
    challenge: () => Entropy.randomBytes(Possession.challengeLength),
    holds: holdsGrant(operators)
  })
  const exchange = Effect.gen(function* () {
    let step: Step = { _tag: "Read" }
    for (;;) {
      if (step._tag === "Read") {
        const chunk = yield* nextChunk(socket)
        step = chunk === undefined ? admission.end() : admission.push(chunk)
      } else if (step._tag === "Ask") {
        const now = toUnixSeconds(clock.currentTimeMillisUnsafe())
        step = admission.answered({ operatorKey: nothing, noise: undefined }, now)
      } else if (step._tag === "Challenge") {
        socket.write(step.bytes)
        step = admission.push(nothing)
      } else return step
    }
  })
  const verdict = yield* Effect.timeoutOrElse(exchange, {
    duration: joinLimit,
    orElse: () => Effect.sync(() => admission.end())
  })
  if (verdict._tag === "Admitted" && verdict.early.length === 0) return verdict.join.grant
  if (verdict._tag === "Dropped") {
    socket.destroy()
    return "left"
  }
  if (verdict._tag === "Refused") socket.end(verdict.bytes)
  else socket.destroy()
  return "refused"
})

export interface NodeOptions {
  readonly listen: HostPort
  /** Operators whose grants are accepted; if there are none, the gate in front has checked them. */
  readonly operators: ReadonlyArray<Uint8Array>
  readonly maxConnections: number
}

interface Leg extends Present {
  readonly socket: Socket
  /** Ends the watch over a member that waits. */
  readonly release: () => void
}

const parkMillis = 30_000
const idleMillis = 300_000
const leaveTime = "2 seconds"

const noKey = new Uint8Array(0)

/** All members come to be relayed; their grants were checked on arrival. */
const memberOf = (grant: Grant.Grant): Leg["member"] => ({
  channel: Hex.encode(grant.channel),
  holder: Hex.encode(grant.holder),
  grant,
  phase: "relay",
  authorization: { operatorKey: noKey },
  authorizedAt: 0,
  keepAlive: true
})

const cannotListen = (address: HostPort) => (error: Error) =>
  ConfigurationInvalid.of(
    "CT_RELAY_NODE_LISTEN",
    `names ${formatHostPort(address)}, which cannot be opened (${error.message})`,
    "choose another address"
  )

/** Runs until the scope closes; the address is the one that was bound. */
export const make = Effect.fn("RelayNode.make")(function* ({ listen, maxConnections, operators }: NodeOptions) {
  const { ending, fault, joining, relayNode } = yield* AgentMetrics
  const clock = yield* Clock.Clock
  const now = () => clock.currentTimeMillisUnsafe()
  const room = new PairingRoom<Leg>({
    holds: ({ grant }, _, at) => isAlive(grant, Math.floor(at / 1_000)),
    parkMillis: () => parkMillis
  })
  const open = new Set<Socket>()
  const live = new Set<SpliceCounters>()
  const done = { begun: 0, bytes: 0, refused: 0, expired: 0, shed: 0 }
  const bytesOf = ({ aToB, bToA }: SpliceCounters) => aToB + bToA
  relayNode.read = () => ({
    ...done,
    bytes: Array.from(live, bytesOf).reduce((sum, bytes) => sum + bytes, done.bytes),
    connections: open.size,
    waiting: room.size,
    sessions: live.size
  })
  const run = yield* FiberSet.makeRuntime()

  /** After the final answer, further input is ignored, and the connection is closed a moment later in any case. */
  const leave = (socket: Socket) => {
    socket.resume()
    run(
      Effect.delay(
        Effect.sync(() => socket.destroy()),
        leaveTime
      )
    )
  }
  const dismiss = ({ release, socket }: Leg, word: string | Uint8Array) => {
    release()
    socket.end(word)
    leave(socket)
  }
  const acknowledge = ({ release, socket }: Leg, { member: { grant } }: Leg, role: Acknowledgement.Role) => {
    release()
    const line = Acknowledgement.write({
      peerEndpoint: Address.relayOnly,
      peerKeys: undefined,
      observed: undefined,
      samePublicIp: undefined,
      role,
      peerRights: grant.rights,
      peerGrantEnds: grant.expiresAt
    })
    socket.write(`${line}\n`)
  }
  /** The session ends with the first of both grants. */
  const relay = (a: Leg, b: Leg) =>
    Effect.gen(function* () {
      const controller = new AbortController()
      const [first, second] = [a.member.grant.expiresAt, b.member.grant.expiresAt]
      const ends = first < second ? first : second
      const over = Effect.sync(() => controller.abort())
      const left = Math.min(Number(ends) * 1000 - now(), 2_000_000_000)
      const counters = { aToB: 0, bToA: 0 }
      live.add(counters)
      done.begun += 1
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          live.delete(counters)
          done.bytes += bytesOf(counters)
        })
      )
      const relaying = Effect.promise(() =>
        splice(a.socket, b.socket, { counters, idleMillis, signal: controller.signal, onFault: fault })
      )
      yield* Effect.raceFirst(relaying, Effect.andThen(Effect.sleep(left), over))
    }).pipe(Effect.scoped)
  /** A waiting member must stay silent; if it sends data or disconnects, it is removed. */
  const park = (socket: Socket, grant: Grant.Grant): Leg => {
    const gone = () => {
      release()
      room.leave(leg, now())
      socket.destroy()
    }
    const release = () => {
      for (const event of ["data", "end", "close"]) socket.off(event, gone)
      socket.pause()
    }
    const leg: Leg = { socket, member: memberOf(grant), release }
    for (const event of ["data", "end", "close"]) socket.on(event, gone)
    socket.resume()
    return leg
  }
  const serve = Effect.fnUntraced(function* (socket: Socket) {
    const grant = yield* admit(socket, operators)
    if (grant === "refused") {
      done.refused += 1
      return leave(socket)
    }
    if (grant === "left") return
    const leg = park(socket, grant)
    const { pairing, refused, superseded } = room.arrive(leg, now())
    done.refused += refused.length
    for (const each of superseded) dismiss(each, "EX")
    for (const each of refused) dismiss(each, Refusal.encode("pairing"))
    if (pairing === undefined) return
    const { acceptor, initiator } = pairing
    acknowledge(initiator, acceptor, "initiate")
    acknowledge(acceptor, initiator, "accept")
    yield* relay(initiator, acceptor)
  })
  const take = (socket: Socket) => {
    if (open.size >= maxConnections) {
      done.shed += 1
      return void socket.resetAndDestroy()
    }
    open.add(socket)
    socket.once("close", () => open.delete(socket))
    guard(socket, ending(socket))
    socket.on("error", () => {})
    socket.setKeepAlive(true, keepAliveMillis)
    run(serve(socket))
  }

  const server = yield* Effect.acquireRelease(
    Effect.callback<Server, Error>((resume) => {
      const listening = Sockets.tcpServer(
        { allowHalfOpen: true, noDelay: true, pauseOnConnect: true },
        guarded(fault, take)
      )
      listening.once("error", (error) => resume(Effect.fail(error)))
      listening.listen(listen.port, listen.host, () => {
        listening.on("error", () => {})
        resume(Effect.succeed(listening))
      })
    }).pipe(Effect.mapError(cannotListen(listen))),
    (listening) =>
      Effect.sync(() => {
        listening.close()
        for (const socket of open) socket.destroy()
      })
  )
  const tick = Effect.sync(() => {
    const { due, expired } = room.tick(now())
    done.expired += expired.length
    for (const leg of expired) dismiss(leg, "EX")
    for (const { socket } of due) socket.write(Buffer.of(0))
  })
  yield* Effect.forkScoped(tick.pipe(Effect.delay("1 second"), Effect.repeat(Schedule.forever)))
  joining("waiting")
  const bound = server.address()
  const address: HostPort = {
    host: listen.host,
    port: bound !== null && typeof bound === "object" ? bound.port : listen.port
  }
  return { address, waiting: () => room.size, connections: () => open.size }
})
