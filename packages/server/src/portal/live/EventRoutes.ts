/**
 * `GET /portal/events?tunnels=ID,ID`: the states of an account's tunnels as they change, as server-sent events. With
 * `?topology=ID` the page of an editor learns that the topology was changed, and `/net/:net_uuid/events` is the same for the
 * public page, without a session.
 */
import { Caller } from "@catenet/domain/api/Access"
import type { CertificateStanding } from "@catenet/domain/certificates/CertificateStanding"
import type { Reachability } from "@catenet/domain/tunnels/Reachability"
import { TunnelId } from "@catenet/domain/values/Ids"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { type Cause, Clock, Effect, Equal, Layer, Option, Queue, Redacted, Schedule, Schema, Stream } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { CertificateStandings } from "../../certificates/CertificateStandings.ts"
import { EdgeFacts, reachOf } from "../../edges/EdgeFacts.ts"
import type { BrowserRefusal } from "../../http/SameOrigin.ts"
import { EmailDomains } from "../../identity/EmailDomains.ts"
import { sqlOrDie } from "../../store/SqlOrDie.ts"
import { RecordStore } from "../../tunnels/records/RecordStore.ts"
import * as CertificateState from "../pages/tunnel/CertificateState.ts"
import { kindOf, sentenceOf, wordOf } from "../shell/AgentState.ts"
import * as Visits from "../shell/Visits.ts"
import * as TopologyEvents from "./TopologyEvents.ts"

// Follows whether tunnels reach their services, for every open page of this process together: one question to each edge every two
// seconds, about the tunnels that somebody looks at. The database is asked when a page opens its stream, and then only about
// the certificates that pages show, in one statement for all of them.

/** Tunnels of one stream: as many as one page of the list shows. */
const maxTunnels = 50
/** Streams of one session, as many as a browser opens to one host. */
const maxStreams = 6
/** Tokens of one question to an edge. */
const perQuestion = 500
/** A browser opens an ended stream again, and the session is looked at again. */
const lifetimeMillis = 300_000
const heartbeatMillis = 15_000

interface Watcher {
  readonly session: string
  readonly tokens: ReadonlyMap<string, RoutingToken>
  readonly sent: Map<string, Reachability>
  readonly queue: Queue.Queue<string, Cause.Done>
  readonly write: (id: string, reach: Reachability) => string
  /** The page shows a certificate: its host name, and what is said when its standing is another one. */
  readonly certificate:
    { readonly hostname: string; readonly write: (standing: CertificateStanding) => string } | undefined
  certificateSaid: string | undefined
  readonly isGone: () => boolean
  readonly until: number
  beatAt: number
}

/** Writes what is new for a watcher. */
const tell = (
  watcher: Watcher,
  found: ReadonlyMap<string, Reachability>,
  standings: ReadonlyMap<string, CertificateStanding>,
  now: number
) => {
  const standing = standings.get(watcher.certificate?.hostname ?? "")
  if (standing !== undefined) {
    const event = watcher.certificate?.write(standing)
    if (event !== undefined && watcher.certificateSaid !== event) Queue.offerUnsafe(watcher.queue, event)
    watcher.certificateSaid = event
  }
  for (const [id, token] of watcher.tokens) {
    const reach = found.get(Redacted.value(token))
    if (reach === undefined || Equal.equals(watcher.sent.get(id), reach)) continue
    watcher.sent.set(id, reach)
    watcher.beatAt = now
    Queue.offerUnsafe(watcher.queue, watcher.write(id, reach))
  }
  if (now - watcher.beatAt >= heartbeatMillis) {
    watcher.beatAt = now
    Queue.offerUnsafe(watcher.queue, ":\n\n")
  }
  if (now >= watcher.until || watcher.isGone()) Queue.endUnsafe(watcher.queue)
}

const makeTunnelStates = Effect.gen(function* () {
  const facts = yield* EdgeFacts
  const store = yield* RecordStore
  const certificates = yield* CertificateStandings
  const watchers = new Set<Watcher>()

  /** The edges ask for the origins of these tunnels more often while somebody looks. */
  const reachesOf = (tokens: ReadonlyArray<RoutingToken>) =>
    Effect.map(facts.statuses(tokens, true), (statuses) => {
      const reports = new Map(
        Option.getOrElse(statuses.known, () => []).map((report) => [Redacted.value(report.token), report])
      )
      return (token: RoutingToken) => reachOf(statuses, reports.get(Redacted.value(token)))
    })

  const look = Effect.gen(function* () {
    if (watchers.size === 0) return
    const watched = new Map<string, RoutingToken>()
    for (const { tokens } of watchers) for (const token of tokens.values()) watched.set(Redacted.value(token), token)
    const all = [...watched.values()]
    const parts = Array.from({ length: Math.ceil(all.length / perQuestion) }, (_, part) =>
      all.slice(part * perQuestion, (part + 1) * perQuestion)
    )
    const found = new Map<string, Reachability>()
    for (const part of parts) {
      const reach = yield* reachesOf(part)
      for (const token of part) found.set(Redacted.value(token), reach(token))
    }
    const names = Array.from(watchers).flatMap(({ certificate }) => certificate?.hostname ?? [])
    const standings = yield* certificates.of([...new Set(names)])
    const now = yield* Clock.currentTimeMillis
    for (const watcher of watchers) tell(watcher, found, standings, now)
  })
  yield* look.pipe(Effect.repeat(Schedule.spaced("2 seconds")), Effect.forkScoped)

  return {
    /** Whether a session may open one more stream. */
    hasRoom: (session: string) => [...watchers].filter((watcher) => watcher.session === session).length < maxStreams,

    /** Each change of those tunnels that the account owns, from the present state on. `isGone`: the stream is to end. */
    follow: Effect.fnUntraced(function* (
      { subject }: Caller["Service"],
      ids: ReadonlyArray<string>,
      options: Pick<Watcher, "session" | "write" | "isGone"> & {
        /** What the page of one tunnel hears of its certificate. */
        readonly certificate?: (standing: CertificateStanding) => string
      }
    ) {
      const found = yield* sqlOrDie(store.tokens({ subject, ids: ids.slice(0, maxTunnels) }))
      const now = yield* Clock.currentTimeMillis
      const queue = yield* Queue.unbounded<string, Cause.Done>()
      const [only] = found
      const { certificate: write, ...others } = options
      const hostname = found.length === 1 ? only?.hostname : undefined
      const watcher: Watcher = {
        ...others,
        certificate: write === undefined || typeof hostname !== "string" ? undefined : { hostname, write },
        certificateSaid: undefined,
        tokens: new Map(found.map(({ id, routingToken }) => [id, routingToken])),
        sent: new Map(),
        queue,
        until: now + lifetimeMillis,
        beatAt: now
      }
      watchers.add(watcher)
      Queue.offerUnsafe(queue, ":\n\n")
      return Stream.fromQueue(queue).pipe(
        Stream.ensuring(Effect.sync(() => void watchers.delete(watcher))),
        Stream.encodeText
      )
    })
  }
})

const isTunnelId = Schema.is(TunnelId)

/** Of a server that stops, no stream goes on: a stop waits for running requests. */
const isStopping = (request: Visits.Visit["request"]) => {
  const { socket } = NodeHttpServerRequest.toIncomingMessage(request)
  const server: unknown = Reflect.get(socket, "server")
  return () =>
    socket.destroyed || (typeof server === "object" && server !== null && Reflect.get(server, "listening") === false)
}

const queryOf = ({ url }: Visits.Visit["request"]) => new URL(url, "http://localhost").searchParams

const empty = (status: number) => HttpServerResponse.empty({ status })

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { visit } = yield* Visits.make
    const domains = yield* EmailDomains
    const states = yield* makeTunnelStates

    const topologies = yield* TopologyEvents.make

    const events = Effect.gen(function* () {
      const self = yield* visit
      const { reader, request, token } = self
      // A redirect to the provider would be followed by the browser; a stream that is refused is not asked for again.
      if (reader.signedIn === undefined) return empty(401)
      const { email, subject } = reader.signedIn
      const session = Redacted.value(token)
      if (!states.hasRoom(session)) return HttpServerResponse.setHeader(empty(429), "retry-after", "60")
      if (request.method === "HEAD") return empty(204)
      const query = queryOf(request)
      const topology = query.get("topology")
      if (topology !== null) {
        const asked = { topology, isGone: isStopping(request) }
        return yield* topologies
          .ofEditor(self, query.get("seen"), asked)
          .pipe(Effect.catch(({ status }) => Effect.succeed(empty(status))))
      }
      const ids = (query.get("tunnels") ?? "").split(",", maxTunnels).filter(isTunnelId)
      const caller = Caller.of({ subject, email, means: "session" })
      return yield* domains.require({ subject, email, client: undefined }).pipe(
        Effect.andThen(
          states.follow(caller, ids, {
            session,
            isGone: isStopping(request),
            // A page whose panel is of another version reads it again.
            ...(query.get("certificate") === null
              ? {}
              : {
                  certificate: (standing: CertificateStanding) =>
                    `event: certificate\ndata: ${CertificateState.versionOf(reader.texts, standing)}\n\n`
                }),
            write: (id, reach) =>
              `event: state\ndata: ${JSON.stringify({ id, state: kindOf(reach), text: sentenceOf(reader.texts, reach), word: wordOf(reader.texts, reach) })}\n\n`
          })
        ),
        Effect.map((stream) =>
          HttpServerResponse.stream(stream, {
            contentType: "text/event-stream",
            headers: { connection: "close", "x-accel-buffering": "no" }
          })
        ),
        Effect.catch(({ status }) => Effect.succeed(empty(status)))
      )
    })
    yield* router.add("GET", "/portal/events", events)

    const network = Effect.gen(function* () {
      const self = yield* visit
      const { request } = self
      if (request.method === "HEAD") return empty(204)
      const { net_uuid: topology = "" } = yield* HttpRouter.params
      const asked = { topology, isGone: isStopping(request) }
      return yield* topologies.ofNetwork(self, queryOf(request).get("seen"), asked)
    }).pipe(Effect.catch(({ status }: BrowserRefusal) => Effect.succeed(empty(status))))
    yield* router.add("GET", "/net/:net_uuid/events", network)
  })
).pipe(Layer.provide(RecordStore.layer))
