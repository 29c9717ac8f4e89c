/**
 * Stores the sessions of every tunnel: a session row and, where receipts are on, its attestations, in one transaction each. Bytes
 * are stored every minute and attested every hour if they changed. A token that the control plane has not named is recorded only
 * after it has carried traffic or existed for a while (see `UnregisteredTunnels`).
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
  /** Since when echoes have not reached the service. */
  silentSince: number | undefined
  /** Its beginning has been stored. */
  recorded: boolean
  /** The control plane has not named the tunnel. */
  unnamed: boolean
}

const loadReceipts = Effect.fn("SessionHistory.loadReceipts")(function* (db: Database) {
  const settings = yield* Settings
  if (!settings.receipts) return undefined
  if (!db.durable)
    return yield* ConfigurationInvalid.of(
      "CT_EDGE_RECEIPTS",
      "is on, but the database that they are kept in cannot be opened",
      "set CT_EDGE_TUNNEL_HISTORY_PATH to a file that this user can write, or turn receipts off"
    )
  const damaged = (file: string) =>
    ConfigurationInvalid.of(
      "CT_EDGE_RECEIPTS",
      `is on, but ${file} is not ${Ed25519Seed.shape}`,
      "restore the key from your backup, or turn receipts off"
    )
  return ReceiptLog.make(db, settings.edgeId, yield* Ed25519Seed.load("edge-receipts-key.bin", damaged))
})

interface Stores {
  readonly db: Database
  readonly sessions: TunnelSessionStore.TunnelSessionStore
  readonly days: DailyTrafficStore.DailyTrafficStore
  readonly receipts: ReceiptLog.ReceiptLog | undefined
}

const makeState = Effect.fnUntraced(function* (stores: Stores) {
  const { controlPlane, historyRetentionSeconds } = yield* Settings
  return {
    ...stores,
    controlPlane,
    historyRetentionSeconds,
    routes: yield* Routes,
    broadcast: yield* WorkerBroadcast,
    run: yield* FiberSet.makeRuntime<never>(),
    clock: yield* Clock.Clock,
    open: new Map<string, OpenSession>(),
    unnamedTunnels: UnregisteredTunnels.make(stores.db),
    /**
     * Functions that end a session at once. A session ends when the other processes have reported their bytes, or when the tunnel
     * is back.
     */
    ending: new Map<string, () => void>()
  }
})
type State = Effect.Success<ReturnType<typeof makeState>>

const now = ({ clock }: State) => toUnixSeconds(clock.currentTimeMillisUnsafe())

const moved = ({ tunnel, before }: OpenSession) => ({
  bytesIn: tunnel.traffic.aToB - before.in,
  bytesOut: tunnel.traffic.bToA - before.out
})

/** Adds the traffic to the current day, and a silence that lasts until now. Call it in a transaction. */
const count = ({ days }: State, session: OpenSession, at: number) => {
  const { before, name, silentSince, tunnel } = session
  session.days.write(days, name, at, { ...moved(session), visitors: tunnel.visits - before.visits })
  if (silentSince !== undefined) days.silent(name, { began_at: silentSince, ended_at: at })
}

const attestable = (session: OpenSession) => {
  const { bytesIn, bytesOut } = moved(session)
  return { connectedAt: BigInt(session.connectedAt), bytesIn: BigInt(bytesIn), bytesOut: BigInt(bytesOut) }
}

const isUnnamed = ({ controlPlane, routes }: State, tunnel: AgentPool) =>
  controlPlane !== undefined && !routes.isNamed(tunnel.token)

const record = (state: State, session: OpenSession) => {
  const { carrier, connectedAt, name, unnamed } = session
  session.recorded = true
  const at = now(state)
  state.db.write(() => {
    if (unnamed) state.unnamedTunnels.note(name)
    else state.unnamedTunnels.named(name)
    state.sessions.open(name, carrier, connectedAt)
    state.receipts?.append(
      name,
      at,
      Receipt.sessionOpen({ connectedAt: BigInt(connectedAt), transport: TunnelSessionStore.transportOf(carrier) })
    )
    if (unnamed) state.unnamedTunnels.prune()
  })
}

/** Stores a session that was held back, once the tunnel has proved to be in use. */
const settle = (state: State, session: OpenSession, at: number) => {
  const wasUnnamed = session.unnamed
  session.unnamed = wasUnnamed && isUnnamed(state, session.tunnel)
  const { bytesIn, bytesOut } = moved(session)
  const isProven =
    !session.unnamed || bytesIn + bytesOut > 0 || at - session.connectedAt >= UnregisteredTunnels.provenSeconds
  if (!session.recorded && isProven) record(state, session)
  else if (session.recorded && wasUnnamed && !session.unnamed)
    state.db.write(() => state.unnamedTunnels.named(session.name))
}

const begin = (state: State, tunnel: AgentPool, carrier: Carrier) => {
  const { aToB, bToA } = tunnel.traffic
  const session: OpenSession = {
    tunnel,
    name: state.routes.recordsOf(tunnel.token),
    connectedAt: now(state),
    before: { in: aToB, out: bToA, visits: tunnel.visits },
    carrier,
    attested: 0,
    days: new DailyTrafficStore.DayCount(),
    silentSince: undefined,
    recorded: false,
    unnamed: isUnnamed(state, tunnel)
  }
  state.open.set(tunnel.token, session)
  if (!session.unnamed) record(state, session)
}

const end = (state: State, session: OpenSession, reason: SessionEnd, at: number) => {
  state.open.delete(session.tunnel.token)
  settle(state, session, at)
  if (!session.recorded) return
  const { bytesIn, bytesOut } = moved(session)
  const closed = Receipt.sessionClose({ ...attestable(session), disconnectedAt: BigInt(at), reason })
  state.db.write(() => {
    state.sessions.flush(session.name, bytesIn, bytesOut, at)
    count(state, session, at)
    state.sessions.close(session.name, reason, at)
    state.receipts?.append(session.name, at, closed)
    if (!session.unnamed) return
    state.unnamedTunnels.served(session.name, at - session.connectedAt)
    state.unnamedTunnels.prune()
  })
}

const endSettled = (state: State, session: OpenSession, reason: SessionEnd) => {
  const { token } = session.tunnel
  const at = now(state)
  const finish = () => {
    // The tunnel may have come back and be ending again.
    if (state.ending.get(token) !== finish) return
    state.ending.delete(token)
    end(state, session, reason, at)
  }
  state.ending.set(token, finish)
  if (state.broadcast.isEmpty()) return finish()
  return void state.run(Effect.andThen(state.broadcast.send({ _tag: "Report" }), Effect.sync(finish)))
}

/** Reads the figures only when they are written, so that they do not pile up while the database is blocked. */
const flushAll = (state: State) =>
  Effect.sync(() => {
    const at = now(state)
    for (const session of state.open.values()) settle(state, session, at)
    state.db.write(() => {
      for (const session of state.open.values()) {
        if (!session.recorded) continue
        const { bytesIn, bytesOut } = moved(session)
        state.sessions.flush(session.name, bytesIn, bytesOut, now(state))
        count(state, session, now(state))
      }
    })
  })

const attestAll = (state: State) =>
  Effect.sync(() => {
    const at = now(state)
    const all = Array.from(state.open.values()).flatMap((session) => {
      const { bytesIn, bytesOut } = moved(session)
      if (!session.recorded || bytesIn + bytesOut === session.attested) return []
      session.attested = bytesIn + bytesOut
      return [{ name: session.name, event: Receipt.bytesMoved(attestable(session)) }]
    })
    state.db.write(() => {
      for (const { event, name } of all) state.receipts?.append(name, at, event)
      state.sessions.prune(at - state.historyRetentionSeconds)
      state.days.prune(at - state.historyRetentionSeconds)
    }, all.length)
  })

/** Closes sessions that an earlier process left open, at their last update. */
const settleThePast = (state: State) =>
  Effect.sync(() =>
    state.db.write(() => {
      for (const { tunnel, connected_at, bytes_in, bytes_out, last_flush } of state.sessions.leftOpen()) {
        const disconnectedAt = BigInt(last_flush)
        const bytes = { bytesIn: BigInt(bytes_in), bytesOut: BigInt(bytes_out) }
        const event = { ...bytes, connectedAt: BigInt(connected_at), disconnectedAt, reason: "edge-restart" }
        state.sessions.close(tunnel, "edge-restart", last_flush)
        state.receipts?.append(tunnel, now(state), Receipt.sessionClose(event))
      }
    })
  )

const keep = Effect.fn("SessionHistory.keep")(function* (stores: Stores) {
  const state = yield* makeState(stores)
  const agents = yield* AgentSessions
  const echoes = yield* OriginEchoes
  yield* settleThePast(state)
  state.db.write(() => state.days.begin(now(state)))
  echoes.observe((tunnel, reach, at) => {
    const session = state.open.get(tunnel.token)
    if (session === undefined) return
    const isSilent = isReached(reach) === false
    const since = session.silentSince
    if (isSilent === (since !== undefined)) return
    session.silentSince = isSilent ? at : undefined
    if (session.recorded) state.db.write(() => state.days.silent(session.name, { began_at: since ?? at, ended_at: at }))
  })
  agents.observe({
    connected: (tunnel, carrier) => {
      state.ending.get(tunnel.token)?.()
      begin(state, tunnel, carrier)
    },
    carried: (tunnel, carrier) => {
      const session = state.open.get(tunnel.token)
      if (session === undefined || session.carrier === carrier) return
      session.carrier = carrier
      if (session.recorded) state.db.write(() => state.sessions.carry(session.name, carrier))
    },
    disconnected: (tunnel, reason) => {
      const session = state.open.get(tunnel.token)
      if (session !== undefined) endSettled(state, session, reason)
    }
  })
  const flushing = flushAll(state).pipe(Effect.delay("60 seconds"), Effect.repeat(Schedule.forever))
  yield* Effect.forkScoped(flushing.pipe(retryForever("writing the sessions")))
  const attesting = attestAll(state).pipe(Effect.delay("1 hour"), Effect.repeat(Schedule.forever))
  yield* Effect.forkScoped(attesting.pipe(retryForever("writing the receipts of open sessions")))
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const finish of Array.from(state.ending.values())) finish()
      for (const session of Array.from(state.open.values())) end(state, session, "edge-restart", now(state))
    })
  )
})

export class SessionHistory extends Context.Service<
  SessionHistory,
  {
    /** Undefined if the history is disabled. */
    readonly sessions: TunnelSessionStore.TunnelSessionStore | undefined
    /** Undefined if receipts are disabled. */
    readonly receipts: ReceiptLog.ReceiptLog | undefined
  }
>()("edge/history/SessionHistory") {
  static readonly make = Effect.gen(function* () {
    const { db } = yield* HistoryDatabase
    if (db === undefined) return { sessions: undefined, receipts: undefined }
    const days = DailyTrafficStore.make(db)
    const sessions = TunnelSessionStore.make(db, days)
    const receipts = yield* loadReceipts(db)
    yield* keep({ db, sessions, days, receipts })
    return { sessions, receipts }
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(
    Layer.provide([AgentSessions.layer, OriginEchoes.layer, Routes.layer, WorkerBroadcast.layer, HistoryDatabase.layer])
  )
}
