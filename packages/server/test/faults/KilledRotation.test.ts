/**
 * `POST /me/tunnels/:id/rotate-token` while the server is killed. A trigger stops each rotation at one of its writes, one
 * tunnel for each write, and one SIGKILL ends them all; one more rotation is committed, and its edge has not heard of it.
 */
import { until } from "@catenet/testing/Eventually"
import { readyAt } from "@catenet/testing/server/Accounts"
import * as Program from "@catenet/testing/server/faults/Program"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import { adminToken, sealKey } from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"

/** The tables that a rotation writes to. */
const places = ["hosts", "tunnels", "revoked_tokens", "outbox", "audit_log", "idempotent_answers"] as const
type Place = (typeof places)[number] | "after the commit"

const owner = "owner"
/** The advisory lock that a stopped transaction waits for. */
const lock = 991

interface Tunnel {
  readonly place: Place
  readonly id: string
  readonly hostname: string
  readonly old: string
}

const server = Effect.gen(function* () {
  const { serverUrl } = yield* TestDatabase
  const edge = yield* RecordingEdge
  const { issuer } = yield* TestIssuer
  const port = yield* Program.freePort
  return yield* Program.start({
    name: "control plane",
    port,
    main: Program.controlPlane,
    health: "/readyz",
    env: {
      CT_CONTROL_PLANE_LISTEN: `127.0.0.1:${port}`,
      CT_CP_DATABASE_POOL: "12",
      CT_CP_DATABASE_URL: Redacted.value(serverUrl),
      CT_CP_SEAL_KEY: sealKey,
      CT_CP_EDGE_ADMIN_TOKEN: adminToken,
      CT_CP_EDGE_ADMIN_URL: edge.url,
      CT_OIDC_ISSUER: issuer,
      CT_CP_OUTBOX_TICK_SECS: "1"
    }
  })
})

const post = (url: string, headers: Readonly<Record<string, string>>, body?: unknown) =>
  Effect.tryPromise(async () => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${response.status} ${text}`)
    return JSON.parse(text) as Record<string, string>
  })

/**
 * Stops a transaction that writes a row of the table about this tunnel, while the test holds the lock. A kept answer names
 * no tunnel: it is the last write, and only the rotation that is stopped there comes so far.
 */
const stopAt = Effect.fnUntraced(function* ({ hostname, id, old, place }: Tunnel) {
  const sql = yield* SqlClient.SqlClient
  const marks = place === "idempotent_answers" ? [`"nonce"`] : [id, hostname, old]
  const when = place === "idempotent_answers" ? "update" : "insert or update"
  yield* sql.unsafe(`create trigger stop_rotation before ${when} on ${place} for each row
    execute function stop_rotation(${marks.map((mark) => `'${mark}'`).join(", ")})`)
})

const stopping = `create function stop_rotation() returns trigger language plpgsql as $$
  declare mark text;
  begin
    foreach mark in array tg_argv loop
      if position(mark in to_jsonb(new)::text) > 0 then perform pg_advisory_xact_lock_shared(${lock}); end if;
    end loop;
    return new;
  end $$`

const stateOf = ({ hostname, id, old }: Tunnel) =>
  SqlClient.SqlClient.use(
    (sql) => sql<{ token: string; host: string; revoked: boolean; audits: number }>`
      select t.routing_token as token, h.routing_token as host,
        exists (select 1 from revoked_tokens where routing_token = ${old}) as revoked,
        (select count(*)::int from audit_log where action = 'routing_token_rotated' and target = ${id}) as audits
      from tunnels t join hosts h on h.hostname = ${hostname} where t.id = ${id}`
  ).pipe(Effect.map(([row]) => ({ ...(row ?? assert.fail("no tunnel")) })))

const tunnelFor = (url: string) =>
  Effect.fnUntraced(function* (place: Place) {
    const sql = yield* SqlClient.SqlClient
    const hostname = `${place.replaceAll(/[ _]/g, "-")}.example.test`
    const operator = { "x-ct-admin-token": adminToken }
    const made = yield* post(`${url}/admin/provision-tunnel`, operator, { subject: owner, name: place, hostname })
    const [row] = yield* sql<{ id: string }>`select id from tunnels where hostname = ${hostname}`
    return { place, hostname, id: row?.id ?? assert.fail(), old: made["routing_token"] ?? assert.fail() }
  })

layer(Layer.mergeAll(TestDatabase.layer, RecordingEdge.layer, TestIssuer.layer), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a server that is killed while it rotates a routing token", (it) => {
  it.effect("leaves the old state or the new one, and a repeated request completes it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const edge = yield* RecordingEdge
      const program = yield* server
      const bearer = { authorization: `Bearer ${yield* TestIssuer.use(({ token }) => token({ sub: owner }))}` }
      const stopped = yield* Effect.forEach(places, tunnelFor(program.url))
      const committed = yield* tunnelFor(program.url)("after the commit")
      const rotate = ({ id }: Tunnel) =>
        // A server that has just started knows no keys of the issuer yet.
        readyAt(program.url).pipe(
          Effect.andThen(post(`${program.url}/me/tunnels/${id}/rotate-token`, { ...bearer, "idempotency-key": id })),
          Effect.map((answer) => answer["routing_token"] ?? assert.fail())
        )

      yield* edge.behave("away")
      const given = yield* rotate(committed)
      yield* sql.unsafe(stopping)
      yield* Effect.forEach(stopped, stopAt)
      const held = yield* sql.reserve
      yield* held.executeUnprepared(`select pg_advisory_lock(${lock})`, [], undefined)
      yield* Effect.forEach(stopped, (tunnel) => Effect.forkScoped(Effect.ignore(rotate(tunnel))))
      const waiting = sql`select 1 from pg_locks where locktype = 'advisory' and objid = ${lock} and not granted
        and database = (select oid from pg_database where datname = current_database())`
      yield* until(waiting, (rows) => rows.length === places.length)
      const striking = yield* Effect.forkScoped(program.strike)
      const answers = Effect.exit(Effect.tryPromise(() => fetch(`${program.url}/readyz`)))
      yield* until(answers, Exit.isFailure, "5 millis")
      yield* held.executeUnprepared(`select pg_advisory_unlock(${lock})`, [], undefined)
      yield* Fiber.join(striking)
      // Each waits for the end of the transactions that the server has left behind.
      for (const place of places) yield* sql.unsafe(`drop trigger stop_rotation on ${place}`)

      for (const tunnel of stopped) {
        const { old, place } = tunnel
        assert.deepStrictEqual(yield* stateOf(tunnel), { token: old, host: old, revoked: false, audits: 0 }, place)
      }
      const whole = { token: given, host: given, revoked: true, audits: 1 }
      assert.deepStrictEqual(yield* stateOf(committed), whole)

      yield* edge.behave(200)
      assert.strictEqual(yield* rotate(committed), given)
      for (const tunnel of [...stopped, committed]) {
        const fresh = yield* rotate(tunnel)
        assert.notStrictEqual(fresh, tunnel.old)
        const state = yield* stateOf(tunnel)
        assert.deepStrictEqual(state, { ...whole, token: fresh, host: fresh }, tunnel.place)
        // An edge that was away gets all that it is to serve, beside the orders that waited for it.
        const authorized = `/admin/authorize-host/${tunnel.hostname}`
        yield* until(edge.about(fresh, 1), (calls) => calls.some(({ path }) => path.includes(authorized)))
        assert.strictEqual((yield* edge.about(tunnel.old, 2)).at(-1)?.path, "/admin/revoke")
      }
    }).pipe(
      Effect.scoped,
      Effect.provide(Layer.unwrap(Effect.map(TestDatabase, ({ url }) => PgClient.layer({ url, maxConnections: 3 }))))
    )
  )
})
