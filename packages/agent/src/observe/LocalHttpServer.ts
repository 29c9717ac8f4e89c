/**
 * Serves the local endpoints on CT_AGENT_METRICS_LISTEN. If the address cannot be bound, this is logged once and the tunnel is
 * served anyway.
 */
import type { Name as KeyExchange } from "@catenet/crypto/admission/KeyExchange"
import { AgentLocalApi } from "@catenet/domain/api/AgentLocalApi"
import { AgentStatus, type CredentialState } from "@catenet/domain/enrollment/AgentStatus"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { Http } from "@catenet/platform/Http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, FileSystem, Layer, Result } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { Server } from "node:http"
import * as Credential from "../login/Credential.ts"
import { formatHostPort, type HostPort } from "../settings/HostPort.ts"
import type { BearerSource } from "../settings/LoginVariables.ts"
import { version } from "../Version.ts"
import {
  AgentMetrics,
  type CertificateNote,
  type ChannelCarrier,
  type ChannelCounts,
  type Joining,
  type Pair,
  type Probe,
  type ServiceFacts,
  type Session,
  type Traffic
} from "./AgentMetrics.ts"
import { Events } from "./Events.ts"
import * as HealthCheck from "./HealthCheck.ts"
import * as MetricsPage from "./MetricsPage.ts"
import * as UpdateState from "./UpdateState.ts"

/** The agent's report of itself for `/status`. Pure. */
interface Facts {
  readonly channels: ReadonlyMap<ChannelCarrier, ChannelCounts>
  readonly keyExchanges: ReadonlyMap<KeyExchange, ChannelCounts>
  readonly meshKeyExchanges: ReadonlyMap<KeyExchange, ChannelCounts>
  readonly joining: Joining | undefined
  readonly pairs: ReadonlyArray<Pair> | undefined
  readonly services: ReadonlyArray<ServiceFacts> | undefined
  readonly session: Readonly<Session>
  readonly traffic: Readonly<Traffic>
  readonly probe: Readonly<Probe>
  readonly certificate: Readonly<CertificateNote>
  readonly update: Readonly<UpdateState.UpdateState>
  readonly settings: { readonly warnings: ReadonlyArray<string> }
  readonly tasksLive: number
  readonly ringWriteErrors: number
  readonly credential: CredentialState
  /** Unix milliseconds. */
  readonly now: number
}

const secondsSince = (then: number, now: number) => Math.max(0, Math.floor((now - then) / 1000))

const probeOf = ({ at, echo }: NonNullable<Probe["last"]>, now: number) => ({
  origin: echo.origin ?? "",
  verdict: echo.verdict,
  http_status: echo.status ?? null,
  took_ms: echo.millis,
  secs_ago: secondsSince(at, now)
})

const pairReport = (
  { carrier, channel, keyExchange, name, peer, reason, sessions, since, state }: Pair,
  now: number
) => ({
  name,
  peer,
  channel,
  state,
  secs: secondsSince(since, now),
  sessions,
  ...(carrier === undefined ? {} : { carrier }),
  ...(keyExchange === undefined ? {} : { key_exchange: keyExchange }),
  ...(reason === undefined ? {} : { reason })
})

const keyExchangeReport = (counted: Facts["keyExchanges"]) =>
  Array.from(counted, ([name, counts]) => ({ key_exchange: name, ...counts }))

const serviceReport =
  (now: number) =>
  ({ hostname, metrics, name, origin, reason, state, url }: ServiceFacts) => ({
    name,
    state,
    hostname: hostname ?? null,
    url: url ?? null,
    origin,
    requests: metrics.requests.count ?? 0,
    open: metrics.tasksLive(),
    ...(metrics.probe.last === undefined ? {} : { last_probe: probeOf(metrics.probe.last, now) }),
    ...(reason === undefined ? {} : { reason })
  })

const reportStatus = ({
  services,
  certificate,
  channels,
  keyExchanges,
  meshKeyExchanges,
  joining,
  pairs,
  session,
  settings,
  traffic,
  update,
  probe,
  tasksLive,
  ringWriteErrors,
  credential,
  now
}: Facts) => {
  const member = joining === undefined ? undefined : { joining, sessions: channels.values() }
  const memberState = joining === undefined ? undefined : HealthCheck.stateOf({ joining, sessions: channels.values() })
  return new AgentStatus({
    version,
    session: session.id,
    conn: session.conn ?? null,
    uptime_secs: secondsSince(session.startedAt, now),
    transport: session.transport,
    carrier: session.carrier ?? null,
    registered: session.live > 0,
    registered_since:
      session.live > 0 && session.registeredSince !== undefined ? UnixSeconds.make(session.registeredSince) : null,
    last_seen_secs_ago: session.lastSeen === undefined ? null : secondsSince(session.lastSeen, now),
    reconnects: traffic.reconnects,
    last_error: session.lastError ?? null,
    tasks_live: tasksLive,
    update_state: UpdateState.describe(update, now),
    oidc_credential: credential,
    masque_dropped_datagrams: { outbound: 0, inbound: 0 },
    events_ring_write_errors: ringWriteErrors,
    last_probe: probe.last === undefined ? null : probeOf(probe.last, now),
    ...(channels.size === 0
      ? {}
      : {
          channel_sessions: Array.from(channels, ([carrier, counts]) => ({ carrier, ...counts })),
          channel_key_exchanges: keyExchangeReport(keyExchanges)
        }),
    ...(meshKeyExchanges.size === 0 ? {} : { mesh_key_exchanges: keyExchangeReport(meshKeyExchanges) }),
    ...(memberState === undefined ? {} : { channel_state: memberState }),
    ...(pairs === undefined ? {} : { channel_pairs: pairs.map((pair) => pairReport(pair, now)) }),
    ...(certificate.current === undefined
      ? {}
      : { certificate: { words: certificate.current.text, secs: secondsSince(certificate.current.since, now) } }),
    ...(services === undefined ? {} : { services: services.map(serviceReport(now)) }),
    ...(settings.warnings.length === 0 ? {} : { warnings: settings.warnings }),
    healthy: Result.isSuccess(HealthCheck.check(session, now, member, pairs))
  })
}

const standardLines = 100
const maxLines = 1000

/** 1 to 1000; 100 if it is no number. */
export const lineCount = (n: string | undefined) => {
  const number = n !== undefined && /^[+-]?\d{1,15}$/.test(n.trim()) ? Number(n) : standardLines
  return Math.min(maxLines, Math.max(1, number))
}

const memberOf = ({ channel, channels }: AgentMetrics["Service"]) => {
  const joining = channel()
  return joining === undefined ? undefined : { joining, sessions: channels().values() }
}

const handlers = (source: BearerSource) =>
  HttpApiBuilder.group(
    AgentLocalApi,
    "agent",
    Effect.fn(function* (handlers) {
      const metrics = yield* AgentMetrics
      const events = yield* Events
      const fs = yield* FileSystem.FileSystem
      // The file is read at every request, since a renewal rewrites it.
      const credential = Effect.provideService(Credential.stateOf(source), FileSystem.FileSystem, fs)
      return handlers.handleAll({
        metrics: () =>
          Effect.sync(() =>
            MetricsPage.render({
              traffic: metrics.total(),
              registered: metrics.session.live > 0,
              transport: metrics.session.transport,
              events: events.counts(),
              tasksLive: metrics.tasksLive(),
              faults: metrics.faults(),
              refusals: metrics.refusals,
              toolCalls: metrics.toolCalls,
              channels: metrics.channels(),
              keyExchanges: metrics.keyExchanges(),
              meshKeyExchanges: metrics.meshKeyExchanges(),
              pairs: metrics.room.pairs ?? [],
              relayNode: metrics.relayNode.read?.()
            })
          ),
        status: () =>
          Effect.gen(function* () {
            return reportStatus({
              channels: metrics.channels(),
              keyExchanges: metrics.keyExchanges(),
              meshKeyExchanges: metrics.meshKeyExchanges(),
              joining: metrics.channel(),
              pairs: metrics.room.pairs,
              services: metrics.services.read?.(),
              session: metrics.session,
              settings: metrics.settings,
              traffic: metrics.traffic,
              probe: metrics.probe,
              certificate: metrics.certificate,
              update: metrics.update,
              tasksLive: metrics.tasksLive(),
              ringWriteErrors: events.ring.writeErrors(),
              credential: yield* credential,
              now: metrics.now()
            })
          }),
        health: () =>
          Effect.suspend(() =>
            Effect.fromResult(
              Result.map(
                HealthCheck.check(metrics.session, metrics.now(), memberOf(metrics), metrics.room.pairs),
                () => "ok" as const
              )
            )
          ),
        events: ({ query }) =>
          Effect.map(events.ring.last(lineCount(query.n)), (lines) => lines.map((line) => `${line}\n`).join(""))
      })
    })
  )

/** The endpoints are for reading. */
const others = HttpRouter.use((router) =>
  Effect.forEach(["/metrics", "/status", "/healthz", "/events"] as const, (path) =>
    Effect.forEach(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const, (method) =>
      router.add(method, path, HttpServerResponse.empty({ status: 405, headers: { allow: "GET, HEAD" } }))
    )
  )
)

const announce = Layer.effectDiscard(
  Effect.gen(function* () {
    const server = yield* HttpServer.HttpServer
    if (server.address._tag === "UnixPathAddress") return
    const { address, port } = server.address
    yield* Effect.logInfo(
      `status, metrics and events at http://${formatHostPort({ host: String(address), port })}/status`
    )
  })
)

/** A stopping agent does not wait for its responses: its replacement can serve only after it has ended. */
const grace = "250 millis"

/** Closes the remaining connections: clients keep theirs alive, and Node would wait for them. */
const cut = (server: Server) =>
  Layer.effectDiscard(Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections())))

/** The server at this address, for as long as the layer lives. */
export const layer = (listen: HostPort, source: BearerSource) => Layer.suspend(() => on(Http.server(), listen, source))

const on = (server: Server, listen: HostPort, source: BearerSource) =>
  HttpRouter.serve(Layer.merge(others, HttpApiBuilder.layer(AgentLocalApi).pipe(Layer.provide(handlers(source)))), {
    disableLogger: true,
    disableListenLog: true,
    routerConfig: { maxParamLength: 16_384 }
  }).pipe(
    Layer.provide(announce),
    Layer.provide(cut(server)),
    Layer.provide(
      NodeHttpServer.layer(() => server, { host: listen.host, port: listen.port, gracefulShutdownTimeout: grace })
    ),
    Layer.catchCause((cause) =>
      Layer.effectDiscard(
        Effect.logWarning(
          `CT_AGENT_METRICS_LISTEN: cannot listen on ${formatHostPort(listen)}; going on without`,
          cause
        )
      )
    )
  )
