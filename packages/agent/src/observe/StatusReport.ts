/** The agent's report of itself for `/status`. Pure. */
import { AgentStatus, type CredentialState } from "@catenet/domain/enrollment/AgentStatus"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { Result } from "effect"
import { version } from "../Version.ts"
import type {
  CertificateNote,
  ChannelCarrier,
  ChannelCounts,
  Joining,
  Pair,
  Probe,
  Session,
  Traffic
} from "./AgentMetrics.ts"
import * as HealthCheck from "./HealthCheck.ts"
import * as UpdateState from "./UpdateState.ts"

export interface Facts {
  readonly channels: ReadonlyMap<ChannelCarrier, ChannelCounts>
  readonly joining: Joining | undefined
  readonly pairs: ReadonlyArray<Pair> | undefined
  readonly session: Readonly<Session>
  readonly traffic: Readonly<Traffic>
  readonly probe: Readonly<Probe>
  readonly certificate: Readonly<CertificateNote>
  readonly update: Readonly<UpdateState.UpdateState>
  readonly tasksLive: number
  readonly ringWriteErrors: number
  readonly credential: CredentialState
  /** Unix milliseconds. */
  readonly now: number
}

const secondsSince = (then: number, now: number) => Math.max(0, Math.floor((now - then) / 1000))

const probeOf = ({ last }: Facts["probe"], now: number) =>
  last === undefined
    ? null
    : {
        origin: last.echo.origin ?? "",
        verdict: last.echo.verdict,
        http_status: last.echo.status ?? null,
        took_ms: last.echo.millis,
        secs_ago: secondsSince(last.at, now)
      }

const pairReport = ({ carrier, channel, name, peer, reason, sessions, since, state }: Pair, now: number) => ({
  name,
  peer,
  channel,
  state,
  secs: secondsSince(since, now),
  sessions,
  ...(carrier === undefined ? {} : { carrier }),
  ...(reason === undefined ? {} : { reason })
})

export const make = ({
  certificate,
  channels,
  joining,
  pairs,
  session,
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
    last_probe: probeOf(probe, now),
    ...(channels.size === 0
      ? {}
      : { channel_sessions: Array.from(channels, ([carrier, counts]) => ({ carrier, ...counts })) }),
    ...(memberState === undefined ? {} : { channel_state: memberState }),
    ...(pairs === undefined ? {} : { channel_pairs: pairs.map((pair) => pairReport(pair, now)) }),
    ...(certificate.current === undefined
      ? {}
      : { certificate: { words: certificate.current.text, secs: secondsSince(certificate.current.since, now) } }),
    healthy: Result.isSuccess(HealthCheck.check(session, now, member, pairs))
  })
}
