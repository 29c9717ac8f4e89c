/**
 * Follows whether tunnels reach their services, for every open page of this process together: one question to each edge every two
 * seconds, about the tunnels that somebody looks at. The database is asked when a page opens its stream, and then only about
 * the certificates that pages show, in one statement for all of them.
 */
import type { Caller } from "@catenet/domain/api/Access"
import type { CertificateStanding } from "@catenet/domain/certificates/CertificateStanding"
import type { Reachability } from "@catenet/domain/tunnels/Reachability"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { type Cause, Clock, Effect, Equal, Option, Queue, Redacted, Schedule, Stream } from "effect"
import { CertificateStandings } from "../../certificates/CertificateStandings.ts"
import { EdgeFacts, reachOf } from "../../edges/EdgeFacts.ts"
import { sqlOrDie } from "../../store/SqlOrDie.ts"
import * as RecordStore from "../../tunnels/records/RecordStore.ts"

/** Tunnels of one stream: as many as one page of the list shows. */
export const maxTunnels = 50
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

export const make = Effect.gen(function* () {
  const facts = yield* EdgeFacts
  const store = yield* RecordStore.make
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
    for (const watcher of watchers) {
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
