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
import type { RelayNodeCounts } from "../../observe/RelayNodeCounts.ts"
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
  /** Stops watching a waiting member. */
  readonly release: () => void
}

const parkMillis = 30_000
const idleMillis = 300_000
const leaveTime = "2 seconds"

/** All members come to be relayed; their grants were checked on arrival. */
const memberOf = (grant: Grant.Grant): Leg["member"] => ({
  channel: Hex.encode(grant.channel),
  holder: Hex.encode(grant.holder),
  grant,
  phase: "relay",
  authorization: { operatorKey: nothing },
  authorizedAt: 0,
  keepAlive: true
})

const cannotListen = (address: HostPort) => (error: Error) =>
  ConfigurationInvalid.of(
    "CT_RELAY_NODE_LISTEN",
    `names ${formatHostPort(address)}, which cannot be opened (${error.message})`,
    "choose another address"
  )

/** A running relay node. */
interface Node {
  readonly options: NodeOptions
  readonly room: PairingRoom<Leg>
  /** Open connections. */
  readonly open: Set<Socket>
  /** Byte counts of running sessions. */
  readonly live: Set<SpliceCounters>
  readonly done: { begun: number; bytes: number; refused: number; expired: number; shed: number }
  readonly metrics: AgentMetrics["Service"]
  readonly now: () => number
  readonly run: (effect: Effect.Effect<void>) => void
}

const bytesOf = ({ aToB, bToA }: SpliceCounters) => aToB + bToA

const countsOf = ({ done, live, open, room }: Node): RelayNodeCounts => ({
  ...done,
  bytes: Array.from(live, bytesOf).reduce((sum, bytes) => sum + bytes, done.bytes),
  connections: open.size,
  waiting: room.size,
  sessions: live.size
})

/** After the final answer, further input is ignored, and the connection is closed a moment later in any case. */
const leave = ({ run }: Node, socket: Socket) => {
  socket.resume()
  run(Effect.map(Effect.sleep(leaveTime), () => void socket.destroy()))
}

const dismiss = (node: Node, { release, socket }: Leg, word: string | Uint8Array) => {
  release()
  socket.end(word)
  leave(node, socket)
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

/** Relays a pair. The session ends with the first of both grants. */
const relay = Effect.fnUntraced(function* ({ done, live, metrics, now }: Node, a: Leg, b: Leg) {
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
    splice(a.socket, b.socket, { counters, idleMillis, signal: controller.signal, onFault: metrics.fault })
  )
  yield* Effect.raceFirst(relaying, Effect.andThen(Effect.sleep(left), over))
}, Effect.scoped)

/** A waiting member must stay silent; if it sends data or disconnects, it is removed. */
const park = ({ now, room }: Node, socket: Socket, grant: Grant.Grant): Leg => {
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

const serve = Effect.fnUntraced(function* (node: Node, socket: Socket) {
  const { done, now, options, room } = node
  const grant = yield* admit(socket, options.operators)
  if (grant === "refused") {
    done.refused += 1
    return leave(node, socket)
  }
  if (grant === "left") return
  const leg = park(node, socket, grant)
  const { pairing, refused, superseded } = room.arrive(leg, now())
  done.refused += refused.length
  for (const each of superseded) dismiss(node, each, "EX")
  for (const each of refused) dismiss(node, each, Refusal.encode("pairing"))
  if (pairing === undefined) return
  const { acceptor, initiator } = pairing
  acknowledge(initiator, acceptor, "initiate")
  acknowledge(acceptor, initiator, "accept")
  yield* relay(node, initiator, acceptor)
})

const accept = (node: Node, socket: Socket) => {
  const { done, metrics, open, options, run } = node
  if (open.size >= options.maxConnections) {
    done.shed += 1
    return void socket.resetAndDestroy()
  }
  open.add(socket)
  socket.once("close", () => open.delete(socket))
  guard(socket, metrics.ending(socket))
  socket.on("error", () => {})
  socket.setKeepAlive(true, keepAliveMillis)
  run(serve(node, socket))
}

/** Sends keep-alives, and dismisses members that have waited too long. */
const tick = (node: Node) =>
  Effect.sync(() => {
    const { due, expired } = node.room.tick(node.now())
    node.done.expired += expired.length
    for (const leg of expired) dismiss(node, leg, "EX")
    for (const { socket } of due) socket.write(Buffer.of(0))
  })

const listenOn = (node: Node, { host, port }: HostPort) =>
  Effect.callback<Server, Error>((resume) => {
    const listening = Sockets.tcpServer(
      { allowHalfOpen: true, noDelay: true, pauseOnConnect: true },
      guarded(node.metrics.fault, (socket: Socket) => accept(node, socket))
    )
    listening.once("error", (error) => resume(Effect.fail(error)))
    listening.listen(port, host, () => {
      listening.on("error", () => {})
      resume(Effect.succeed(listening))
    })
  }).pipe(Effect.mapError(cannotListen({ host, port })))

/** Runs until the scope closes; the address is the one that was bound. */
export const make = Effect.fn("RelayNode.make")(function* (options: NodeOptions) {
  const { listen } = options
  const metrics = yield* AgentMetrics
  const clock = yield* Clock.Clock
  const node: Node = {
    options,
    room: new PairingRoom<Leg>({
      holds: ({ grant }, _, at) => isAlive(grant, toUnixSeconds(at)),
      parkMillis: () => parkMillis
    }),
    open: new Set(),
    live: new Set(),
    done: { begun: 0, bytes: 0, refused: 0, expired: 0, shed: 0 },
    metrics,
    now: () => clock.currentTimeMillisUnsafe(),
    run: yield* FiberSet.makeRuntime()
  }
  metrics.relayNode.read = () => countsOf(node)
  const server = yield* Effect.acquireRelease(listenOn(node, listen), (listening) =>
    Effect.sync(() => {
      listening.close()
      for (const socket of node.open) socket.destroy()
    })
  )
  yield* Effect.forkScoped(Effect.repeat(Effect.delay(tick(node), "1 second"), Schedule.forever))
  metrics.joining("waiting")
  const bound = server.address()
  const address: HostPort = {
    host: listen.host,
    port: bound !== null && typeof bound === "object" ? bound.port : listen.port
  }
  return { address, waiting: () => node.room.size, connections: () => node.open.size }
})
