/** Who may follow the changes of a topology: its editors in a session, and every visitor of its public page. */
import { Caller } from "@catenet/domain/api/Access"
import { NetUuidInPath, TopologyIdInPath } from "@catenet/domain/values/Ids"
import { Effect, Redacted, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ClientAddresses } from "../../http/ClientAddresses.ts"
import { Topologies } from "../../topologies/Topologies.ts"
import type { Visit } from "../shell/Visits.ts"
import * as TopologyChanges from "./TopologyChanges.ts"
import * as TopologyFacts from "./TopologyFacts.ts"

/** Streams of one session, as many as a browser opens to one host. */
const maxPerSession = 6
/** Streams of public pages to one address, and in all. A page without one is as fresh as its reload. */
const maxPerAddress = 24
const maxPerNetworks = 2_000

const idFrom = Schema.decodeSync(TopologyIdInPath)
const netFrom = Schema.decodeSync(NetUuidInPath)
const busy = HttpServerResponse.empty({ status: 429, headers: { "retry-after": "60" } })

export const make = Effect.gen(function* () {
  const facts = yield* TopologyFacts.make
  const topologies = yield* Topologies
  const changes = yield* TopologyChanges.make
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
      if (changes.countOf(viewer) >= maxPerAddress || changes.total() >= maxPerNetworks) return busy
      const netUuid = netFrom(asked.topology)
      const now = topologies.published(netUuid)
      yield* now
      const version = Effect.map(now, TopologyFacts.versionOf).pipe(Effect.catch(() => gone))
      const { isGone } = asked
      return streamed(yield* changes.follow({ viewer, subject: undefined, topology: netUuid, isGone }, seen, version))
    })
  }
})

const streamed = (stream: Parameters<typeof HttpServerResponse.stream>[0]) =>
  HttpServerResponse.stream(stream, {
    contentType: "text/event-stream",
    headers: { connection: "close", "x-accel-buffering": "no" }
  })
