/**
 * Joins at the edge by trying the connection strategies in order. A timeout while waiting for the peer is not a failure of the
 * strategy; the member joins again.
 */
import type { Acknowledgement } from "@catenet/crypto/admission/Acknowledgement"
import * as Address from "@catenet/crypto/admission/Address"
import type * as Join from "@catenet/crypto/admission/Join"
import * as KeyExchange from "@catenet/crypto/admission/KeyExchange"
import { Broken, type ParkExpired, Refused } from "@catenet/crypto/admission/Outcome"
import { clause } from "@catenet/domain/values/Sentence"
import { rootCertificates } from "@catenet/platform/Sockets"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { longestMessage, WebSocketStream } from "@catenet/wire/transport/WebSocketStream"
import { WebSocket } from "@effect/platform-node/NodeWS"
import { Clock, Data, Effect, Result } from "effect"
import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import {
  createConnection,
  keepAliveMillis,
  proxyForEdge,
  stream as proxiedStream
} from "../../carrier/OutgoingProxy.ts"
import { AgentMetrics } from "../../observe/AgentMetrics.ts"
import { formatHostPort } from "../../settings/HostPort.ts"
import type { Meeting } from "../../settings/MemberSettings.ts"
import * as EdgeDial from "../../tunnel/EdgeDial.ts"
import { DialFailed, isUntrusted } from "../../tunnel/EdgeDial.ts"
import * as Origin from "../../tunnel/Origin.ts"
import { asksForPhase, type ConnectionStrategy, hasKeepalive, strategiesFor } from "./ConnectionStrategies.ts"
import * as JoinExchange from "./JoinExchange.ts"
import type { Failure } from "./JoinExchange.ts"
import * as QuicChannelDial from "./QuicChannelDial.ts"
import * as RelayNodeDial from "./RelayNodeDial.ts"

/** Opens a WebSocket to the edge as the byte stream on which a member joins. No redirects. */
const answers = new Map([
  [401, "a proxy in between wants a login"],
  [403, "the edge does not take members from this place"],
  [404, "there are no channels at this address; check CT_CHANNEL_WEBSOCKET"],
  [407, "a proxy in between wants a login"],
  [503, "the edge has as many members as it takes; try again in a minute"]
])

const describe = (status: number | undefined) =>
  `HTTP ${status ?? "nothing"}${answers.has(status ?? 0) ? `, ${answers.get(status ?? 0)}` : ""}`

/** `root` is trusted beside the roots of the system. */
export const dialWebSocket = Effect.fn("FallbackDialer.dial")(function* (
  url: URL,
  root: string | undefined,
  millis: number
) {
  const { ending } = yield* AgentMetrics
  const edge = url.host
  const port = Number(url.port) || (url.protocol === "wss:" ? 443 : 80)
  const proxy = yield* proxyForEdge({ host: url.hostname.replace(/^\[|\]$/gu, ""), port })
  const roots = root === undefined ? {} : { ca: [...rootCertificates, root] }
  const failed = (why: string, untrusted = false) => Effect.fail(new DialFailed({ edge, why, untrusted }))
  return yield* Effect.callback<{ readonly stream: WebSocketStream; readonly socket: Socket }, DialFailed>((resume) => {
    const webSocket = new WebSocket(url, {
      maxPayload: longestMessage,
      perMessageDeflate: false,
      handshakeTimeout: millis,
      ...roots,
      ...(proxy === undefined ? {} : { createConnection: createConnection(proxy, { url, ...roots }) })
    })
    let socket: Socket | undefined
    webSocket.once("upgrade", (response: IncomingMessage) => {
      socket = response.socket
      socket.setNoDelay(true)
      socket.setKeepAlive(true, keepAliveMillis)
    })
    webSocket.once("unexpected-response", (_request, { statusCode }) => resume(failed(describe(statusCode))))
    webSocket.on("error", (error) => resume(failed(error.message, isUntrusted(error))))
    webSocket.once("open", () => {
      if (socket === undefined) return resume(failed("no connection below the WebSocket"))
      resume(Effect.succeed({ stream: new WebSocketStream(webSocket, ending), socket }))
    })
    return Effect.sync(() => webSocket.terminate())
  }).pipe(Effect.timeoutOrElse({ duration: millis, orElse: () => failed(`no WebSocket within ${millis / 1000} s`) }))
})

/** What a member can do about the edge's refusal, by its token. */
const hints = new Map([
  [
    "possession",
    "The edge did not accept the proof of the holder key. Set CT_CHANNEL_HOLDER_KEY to the key that belongs to CT_CHANNEL_GRANT."
  ],
  [
    "grant-verify",
    "The grant does not verify under the channel's operator key, or has expired. Ask the operator for a new grant; after a change of the operator key all grants are new."
  ],
  [
    "not-member",
    "The channel does not know this holder. Ask the channel's owner to add or to keep the member, and check that the grant is for this channel."
  ],
  [
    "endpoint",
    "The advertised address is not globally routable or not the one the edge sees. Correct CT_CHANNEL_ADVERTISE, or set CT_CHANNEL_RELAY_ONLY=1."
  ],
  ["malformed", "The edge could not read the join. Set CT_CHANNEL_GRANT anew, and update this program."],
  [
    "len-oob",
    "The edge did not accept the length of the join. Update this program, or use a shorter CT_CHANNEL_ADVERTISE."
  ],
  [
    "pairing",
    "Both members are admitted, but their grants do not fit: one must initiate and the other accept. Check CT_CHANNEL_ROLE and the grants' directions. A provider of a role that others have too waits beside them from now on."
  ],
  [
    "unavailable",
    "The edge could not ask the control plane, or does not reach its relay node. Nothing is wrong here; try again in a minute."
  ]
])

/** One or two sentences; an unknown token is shown as it is. */
export const refusalHint = (token: string | undefined): string => {
  if (token === undefined)
    return "The edge refused the join and said no reason. Look at the audit log of the edge, or ask its operator."
  const hint = hints.get(token)
  return `The edge refused the join (${token}). ${hint ?? "Ask the operator of the edge what it means."}`
}

export type Broker = Extract<Meeting, { readonly _tag: "Broker" }>

/** What is known of a connection. */
interface Below {
  readonly bytesRead: number
  readonly bytesWritten: number
  readonly localAddress?: string | undefined
}

/** An admitted connection. */
export interface BrokerConnection {
  readonly rung: ConnectionStrategy
  readonly stream: Duplex
  /** The connection below the stream, or the stream itself. */
  readonly socket: Below
  readonly acknowledgement: Acknowledgement
  /** Undefined where the edge takes no offers. */
  readonly offer?: string | undefined
  /** The edge knows in which phase this member is. */
  readonly isMarked: boolean
}

export interface Attempt {
  readonly rung: ConnectionStrategy
  readonly error: EdgeDial.DialFailed | Exclude<Failure, ParkExpired>
}

/** No rung admitted this member. */
export class AllStrategiesFailed extends Data.TaggedError("AllStrategiesFailed")<{
  readonly attempts: ReadonlyArray<Attempt>
}> {
  override get message() {
    const reasons = this.attempts.map(({ error, rung }) =>
      error._tag === "DialFailed"
        ? `${rung.name} ${error.message.replace(/^edge /, "")}`
        : `${rung.name} ${formatHostPort(rung.address)}: ${error.message}`
    )
    return `No way to the edge admits this member. ${reasons.map(clause).join("; ")}.`
  }
  /** A refusal with a reason if there is one, otherwise any refusal. */
  get refusal() {
    const refused = this.attempts.flatMap(({ error }) => (error._tag === "Refused" ? [error] : []))
    return refused.find(({ token }) => token !== undefined) ?? refused[0]
  }
}

/** A park that ended sooner was pushed out by another join of this holder: two processes must not push each other in a loop. */
const briefParkMillis = 1_000
const briefParkPause = "200 millis"

const connect = Effect.fnUntraced(function* (rung: ConnectionStrategy, { grant, holderKey }: Broker) {
  const { address, alpn, dialMillis: millis, name, root, serverName, url } = rung
  if (url !== undefined) return { ...(yield* dialWebSocket(url, root, millis)), isMarked: false }
  if (name === "quic") {
    const leg = yield* QuicChannelDial.dial(rung)
    return { stream: leg, socket: leg, isMarked: true, proves: () => leg.proves() }
  }
  const { ending } = yield* AgentMetrics
  if (name === "circuit") {
    const proxy = yield* proxyForEdge(address)
    const failed = (why: string) => new EdgeDial.DialFailed({ edge: formatHostPort(address), why, untrusted: false })
    const socket = yield* proxy === undefined
      ? Effect.mapError(Origin.dial(address), ({ why }) => failed(why))
      : Effect.mapError(proxiedStream(proxy, address), ({ message }) => failed(message))
    guard(socket, ending(socket))
    socket.setKeepAlive(true, keepAliveMillis)
    return { stream: socket, socket, isMarked: true }
  }
  const socket = yield* EdgeDial.dial(address, root, alpn, { serverName, millis })
  guard(socket, ending(socket))
  if (name !== "gate") return { stream: socket, socket, isMarked: hasKeepalive(socket.alpnProtocol) }
  if (socket.alpnProtocol === false) {
    socket.destroy()
    return yield* new Broken({ why: "this edge has no relay gate", retry: false })
  }
  const node = yield* RelayNodeDial.pass(socket, grant, holderKey)
  yield* Effect.logDebug(`through the gate to the relay node ${node}`)
  return { stream: socket, socket, isMarked: true }
})

/**
 * A member that can only be relayed and speaks first sends no phase: the edge then connects it with a waiting peer at once, which
 * saves both a second connection. If the answering member did so, a marked peer would wait for its first message.
 */
const isBrief = ({ grant, node }: Broker, endpoint: string) =>
  endpoint === Address.relayOnly && grant.direction === "initiate" && node === undefined

type Asked = Pick<Join.Join, "endpoint" | "offer"> & { readonly phase: Join.Phase }
const joinAt = Effect.fnUntraced(function* (
  rung: ConnectionStrategy,
  broker: Broker,
  { endpoint, offer, phase }: Asked
) {
  const { joining } = yield* AgentMetrics
  joining("joining")
  const connected = yield* connect(rung, broker)
  const { isMarked, stream } = connected
  const { grant, holderKey } = broker
  // QUIC has its own keepalives, and each port has a fixed phase.
  const isQuic = rung.name === "quic"
  const hasKeepalive = isMarked && !isQuic
  const reasons = phase === "rendezvous" && isBrief(broker, endpoint) && asksForPhase(rung) ? undefined : phase
  const acknowledgement = yield* JoinExchange.join(
    stream,
    { grant, endpoint, offer, holderKey, phase: reasons, hasKeepalive },
    () => {
      if ("proves" in connected) connected.proves()
      joining("waiting")
    }
  ).pipe(Effect.onExit((exit) => Effect.sync(() => exit._tag === "Failure" && stream.destroy())))
  const isKnown = isQuic || (hasKeepalive && reasons !== undefined)
  return { rung, ...connected, isMarked: isKnown, acknowledgement, offer } satisfies BrokerConnection
})

/** Older edges refuse an offer as a part of the endpoint; the join is then repeated without it. */
const tryStrategy = (rung: ConnectionStrategy, broker: Broker, endpoint: string, phase: Join.Phase) => {
  // A relay node knows no keys; the edge has passed the offers on before.
  const policy = phase === "relay" && broker.node !== undefined ? "off" : (broker.postQuantum ?? "prefer")
  const offer = KeyExchange.offerOf(policy)
  return Effect.catchIf(
    joinAt(rung, broker, { endpoint, phase, offer }),
    (error) => offer !== undefined && error._tag === "Refused" && error.token === "endpoint",
    () => joinAt(rung, broker, { endpoint, phase })
  )
}

/** Joins at one rung, again after each park that ended without a peer. */
const parkedOn = Effect.fnUntraced(function* (rung: ConnectionStrategy, broker: Broker, endpoint: string) {
  while (true) {
    const before = yield* Clock.currentTimeMillis
    const leg = yield* tryStrategy(rung, broker, endpoint, "rendezvous").pipe(
      Effect.catchTag("ParkExpired", () => Effect.undefined)
    )
    if (leg !== undefined) return leg
    yield* Effect.logDebug(`no peer yet at ${rung.name} ${formatHostPort(rung.address)}; joining again`)
    if ((yield* Clock.currentTimeMillis) - before < briefParkMillis) yield* Effect.sleep(briefParkPause)
  }
})

/** The leg of the first rung that admits this member. */
const dialInOrder = Effect.fnUntraced(function* <E, R>(
  rungs: ReadonlyArray<ConnectionStrategy>,
  join: (rung: ConnectionStrategy) => Effect.Effect<BrokerConnection, E | Attempt["error"], R>
) {
  const attempts: Array<Attempt> = []
  for (const rung of rungs) {
    if (rung.name === "quic" && !(yield* QuicChannelDial.isTried(rung.address))) continue
    const joined = yield* Effect.result(join(rung))
    if (Result.isSuccess(joined)) return joined.success
    const error = joined.failure
    if (!isAttempt(error)) return yield* Effect.fail(error)
    attempts.push({ rung, error })
  }
  const exhausted = new AllStrategiesFailed({ attempts })
  const { joining } = yield* AgentMetrics
  const { message, refusal } = exhausted
  if (refusal === undefined) joining("unreachable", message)
  else joining("refused", refusalHint(refusal.token))
  return yield* exhausted
})

const isAttempt = (error: unknown): error is Attempt["error"] =>
  error instanceof EdgeDial.DialFailed || error instanceof Refused || error instanceof Broken

/** Meets a peer, however long it takes. */
export const rendezvous = Effect.fn("FallbackDialer.rendezvous")((broker: Broker, endpoint: string) =>
  dialInOrder<never, AgentMetrics>(strategiesFor(broker, "rendezvous"), (rung) => parkedOn(rung, broker, endpoint))
)

/** Opens a connection to the peer that was met. Fails with `ParkExpired` if that peer does not come. */
export const relay = Effect.fn("FallbackDialer.relay")((broker: Broker, endpoint: string) =>
  dialInOrder<ParkExpired, AgentMetrics>(strategiesFor(broker, "relay"), (rung) =>
    tryStrategy(rung, broker, endpoint, "relay")
  )
)
