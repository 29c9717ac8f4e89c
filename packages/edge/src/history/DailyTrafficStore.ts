/**
 * Daily figures of tunnels (UTC): visitors, bytes, and the times in which echoes found a tunnel silent. Counted since the edge's
 * first start with these tables; nothing is known of earlier days.
 */
import { type TunnelDay, type TunnelFigures } from "@catenet/domain/tunnels/TunnelTraffic"
import {
  longestOutage,
  reached,
  type Session,
  type Silence,
  uptimeByDay,
  uptimeWindows
} from "@catenet/domain/tunnels/Uptime"
import { Schema } from "effect"
import type { Database } from "../sqlite/SqliteDatabase.ts"

const daySeconds = 86_400

const DayRow = Schema.Struct({
  day: Schema.Int,
  visitors: Schema.Int,
  bytes_in: Schema.Int,
  bytes_out: Schema.Int
})
const SilenceRow = Schema.Struct({ began_at: Schema.Int, ended_at: Schema.Int })
const SinceRow = Schema.Struct({ since: Schema.Int })
const SumRow = Schema.Struct({ sessions: Schema.Int, bytes_in: Schema.Int, bytes_out: Schema.Int })

export interface Counted {
  readonly visitors: number
  readonly bytesIn: number
  readonly bytesOut: number
}

const nothing: Counted = { visitors: 0, bytesIn: 0, bytesOut: 0 }

/**
 * Writes the figures of one session into its days. It writes the day's sum and not the increment, so that a failed write can be
 * repeated.
 */
export class DayCount {
  #day: number | undefined
  /** The day's figures when the session reached it, and the session's figures before. */
  #base = nothing
  #from = nothing
  #last = nothing

  write(days: Pick<DailyTrafficStore, "of" | "put">, tunnel: string, now: number, carried: Counted): void {
    const { bytesIn, bytesOut, visitors } = carried
    if (visitors === this.#last.visitors && bytesIn === this.#last.bytesIn && bytesOut === this.#last.bytesOut) return
    const day = now - (now % daySeconds)
    if (day !== this.#day) {
      this.#base = days.of(tunnel, day)
      this.#from = this.#last
      this.#day = day
    }
    days.put(tunnel, day, {
      visitors: this.#base.visitors + visitors - this.#from.visitors,
      bytesIn: this.#base.bytesIn + bytesIn - this.#from.bytesIn,
      bytesOut: this.#base.bytesOut + bytesOut - this.#from.bytesOut
    })
    this.#last = carried
  }
}

export const make = (db: Database) => {
  const since = () => db.all(SinceRow, "select since from counting limit 1")[0]?.since

  /** Over all sessions that overlap the last thirty days. */
  const sums = (tunnel: string, now: number) => {
    const [row] = db.all(
      SumRow,
      `select count(*) as sessions, coalesce(sum(bytes_in), 0) as bytes_in, coalesce(sum(bytes_out), 0) as bytes_out
       from sessions where tunnel = ? and (disconnected_at is null or disconnected_at > ?)`,
      tunnel,
      now - uptimeWindows.d30
    )
    return row ?? { sessions: 0, bytes_in: 0, bytes_out: 0 }
  }

  const counted = (tunnel: string, now: number) =>
    db.all(
      DayRow,
      "select day, visitors, bytes_in, bytes_out from days where tunnel = ? and day > ?",
      tunnel,
      now - uptimeWindows.d30 - daySeconds
    )

  /** Null if a part of the thirty days was not counted. */
  const visitorsOf = (days: ReadonlyArray<typeof DayRow.Type>, first: number | null, now: number) => {
    const from = Math.max(first ?? now, now - uptimeWindows.d30)
    return (since() ?? Infinity) > from ? null : days.reduce((sum, { visitors }) => sum + visitors, 0)
  }

  return {
    /** Begins counting, if that has not happened before. */
    begin: (now: number): void =>
      db.run("insert into counting select ? where not exists (select 1 from counting)", now),
    /** The day's figures so far. */
    of: (tunnel: string, day: number): Counted => {
      const [row] = db.all(
        DayRow,
        "select day, visitors, bytes_in, bytes_out from days where tunnel = ? and day = ?",
        tunnel,
        day
      )
      return row === undefined ? nothing : { visitors: row.visitors, bytesIn: row.bytes_in, bytesOut: row.bytes_out }
    },
    put: (tunnel: string, day: number, { bytesIn, bytesOut, visitors }: Counted): void =>
      db.run(
        "insert or replace into days (tunnel, day, visitors, bytes_in, bytes_out) values (?, ?, ?, ?, ?)",
        tunnel,
        day,
        visitors,
        bytesIn,
        bytesOut
      ),
    /** A silence that continues is written again with a later end. */
    silent: (tunnel: string, { began_at, ended_at }: Silence): void =>
      db.run(
        `insert into silences (tunnel, began_at, ended_at) values (?1, ?2, ?3)
         on conflict (tunnel, began_at) do update set ended_at = max(ended_at, ?3)`,
        tunnel,
        began_at,
        ended_at
      ),
    silences: (tunnel: string, now: number): ReadonlyArray<Silence> =>
      db.all(
        SilenceRow,
        "select began_at, ended_at from silences where tunnel = ? and ended_at > ? order by began_at",
        tunnel,
        now - uptimeWindows.d30 - daySeconds
      ),
    prune: (before: number): void => {
      db.run("delete from days where day < ?", before)
      db.run("delete from silences where ended_at < ?", before)
    },
    sums: (tunnel: string, first: number | null, now: number) => ({
      ...sums(tunnel, now),
      visitors: visitorsOf(counted(tunnel, now), first, now)
    }),
    figures: (
      tunnel: string,
      served: ReadonlyArray<Session>,
      first: number | null,
      now: number
    ): typeof TunnelFigures.Encoded => {
      const days = counted(tunnel, now)
      const byDay = new Map(days.map((row) => [row.day, row]))
      const from = since() ?? Infinity
      const dayOf = ({
        share,
        start
      }: {
        readonly start: number
        readonly share: number | null
      }): typeof TunnelDay.Encoded => {
        // The first day of counting is incomplete, like the day of the first session.
        const isCounted = share !== null && start + daySeconds > from
        const row = byDay.get(start) ?? { visitors: 0, bytes_in: 0, bytes_out: 0 }
        return {
          start,
          uptime_pct: share,
          visitors: isCounted ? row.visitors : null,
          bytes_in: isCounted ? row.bytes_in : null,
          bytes_out: isCounted ? row.bytes_out : null
        }
      }
      return {
        ...sums(tunnel, now),
        visitors: visitorsOf(days, first, now),
        longest_outage_secs: longestOutage(served, uptimeWindows.d30, now),
        days: uptimeByDay(served, first, now).map(dayOf)
      }
    }
  }
}

export type DailyTrafficStore = ReturnType<typeof make>

/** The sessions without their silences. */
export const servedOf = (sessions: ReadonlyArray<Session>, silences: ReadonlyArray<Silence>, now: number) =>
  silences.length === 0 ? sessions : reached(sessions, silences, now)
