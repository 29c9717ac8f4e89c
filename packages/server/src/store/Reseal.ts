/**
 * Changes of the seal key. At the start a value whose key `CT_CP_SEAL_KEY` lacks is refused, before anything is served.
 * Then, and once a minute because another replica may still seal under an older key, values of other keys and those from
 * before sealing are sealed under the first key.
 */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Effect, Layer, Schedule } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { retryWhileUnavailable } from "./DatabaseAvailability.ts"
import { type Place, Sealing } from "./Sealing.ts"

interface Column {
  readonly place: Place
  readonly table: string
  readonly column: string
}

const columnAt = (place: Place): Column => {
  const [table = "", column = ""] = place.split(".")
  return { place, table, column }
}

/** They end within two days, a challenge or a mailed code within minutes; one that cannot be opened is replaced. */
type ShortLived =
  "platform_certificates.challenge" | "sign_in_codes.email" | "sign_in_mails.content" | "ticket_keys.key"

const places: Readonly<Record<Exclude<Place, ShortLived>, true>> = {
  "alerts.receiver_token": true,
  "alerts.secret": true,
  "alerts.webhook_url": true,
  "bridges.grant_hex": true,
  "channel_grants.grant_hex": true,
  "gate_codes.path": true,
  "gate_sign_ins.path": true,
  "platform_accounts.key": true,
  "platform_certificates.key": true,
  "portal_sessions.id_token": true,
  "portal_sign_ins.next": true,
  "sign_in_clients.content": true,
  "sign_in_keys.key": true,
  "sign_in_records.payload": true
}
const columns = Object.keys(places).map((place) => columnAt(place as Place))

const batchSize = 200
/** Characters of `s1.`, eight hex digits and the dot behind them. */
const prefixLength = 12

interface Stored {
  /** Where the row stands, good until the end of the transaction that locked it. */
  readonly at: string
  readonly text: string
}

const dependencies = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const sealing = yield* Sealing

  const sides = [sql.literal("<"), sql.literal(">")]
  return { sealing, sides, sql }
})
type State = Effect.Success<typeof dependencies>

const prefixOf = ({ sql }: State, column: string) =>
  sql`left(${sql(column)}, ${sql.literal(String(prefixLength))}) collate "C"`

/** The next key id, in order, that a column holds; each look is one step in the index. */
const nextKeyId = (state: State, { column, table }: Column, after: string) =>
  Effect.map(
    state.sql<{ readonly prefix: string | null }>`
      select min(${prefixOf(state, column)}) as prefix from ${state.sql(table)}
      where ${state.sql(column)} is not null and ${prefixOf(state, column)} > ${after} and ${prefixOf(state, column)} < 's1/'`,
    ([row]) => row?.prefix ?? undefined
  )

const keyIds = (state: State, column: Column) =>
  Effect.gen(function* () {
    const found: Array<string> = []
    for (
      let prefix = yield* nextKeyId(state, column, "s1.");
      prefix !== undefined;
      prefix = yield* nextKeyId(state, column, prefix)
    )
      found.push(prefix.slice(3, -1))
    return found
  })

const selectOthers = (state: State, { column, table }: Column, side: Statement.Fragment) =>
  state.sql<Stored>`
    select ctid::text as at, ${state.sql(column)} as text from ${state.sql(table)}
    where ${state.sql(column)} is not null and ${prefixOf(state, column)} ${side} ${state.sealing.prefix}
    order by ${prefixOf(state, column)} limit ${batchSize} for update skip locked`

/** Seals a batch of one column anew and answers how many values that were. */
const batch = (state: State, each: Column, side: Statement.Fragment) =>
  state.sql.withTransaction(
    Effect.gen(function* () {
      const rows = yield* selectOthers(state, each, side)
      const sealed = yield* Effect.forEach(rows, ({ at, text }) =>
        Effect.map(Effect.fromResult(state.sealing.open(each.place, text)), (plain) => ({
          at,
          text: state.sealing.seal(each.place, plain)
        }))
      )
      yield* state.sql`
        update ${state.sql(each.table)} set ${state.sql(each.column)} = sealed.text
        from json_to_recordset(${JSON.stringify(sealed)}::json) as sealed (at text, text text)
        where ${state.sql(each.table)}.ctid = sealed.at::tid`
      return rows.length
    })
  )

const column = (state: State, each: Column) =>
  Effect.gen(function* () {
    let sealed = 0
    for (const side of state.sides)
      for (let last = batchSize; last === batchSize; sealed += last) last = yield* batch(state, each, side)
    if (sealed > 0)
      yield* Effect.logInfo("All values are sealed with the first key of CT_CP_SEAL_KEY.", {
        values: sealed,
        place: each.place
      })
    return sealed
  })

export const make = Effect.map(dependencies, (state) => ({
  /** Fails when a value was sealed under a key that is not there. */
  check: Effect.gen(function* () {
    for (const each of columns)
      for (const id of yield* keyIds(state, each))
        if (!state.sealing.keyIds.includes(id))
          return yield* ConfigurationInvalid.of(
            "CT_CP_SEAL_KEY",
            `lacks the key ${id}, under which values of ${each.place} are sealed`,
            "add that key behind the first one and start again"
          )
  }),
  /** Seals everything under the first key; how many values that were. */
  run: Effect.map(
    Effect.forEach(columns, (each) => column(state, each)),
    (counts) => counts.reduce((sum, count) => sum + count, 0)
  ),
  keyIds: Effect.map(
    Effect.forEach(columns, (column) => keyIds(state, column)),
    (found) => new Set(found.flat())
  )
}))

/** Checks the keys, then seals in the background for as long as the layer lives. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { check, run } = yield* make
    yield* Effect.catchTag(retryWhileUnavailable(check), "SqlError", Effect.die)
    yield* run.pipe(
      Effect.catchCause((cause) =>
        Effect.logWarning("Could not seal values with the first key of CT_CP_SEAL_KEY.", cause)
      ),
      Effect.repeat(Schedule.spaced("1 minute")),
      Effect.forkScoped
    )
  })
)
