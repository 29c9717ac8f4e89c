/**
 * Limits the records of tunnels that the control plane has never named. Mesh agents generate such tokens, but anyone can. Kept are
 * the tunnels that were served longest, and the newest records of each.
 */
import { Schema } from "effect"
import type { Database } from "../sqlite/SqliteDatabase.ts"

/** Number of unnamed tunnels with records, in addition to those that are open. */
export const unregisteredTunnels = 1_000
/** Number of newest sessions and receipts kept for each. */
const sessionsOfUnnamed = 100
const receiptsOfUnnamed = 500
/** A session without traffic is recorded only after this time. */
export const provenSeconds = 60

const Count = Schema.Struct({ count: Schema.Int })
const Name = Schema.Struct({ tunnel: Schema.String })

export const make = (db: Database) => {
  const drop = (tunnel: string) => {
    for (const table of ["sessions", "receipts", "days", "silences", "unnamed_tunnels"])
      db.run(`delete from ${table} where tunnel = ?`, tunnel)
  }
  return {
    /** Called before a session of the tunnel is stored. */
    note: (tunnel: string): void => {
      db.run("insert or ignore into unnamed_tunnels (tunnel) values (?)", tunnel)
      db.run(
        "delete from sessions where tunnel = ?1 and id <= (select id from sessions where tunnel = ?1 order by id desc limit 1 offset ?2)",
        tunnel,
        sessionsOfUnnamed - 1
      )
      db.run(
        "delete from receipts where tunnel = ?1 and seq <= (select max(seq) from receipts where tunnel = ?1) - ?2",
        tunnel,
        receiptsOfUnnamed - 2
      )
      db.run(
        `delete from silences where tunnel = ?1 and began_at <=
           (select began_at from silences where tunnel = ?1 order by began_at desc limit 1 offset ?2)`,
        tunnel,
        sessionsOfUnnamed - 1
      )
    },
    /** Called when a session of the tunnel has ended. */
    served: (tunnel: string, seconds: number): void =>
      db.run("update unnamed_tunnels set served = served + ? where tunnel = ?", seconds, tunnel),
    /** Called when the control plane has named the tunnel: its records are no longer limited. */
    named: (tunnel: string): void => db.run("delete from unnamed_tunnels where tunnel = ?", tunnel),
    /** Deletes the records of the tunnels that were served least. */
    prune: (): void => {
      const [all] = db.all(Count, "select count(*) as count from unnamed_tunnels")
      const beyond = (all?.count ?? 0) - unregisteredTunnels
      if (beyond <= 0) return
      const least = db.all(
        Name,
        `select tunnel from unnamed_tunnels
         where not exists (select 1 from sessions where tunnel = unnamed_tunnels.tunnel and disconnected_at is null)
         order by served, rowid limit ?`,
        beyond
      )
      for (const { tunnel } of least) drop(tunnel)
    }
  }
}
