/** Who may follow the changes of a topology: its editors in a session, and every visitor of its public page. */
import { Caller } from "@catenet/domain/api/Access"
import { NetUuidInPath, TopologyIdInPath } from "@catenet/domain/values/Ids"
import { FairPlaces } from "@catenet/platform/FairPlaces"
import { retryForever } from "@catenet/platform/RetryForever"
import { PgClient } from "@effect/sql-pg"
import { type Cause, Clock, Deferred, Effect, Option, Queue, RcRef, Redacted, Schedule, Schema, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ClientAddresses } from "../../http/ClientAddresses.ts"
import { anything } from "../../store/Notifications.ts"
import { Topologies } from "../../topologies/Topologies.ts"
import type { Visit } from "../shell/Visits.ts"
import * as TopologyFacts from "./TopologyFacts.ts"
import * as TopologyMembers from "./TopologyMembers.ts"

// Follows changes of topologies for every open editor and public page of this process together: PostgreSQL says which one
// was changed, on whichever replica, and the pages that show it read it again. While no page is open there is no listener.

/** A browser opens an ended stream again, and access to the topology is looked at again. */
const lifetimeMillis = 300_000
const heartbeatMillis = 15_000
/** Ticks of two seconds between two counts of the members of noted channels. */
const ticksOfCount = 3

/** Streams of one session, as many as a browser opens to one host. */
const maxPerSession = 6
/** Streams of public pages to one address, and in all. A page without one is as fresh as its reload. */
const maxPerAddress = 24
const maxPerNetworks = 2_000

interface Watcher {
  /** The topology's id, or its public id. */
  readonly topology: string
  /** Whose channels are counted; none on the public page. */
  readonly subject: string | undefined
  /** The session, or the address of a visitor. */
  readonly viewer: string
  readonly isGone: () => boolean
  /** What is so now. */
  readonly version: Effect.Effect<string>
  readonly queue: Queue.Queue<string, Cause.Done>
  readonly until: number
  /** Gives its place back. */
  readonly leave: () => void
  beatAt: number
  counted: string
  /** The last that it was looked for by; undefined before the first time. */
  looked: string | undefined
}

const changed = "event: topology\ndata:\n\n"

type Members = Effect.Success<typeof TopologyMembers.make>
type Watchers = ReadonlySet<Watcher>

/** Where nothing notifies: what each page shows is read again, once for all pages that show the same. */
const look = (watchers: Watchers) =>
  Effect.gen(function* () {
    const groups = Map.groupBy(watchers, ({ subject, topology }) => `${topology} ${subject ?? ""}`)
    yield* Effect.forEach(
      groups.values(),
      Effect.fnUntraced(function* (group) {
        const [first] = group
        const version = first === undefined ? "" : yield* first.version
        for (const watcher of group) {
          if (watcher.looked !== undefined && watcher.looked !== version) Queue.offerUnsafe(watcher.queue, changed)
          watcher.looked = version
        }
      }),
      { concurrency: 4, discard: true }
    )
    yield* Effect.sleep("2 seconds")
  })

const listen = (sql: PgClient.PgClient, watchers: Watchers, isListening: Deferred.Deferred<void>) =>
  Effect.gen(function* () {
    const signals = yield* sql.listen("topologies")
    yield* Deferred.succeed(isListening, undefined)
    // What was changed while nothing listened is not known.
    for (const { queue } of watchers) Queue.offerUnsafe(queue, changed)
    return yield* Queue.takeAll(signals).pipe(
      Effect.flatMap((found) => {
        const ids = new Set(found.map(({ payload }) => payload))
        if (ids.has(anything)) return look(watchers)
        for (const { queue, topology } of watchers) if (ids.has(topology)) Queue.offerUnsafe(queue, changed)
        return Effect.void
      }),
      Effect.forever
    )
  }).pipe(Effect.scoped, retryForever("Listening for changes of topologies"))

const count = (members: Members, watchers: Watchers) =>
  Effect.gen(function* () {
    const signedIn = [...watchers].filter(({ subject }) => subject !== undefined)
    if (signedIn.length === 0) return
    const counts = yield* members.countsOf([...new Set(signedIn.map(({ topology }) => topology))])
    for (const watcher of signedIn) {
      const own = TopologyMembers.ownOf(counts, watcher)
      const counted = JSON.stringify(Object.fromEntries(own.map((row) => [row.channel, row.members])))
      if (counted === watcher.counted) continue
      watcher.counted = counted
      Queue.offerUnsafe(watcher.queue, `event: members\ndata: ${counted}\n\n`)
    }
  })

const makeTopologyChanges = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const members = yield* TopologyMembers.make
  const watchers = new Set<Watcher>()
  const networks = new FairPlaces(maxPerNetworks)
  const remove = (watcher: Watcher) => {
    watchers.delete(watcher)
    watcher.leave()
    Queue.endUnsafe(watcher.queue)
  }

  let ticks = 0
  const tick = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    for (const watcher of watchers) {
      if (now >= watcher.until || watcher.isGone()) remove(watcher)
      if (now - watcher.beatAt < heartbeatMillis) continue
      watcher.beatAt = now
      Queue.offerUnsafe(watcher.queue, ":\n\n")
    }
    if (++ticks % ticksOfCount === 0) yield* count(members, watchers)
  }).pipe(
    Effect.catchCause((cause) => Effect.logWarning("Counting members failed.", cause)),
    Effect.repeat(Schedule.spaced("2 seconds"))
  )

  const listener = yield* RcRef.make({
    idleTimeToLive: "10 seconds",
    acquire: Effect.gen(function* () {
      const isListening = yield* Deferred.make<void>()
      yield* Effect.forkScoped(listen(sql, watchers, isListening))
      yield* Effect.forkScoped(tick)
      return isListening
    })
  })

  return {
    countOf: (viewer: string) => [...watchers].filter((watcher) => watcher.viewer === viewer).length,
    /**
     * `seen`: what the page shows; it reads the topology at once where that is no longer so. `version`: what is so now. None if a
     * public page has no place: of all of them the address with the most gives way.
     */
    follow: Effect.fnUntraced(function* (
      options: Pick<Watcher, "topology" | "subject" | "viewer" | "isGone">,
      seen: string | null,
      version: Effect.Effect<string>
    ) {
      const now = yield* Clock.currentTimeMillis
      const queue = yield* Queue.sliding<string, Cause.Done>(16)
      const leave =
        options.subject === undefined
          ? networks.take(options.viewer, { isIdle: () => false, evict: () => remove(watcher) })
          : () => undefined
      if (leave === undefined) return Option.none()
      const watcher: Watcher = {
        ...options,
        leave,
        version,
        queue,
        until: now + lifetimeMillis,
        beatAt: now,
        counted: "{}",
        looked: undefined
      }
      watchers.add(watcher)
      const events = Effect.gen(function* () {
        const isListening = yield* RcRef.get(listener)
        yield* Deferred.await(isListening)
        watcher.looked = yield* version
        if (watcher.looked !== seen) Queue.offerUnsafe(queue, changed)
        return Stream.fromQueue(queue)
      })
      return Option.some(
        Stream.concat(Stream.make(":\n\n"), Stream.unwrap(events)).pipe(
          Stream.ensuring(Effect.sync(() => remove(watcher))),
          Stream.encodeText
        )
      )
    })
  }
})

const idFrom = Schema.decodeSync(TopologyIdInPath)
const netFrom = Schema.decodeSync(NetUuidInPath)
const busy = HttpServerResponse.empty({ status: 429, headers: { "retry-after": "60" } })

export const make = Effect.gen(function* () {
  const facts = yield* TopologyFacts.make
  const topologies = yield* Topologies
  const changes = yield* makeTopologyChanges
  const { budgetKey } = yield* ClientAddresses
  const gone = Effect.succeed("")

  return {
    ofEditor: Effect.fnUntraced(function* (
      { reader: { signedIn }, request, token }: Visit,
      seen: string | null,
      asked: { readonly topology: string; readonly isGone: () => boolean }
    ) {
      if (signedIn === undefined) return HttpServerResponse.empty({ status: 401 })
      const viewer = Redacted.value(token)
      if (changes.countOf(viewer) >= maxPerSession) return busy
      const { email, subject } = signedIn
      const id = idFrom(asked.topology)
      const now = facts(Caller.of({ subject, email, means: "session" }), id)
      yield* now
      const version = Effect.map(now, (found) => found.version).pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, request),
        Effect.catch(() => gone)
      )
      return streamed(yield* changes.follow({ viewer, subject, topology: id, isGone: asked.isGone }, seen, version))
    }),

    ofNetwork: Effect.fnUntraced(function* (
      { request }: Visit,
      seen: string | null,
      asked: { readonly topology: string; readonly isGone: () => boolean }
    ) {
      const viewer = `address ${budgetKey(request)}`
      if (changes.countOf(viewer) >= maxPerAddress) return busy
      const netUuid = netFrom(asked.topology)
      const now = topologies.published(netUuid)
      yield* now
      const version = Effect.map(now, TopologyFacts.versionOf).pipe(Effect.catch(() => gone))
      const { isGone } = asked
      return streamed(yield* changes.follow({ viewer, subject: undefined, topology: netUuid, isGone }, seen, version))
    })
  }
})

const streamed = (stream: Option.Option<Parameters<typeof HttpServerResponse.stream>[0]>) =>
  Option.isNone(stream)
    ? busy
    : HttpServerResponse.stream(stream.value, {
        contentType: "text/event-stream",
        headers: { connection: "close", "x-accel-buffering": "no" }
      })
