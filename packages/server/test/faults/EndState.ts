/**
 * What a scenario leaves behind: every row of every table but the counts of the minute, the clients at the provider, and
 * what the edge believes. Times, numbers of rows and values by chance are left out of it; a value that the scenario was given goes by its name.
 */
import { until } from "@catenet/testing/Eventually"
import type { Order } from "@catenet/testing/server/RecordingEdge"
import { PgClient } from "@effect/sql-pg"
import { Effect, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"

export interface EndState {
  readonly tables: ReadonlyMap<string, ReadonlyArray<Readonly<Record<string, unknown>>>>
  readonly clients: ReadonlyArray<string>
  readonly edge: ReadonlyArray<string>
}

interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly numbered: boolean
}

const isTime = ({ name, type }: Column) =>
  type.startsWith("timestamp") || (type === "bigint" && /(?:_at|^at|_until|^since)$/.test(name))

/** A row without what no two runs have in common. */
const stripped = (columns: ReadonlyArray<Column>, row: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    columns
      .filter(({ numbered }) => !numbered)
      .map((column) => {
        const value = row[column.name]
        return [column.name, value !== null && (isTime(column) || column.type === "bytea") ? column.type : value]
      })
  )

const tables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = yield* sql<Column>`
    select table_name as table, column_name as name, data_type as type, is_identity = 'YES' as numbered
    from information_schema.columns where table_schema = 'public' and table_name <> 'request_counts' order by ordinal_position`
  const found = new Map<string, ReadonlyArray<Readonly<Record<string, unknown>>>>()
  for (const [table, own] of Map.groupBy(columns, (column) => column.table)) {
    const rows = yield* sql<{ row: Readonly<Record<string, unknown>> }>`select to_jsonb(t) as row from ${sql(table)} t`
    found.set(
      table,
      rows.map(({ row }) => stripped(own, row))
    )
  }
  return found
})

/** What an edge holds after these orders: the last order for each tunnel counts. */
const believed = (orders: ReadonlyArray<Order>) => {
  const beliefs = new Map<string, string>()
  for (const { body, path, token = "" } of orders) {
    const [, host, query = ""] = /^\/admin\/authorize-host\/([^?/]+)(.*)$/.exec(path) ?? []
    if (host !== undefined) beliefs.set(`${token} ${host}`, query)
    else if (path.endsWith("/access-policy")) beliefs.set(`${token} policy`, body)
    else if (path === "/admin/revoke") {
      for (const key of beliefs.keys()) if (key.startsWith(token)) beliefs.delete(key)
      beliefs.set(`${token} revoked`, "")
    }
  }
  return Array.from(beliefs, (belief) => belief.join(" "))
}

/** The clients at the provider that stand for service accounts, from the file that it keeps. */
const clientsIn = (folder: string) => {
  const realm = JSON.parse(readFileSync(`${folder}/realm.json`, "utf8")) as { clients: Array<{ clientId: string }> }
  return realm.clients.map(({ clientId }) => clientId).filter((id) => id.startsWith("sa-"))
}

/** Waits until nothing is left to be done: no call to an edge, no delivery, no service account halfway. */
const unsettled = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // What waits for a minute waits no longer.
  yield* sql`update service_accounts set due_at = 0 where state <> 'active'`
  const [left] = yield* sql<{ count: bigint }>`select (select count(*) from outbox)
    + (select count(*) from alert_deliveries where status = 'pending')
    + (select count(*) from service_accounts where state <> 'active') as count`
  return Number(left?.count)
})
const settled = until(unsettled, (count) => count === 0, "100 millis")

/** Reads the end state of a deployment, once it has settled. */
export const read = (deployment: {
  readonly database: Redacted.Redacted
  readonly orders: ReadonlyArray<Order>
  readonly realmFolder: string
}): Effect.Effect<EndState> =>
  Effect.gen(function* () {
    yield* settled
    return { tables: yield* tables, clients: clientsIn(deployment.realmFolder), edge: believed(deployment.orders) }
  }).pipe(Effect.provide(PgClient.layer({ url: deployment.database, maxConnections: 2 })), Effect.orDie)

const chance = /s1\.[0-9a-f]{8}\.[\w-]+|127\.0\.0\.1:\d+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32,}/g

/** Everything in a state that could be a value by chance. */
export const valuesOf = (state: EndState): ReadonlySet<string> =>
  new Set(JSON.stringify([[...state.tables], state.clients, state.edge]).match(chance))

/** The lines of a state in one order: a value with a name goes by it, one that `certain` does not hold is any. */
export const linesOf = (state: EndState, names: ReadonlyMap<string, string>, certain: ReadonlySet<string>) => {
  const plain = (text: string) =>
    text.replaceAll(
      chance,
      (value) => names.get(value) ?? names.get(`sa-${value}`) ?? (certain.has(value) ? value : "#")
    )
  return [
    ...[...state.tables].flatMap(([table, rows]) => rows.map((row) => plain(`${table} ${JSON.stringify(row)}`))),
    ...state.clients.map((id) => plain(`client ${id}`)),
    ...state.edge.map((belief) => plain(`edge ${belief}`))
  ].toSorted()
}
