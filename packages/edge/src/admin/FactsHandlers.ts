/** Handlers of the admin API for the state of tunnels and channels. */
import { ChannelPresence, EdgeAdminApi } from "@catenet/domain/api/EdgeAdminApi"
import { HistoryDisabled, ReceiptsDisabled } from "@catenet/domain/edges/EdgeErrors"
import { EdgeId } from "@catenet/domain/edges/EdgeNode"
import type { Reachability } from "@catenet/domain/tunnels/Reachability"
import { Receipt, ReceiptKey, ReceiptPage } from "@catenet/domain/tunnels/Receipt"
import {
  maxVersions,
  TokenHistory,
  TokenStatusReport,
  TokenSums,
  TunnelHistory,
  TunnelStatusReport
} from "@catenet/domain/tunnels/TunnelTraffic"
import { HolderKey, PublicKey } from "@catenet/domain/values/Keys"
import { Count, UnixSeconds } from "@catenet/domain/values/Numbers"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { toUnixSeconds, unixSeconds } from "@catenet/platform/UnixTime"
import type { Enforced } from "@catenet/wire/frames/MuxPolicy"
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { ChannelRoom } from "../channels/ChannelRoom.ts"
import type { ReceiptLog } from "../history/ReceiptLog.ts"
import { SessionHistory } from "../history/SessionHistory.ts"
import { QuicPorts } from "../listen/QuicPorts.ts"
import { WorkerStats } from "../processes/WorkerStats.ts"
import { Routes } from "../routes/Routes.ts"
import type { AgentPool } from "../sessions/AgentPool.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { OriginEchoes } from "../sessions/OriginEchoes.ts"
import { Settings } from "../settings/Settings.ts"

/** The status of a tunnel in the admin API. A token that was never used is reported as not connected. */
const seconds = (millis: number | undefined) => (millis === undefined ? null : UnixSeconds.make(toUnixSeconds(millis)))

/** How many of the tunnels have at least one agent. */
const activeIn = (tunnels: Iterable<AgentPool>): number => {
  let active = 0
  for (const tunnel of tunnels) if (tunnel.connected) active += 1
  return active
}

const versionsOf = (tunnel: AgentPool | undefined) => {
  const known = Array.from(tunnel?.muxes ?? [], ({ version }) => version).filter((version) => version !== undefined)
  return known.length === 0 ? {} : { agent_versions: [...new Set(known)].toSorted().slice(0, maxVersions) }
}

const enforceable: ReadonlyArray<Enforced> = ["gate", "windows", "http_only", "rules"]
const enforcedBy = (tunnel: AgentPool | undefined) => {
  const enforces = enforceable.filter((name) => tunnel?.enforces(name) === true)
  return enforces.length === 0 ? {} : { enforces }
}

/** `parkedElsewhere` are the slots of the other processes of this edge; `nowMillis` is the moment a connected tunnel was last seen. */
const statusOf = (
  tunnel: AgentPool | undefined,
  reach: Reachability,
  parkedElsewhere: number,
  nowMillis: number
): TunnelStatusReport =>
  new TunnelStatusReport({
    connected: tunnel?.connected ?? false,
    registrations: tunnel?.registrations ?? 0,
    fallback_parked: (tunnel?.parked ?? 0) + parkedElsewhere,
    bytes_received: tunnel?.traffic.aToB ?? 0,
    bytes_sent: tunnel?.traffic.bToA ?? 0,
    direct: false,
    connected_since: seconds(tunnel?.connectedSince),
    last_seen: seconds(tunnel?.connected === true ? nowMillis : tunnel?.lastSeen),
    reach,
    ...enforcedBy(tunnel),
    ...versionsOf(tunnel)
  })

const decodeHistory = Schema.decodeUnknownEffect(TunnelHistory)
const decodeReceipt = Schema.decodeUnknownEffect(Schema.fromJsonString(Receipt))
const readToken = Schema.decodeUnknownOption(RoutingToken)

/** Members seen within this time count as waiting, because they leave and rejoin between joins. */
const parkedMillis = 60_000

const presenceOf = (seen: ReadonlyMap<string, number>) =>
  Array.from(
    seen,
    ([holder, ago]) =>
      new ChannelPresence({
        holder: HolderKey.make(holder),
        parked_now: ago <= parkedMillis,
        last_seen_secs_ago: Count.make(Math.floor(ago / 1_000))
      })
  )

const makeState = Effect.gen(function* () {
  const { edgeId } = yield* Settings
  return {
    routes: yield* Routes,
    agents: yield* AgentSessions,
    echoes: yield* OriginEchoes,
    sessionHistory: yield* SessionHistory,
    workerStats: yield* WorkerStats,
    edgeId
  }
})
type State = Effect.Success<typeof makeState>

const edge = ({ edgeId }: State, { pubkey }: ReceiptLog) => ({
  pubkey: PublicKey.make(pubkey),
  edge_id: EdgeId.make(edgeId)
})

const history = Effect.fnUntraced(function* (
  { routes, sessionHistory }: State,
  token: RoutingToken,
  limit = 20,
  figures?: "1"
) {
  const { sessions } = sessionHistory
  if (sessions === undefined) return yield* new HistoryDisabled({})
  const now = yield* unixSeconds
  const found = sessions.history(routes.recordsOf(Redacted.value(token)), limit, now, figures === "1")
  return yield* Effect.orDie(decodeHistory(found))
})

/** Yields to other fibers between two tunnels. */
const histories = (state: State, tokens: ReadonlyArray<unknown>, limit?: number, figures = false) =>
  Effect.forEach(
    tokens.flatMap((given) => Option.toArray(readToken(given))),
    (token) =>
      history(state, token, limit, figures ? "1" : undefined).pipe(
        Effect.map((found) => new TokenHistory({ ...found, token })),
        Effect.tap(Effect.yieldNow)
      )
  )

const receiptPage = Effect.fnUntraced(function* (state: State, token: RoutingToken, since = 0, limit = 200) {
  const { receipts } = state.sessionHistory
  if (receipts === undefined) return yield* new ReceiptsDisabled({})
  const lines = receipts.page(state.routes.recordsOf(Redacted.value(token)), since, limit)
  const page = yield* Effect.orDie(Effect.forEach(lines, (line) => decodeReceipt(line)))
  return new ReceiptPage({ ...edge(state, receipts), receipts: page })
})

const status = ({ agents, echoes, workerStats }: State, token: RoutingToken, watched = false) =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const plain = Redacted.value(token)
    const tunnel = agents.tunnel(plain)
    return statusOf(tunnel, echoes.reach(tunnel, watched), workerStats.parked(plain), now)
  })

export const FactsHandlers = HttpApiBuilder.group(
  EdgeAdminApi,
  "facts",
  Effect.fn(function* (handlers) {
    const state = yield* makeState
    const room = yield* ChannelRoom
    const quicPorts = yield* QuicPorts
    return handlers.handleAll({
      status: ({ params }) => status(state, params.token),
      statusByHeader: ({ headers }) => status(state, headers["x-ct-routing-token"]),
      statuses: ({ payload }) =>
        Effect.forEach(
          payload.tokens.flatMap((given) => Option.toArray(readToken(given))),
          (token) =>
            Effect.map(status(state, token, payload.watched), (report) => new TokenStatusReport({ ...report, token }))
        ),
      activeTunnels: () => Effect.sync(() => ({ active_tunnels: Count.make(activeIn(state.agents.all())) })),
      quicListeners: () => Effect.sync(() => ({ listeners: quicPorts.open() })),
      // Written as plain JSON: an edge may have many thousands of hosts, and wrapping each token in `Redacted` would delay
      // visitors.
      hosts: () => Effect.succeed(HttpServerResponse.jsonUnsafe(state.routes.dump())),
      history: ({ params, query }) => history(state, params.token, query.limit, query.figures),
      historyByHeader: ({ headers, query }) =>
        history(state, headers["x-ct-routing-token"], query.limit, query.figures),
      histories: ({ payload: { figures, limit, tokens } }) => histories(state, tokens, limit, figures),
      presences: ({ payload }) =>
        Effect.sync(() => payload.channels.map((channel) => ({ channel, holders: presenceOf(room.seen(channel)) }))),
      sums: Effect.fnUntraced(function* ({ payload }) {
        const { sessions } = state.sessionHistory
        if (sessions === undefined) return yield* new HistoryDisabled({})
        const now = yield* unixSeconds
        return payload.tokens
          .flatMap((given) => Option.toArray(readToken(given)))
          .map((token) => {
            const { bytes_in, bytes_out, visitors } = sessions.sums(state.routes.recordsOf(Redacted.value(token)), now)
            return new TokenSums({
              token,
              visitors: visitors === null ? null : Count.make(visitors),
              bytes_in: Count.make(bytes_in),
              bytes_out: Count.make(bytes_out)
            })
          })
      }),
      receipts: ({ params, query }) => receiptPage(state, params.token, query.since, query.limit),
      receiptsByHeader: ({ headers, query }) =>
        receiptPage(state, headers["x-ct-routing-token"], query.since, query.limit),
      receiptKey: () =>
        state.sessionHistory.receipts === undefined
          ? Effect.fail(new ReceiptsDisabled({}))
          : Effect.succeed(new ReceiptKey({ alg: "ed25519", ...edge(state, state.sessionHistory.receipts) })),
      presence: ({ params }) => Effect.sync(() => ({ holders: presenceOf(room.seen(params.channel)) })),
      holderPresence: ({ params }) =>
        Effect.sync(() => {
          const found = presenceOf(room.seen(params.channel)).find(({ holder }) => holder === params.holder)
          if (found === undefined) return { seen: false as const }
          return { seen: true as const, parked_now: found.parked_now, last_seen_secs_ago: found.last_seen_secs_ago }
        })
    })
  })
)
