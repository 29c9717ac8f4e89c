/**
 * Stores the sessions of every tunnel: a session row and, where receipts are on, its attestations, in one transaction each.
 * Bytes are noted every minute, attested every hour when they moved. A token that the control plane has not named leaves
 * records only when it has carried something or was there for a while (see `UnregisteredTunnels`).
 */
import * as Receipt from "@catenet/crypto/receipt/Receipt"
import { isReached } from "@catenet/domain/tunnels/Reachability"
import type { SessionEnd } from "@catenet/domain/tunnels/TunnelTraffic"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { retryForever } from "@catenet/platform/RetryForever"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import { Clock, Context, Effect, FiberSet, Layer, Schedule } from "effect"
import * as Ed25519Seed from "../ca/Ed25519Seed.ts"
import { Routes } from "../routes/Routes.ts"
import { WorkerBroadcast } from "../routes/WorkerBroadcast.ts"
import type { Carrier, AgentPool } from "../sessions/AgentPool.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { OriginEchoes } from "../sessions/OriginEchoes.ts"
import { Settings } from "../settings/Settings.ts"
import { HistoryDatabase } from "../sqlite/HistoryDatabase.ts"
import type { Database } from "../sqlite/SqliteDatabase.ts"
import * as DailyTrafficStore from "./DailyTrafficStore.ts"
import * as ReceiptLog from "./ReceiptLog.ts"
import * as TunnelSessionStore from "./TunnelSessionStore.ts"
import * as UnregisteredTunnels from "./UnregisteredTunnels.ts"

interface OpenSession {
  readonly tunnel: AgentPool
  readonly name: string
  readonly connectedAt: number
  /** Totals of the tunnel when the session began. */
  readonly before: { readonly in: number; readonly out: number; readonly visits: number }
  carrier: Carrier
  attested: number
  readonly days: DailyTrafficStore.DayCount
  /** Since when visitors have not reached the service, by what the echo finds. */
  silentSince: number | undefined
  /** Its beginning is written. */
  recorded: boolean
  /** The control plane has not named the tunnel. */
  unnamed: boolean
}

const loadReceipts = Effect.fn("SessionHistory.loadReceipts")(function* (db: Database) {
  const settings = yield* Settings
  if (!settings.receipts) return undefined
  if (!db.durable) {
    return yield* ConfigurationInvalid.of(
      "CT_EDGE_RECEIPTS",
      "is on, but the database that they are kept in cannot be opened",
      "set CT_EDGE_TUNNEL_HISTORY_PATH to a file that this user can write, or turn receipts off"
    )
  }
  const damaged = (file: string) =>
    ConfigurationInvalid.of(
      "CT_EDGE_RECEIPTS",
      `is on, but ${file} is not ${Ed25519Seed.shape}`,
      "restore the key from your backup, or turn receipts off"
    )
  return ReceiptLog.make(db, settings.edgeId, yield* Ed25519Seed.load("edge-receipts-key.bin", damaged))
})

const keep = Effect.fn("SessionHistory.keep")(function* (
  db: Database,
  sessions: TunnelSessionStore.TunnelSessionStore,
  days: DailyTrafficStore.DailyTrafficStore,
  receipts: ReceiptLog.ReceiptLog | undefined
) {
  const { controlPlane, historyRetentionSeconds } = yield* Settings
  const agents = yield* AgentSessions
  const echoes = yield* OriginEchoes
  const routes = yield* Routes
  const broadcast = yield* WorkerBroadcast
  const run = yield* FiberSet.makeRuntime<never>()
  const clock = yield* Clock.Clock
  const open = new Map<string, OpenSession>()
  const unnamedTunnels = UnregisteredTunnels.make(db)
  const now = () => toUnixSeconds(clock.currentTimeMillisUnsafe())

  const moved = ({ tunnel, before }: OpenSession) => ({
    bytesIn: tunnel.traffic.aToB - before.in,
    bytesOut: tunnel.traffic.bToA - before.out
  })
  /** Puts what was carried under the day that it is now, and a silence that lasts up to now. In a transaction of the caller. */
  const count = (session: OpenSession, at: number) => {
    const { before, name, silentSince, tunnel } = session
    session.days.write(days, name, at, { ...moved(session), visitors: tunnel.visits - before.visits })
    if (silentSince !== undefined) days.silent(name, { began_at: silentSince, ended_at: at })
  }

  const attestable = (session: OpenSession) => {
    const { bytesIn, bytesOut } = moved(session)
    return { connectedAt: BigInt(session.connectedAt), bytesIn: BigInt(bytesIn), bytesOut: BigInt(bytesOut) }
  }

  const isUnnamed = (tunnel: AgentPool) => controlPlane !== undefined && !routes.isNamed(tunnel.token)

  const record = (session: OpenSession) => {
    const { carrier, connectedAt, name, unnamed } = session
    session.recorded = true
    const at = now()
    db.write(() => {
      if (unnamed) unnamedTunnels.note(name)
      else unnamedTunnels.named(name)
      sessions.open(name, carrier, connectedAt)
      receipts?.append(
        name,
        at,
        Receipt.sessionOpen({ connectedAt: BigInt(connectedAt), transport: TunnelSessionStore.transportOf(carrier) })
      )
      if (unnamed) unnamedTunnels.prune()
    })
  }

  /** Writes down what was held back, where the tunnel turned out to be more than a token. */
  const settle = (session: OpenSession, at: number) => {
    const wasUnnamed = session.unnamed
    session.unnamed = wasUnnamed && isUnnamed(session.tunnel)
    const { bytesIn, bytesOut } = moved(session)
    const isProven =
      !session.unnamed || bytesIn + bytesOut > 0 || at - session.connectedAt >= UnregisteredTunnels.provenSeconds
    if (!session.recorded && isProven) record(session)
    else if (session.recorded && wasUnnamed && !session.unnamed) db.write(() => unnamedTunnels.named(session.name))
  }

  const begin = (tunnel: AgentPool, carrier: Carrier) => {
    const { aToB, bToA } = tunnel.traffic
    const session: OpenSession = {
      tunnel,
      name: routes.recordsOf(tunnel.token),
      connectedAt: now(),
      before: { in: aToB, out: bToA, visits: tunnel.visits },
      carrier,
      attested: 0,
      days: new DailyTrafficStore.DayCount(),
      silentSince: undefined,
      recorded: false,
      unnamed: isUnnamed(tunnel)
    }
    open.set(tunnel.token, session)
    if (!session.unnamed) record(session)
  }

  const end = (session: OpenSession, reason: SessionEnd, at: number) => {
    open.delete(session.tunnel.token)
    settle(session, at)
    if (!session.recorded) return
    const { bytesIn, bytesOut } = moved(session)
    const closed = Receipt.sessionClose({ ...attestable(session), disconnectedAt: BigInt(at), reason })
    db.write(() => {
      sessions.flush(session.name, bytesIn, bytesOut, at)
      count(session, at)
      sessions.close(session.name, reason, at)
      receipts?.append(session.name, at, closed)
      if (!session.unnamed) return
      unnamedTunnels.served(session.name, at - session.connectedAt)
      unnamedTunnels.prune()
    })
  }

  /**
   * Other processes of this edge may have relayed what they have not reported yet. A session ends when they have, or
   * when the tunnel comes back before that.
   */
  const ending = new Map<string, () => void>()
  const endSettled = (session: OpenSession, reason: SessionEnd) => {
    const { token } = session.tunnel
    const at = now()
    const finish = () => {
      // The tunnel may have come back and be ending once more.
      if (ending.get(token) !== finish) return
      ending.delete(token)
      end(session, reason, at)
    }
    ending.set(token, finish)
    if (broadcast.isEmpty()) return finish()
    return void run(Effect.andThen(broadcast.send({ _tag: "Report" }), Effect.sync(finish)))
  }

  /** Reads the figures only when they are written: while a database takes nothing, minutes of them would pile up. */
  const flushAll = Effect.sync(() => {
    const at = now()
    for (const session of open.values()) settle(session, at)
    db.write(() => {
      for (const session of open.values()) {
        if (!session.recorded) continue
        const { bytesIn, bytesOut } = moved(session)
        sessions.flush(session.name, bytesIn, bytesOut, now())
        count(session, now())
      }
    })
  })

  const attestAll = Effect.sync(() => {
    const at = now()
    const all = Array.from(open.values()).flatMap((session) => {
      const { bytesIn, bytesOut } = moved(session)
      if (!session.recorded || bytesIn + bytesOut === session.attested) return []
      session.attested = bytesIn + bytesOut
      return [{ name: session.name, event: Receipt.bytesMoved(attestable(session)) }]
    })
    db.write(() => {
      for (const { event, name } of all) receipts?.append(name, at, event)
      sessions.prune(at - historyRetentionSeconds)
      days.prune(at - historyRetentionSeconds)
    }, all.length)
  })

  /** What a process before this one left open ended at its last sign of life. */
  const settleThePast = Effect.sync(() =>
    db.write(() => {
      for (const { tunnel, connected_at, bytes_in, bytes_out, last_flush } of sessions.leftOpen()) {
        const disconnectedAt = BigInt(last_flush)
        const bytes = { bytesIn: BigInt(bytes_in), bytesOut: BigInt(bytes_out) }
        const event = { ...bytes, connectedAt: BigInt(connected_at), disconnectedAt, reason: "edge-restart" }
        sessions.close(tunnel, "edge-restart", last_flush)
        receipts?.append(tunnel, now(), Receipt.sessionClose(event))
      }
    })
  )

  yield* settleThePast
  db.write(() => days.begin(now()))
  echoes.observe((tunnel, reach, at) => {
    const session = open.get(tunnel.token)
    if (session === undefined) return
    const isSilent = isReached(reach) === false
    const since = session.silentSince
    if (isSilent === (since !== undefined)) return
    session.silentSince = isSilent ? at : undefined
    if (session.recorded) db.write(() => days.silent(session.name, { began_at: since ?? at, ended_at: at }))
  })
  agents.observe({
    connected: (tunnel, carrier) => {
      ending.get(tunnel.token)?.()
      begin(tunnel, carrier)
    },
    carried: (tunnel, carrier) => {
      const session = open.get(tunnel.token)
      if (session === undefined || session.carrier === carrier) return
      session.carrier = carrier
      if (session.recorded) db.write(() => sessions.carry(session.name, carrier))
    },
    disconnected: (tunnel, reason) => {
      const session = open.get(tunnel.token)
      if (session !== undefined) endSettled(session, reason)
    }
  })
  const flushing = flushAll.pipe(Effect.delay("60 seconds"), Effect.repeat(Schedule.forever))
  yield* Effect.forkScoped(flushing.pipe(retryForever("writing the sessions")))
  const attesting = attestAll.pipe(Effect.delay("1 hour"), Effect.repeat(Schedule.forever))
  yield* Effect.forkScoped(attesting.pipe(retryForever("writing the receipts of open sessions")))
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const finish of Array.from(ending.values())) finish()
      for (const session of Array.from(open.values())) end(session, "edge-restart", now())
    })
  )
})

export class SessionHistory extends Context.Service<
  SessionHistory,
  {
    /** Absent when history is switched off. */
    readonly sessions: TunnelSessionStore.TunnelSessionStore | undefined
    /** Absent when receipts are off. */
    readonly receipts: ReceiptLog.ReceiptLog | undefined
  }
>()("edge/history/SessionHistory") {
  static readonly make = Effect.gen(function* () {
    const { db } = yield* HistoryDatabase
    if (db === undefined) return { sessions: undefined, receipts: undefined }
    const days = DailyTrafficStore.make(db)
    const sessions = TunnelSessionStore.make(db, days)
    const receipts = yield* loadReceipts(db)
    yield* keep(db, sessions, days, receipts)
    return { sessions, receipts }
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(
    Layer.provide([AgentSessions.layer, OriginEchoes.layer, Routes.layer, WorkerBroadcast.layer, HistoryDatabase.layer])
  )
}
