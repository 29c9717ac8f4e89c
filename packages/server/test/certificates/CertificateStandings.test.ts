import { stepSeconds } from "@catenet/domain/certificates/CertificateStanding"
import { server } from "@catenet/testing/server/Accounts"
import { ask, person } from "@catenet/testing/server/channels/Asking"
import { headersOf } from "@catenet/testing/server/Contract"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { openStream } from "../portal/EventStream.ts"

interface Named {
  readonly id: string
  readonly token: string
  readonly hostname: string
}

const inDatabase = <A, E>(use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  Effect.flatMap(TestDatabase, ({ url }) =>
    Effect.provide(Effect.flatMap(SqlClient.SqlClient, use), PgClient.layer({ url, maxConnections: 1 }))
  )

/** A tunnel of the account whose name is in the queue since that second. */
const queued = (subject: string, hostname: string, since: number) =>
  Effect.gen(function* () {
    const headers = { "content-type": "application/json", "x-ct-admin-token": TestServer.adminToken }
    const body = JSON.stringify({ subject, name: "n", hostname })
    const made = yield* TestServer.raw("/admin/provision-tunnel", { method: "POST", headers, body })
    const { routing_token: token } = yield* Effect.promise(() => made.json() as Promise<{ routing_token: string }>)
    yield* inDatabase((sql) => sql`update hosts set queued_at = ${since} where hostname = ${hostname}`)
    const rows = yield* inDatabase((sql) => sql<{ id: string }>`select id from tunnels where hostname = ${hostname}`)
    return { id: rows[0]?.id ?? "", token, hostname } satisfies Named
  })

const call = (what: string, { hostname, token }: Named, body?: unknown) =>
  Effect.flatMap(
    TestServer.raw(
      `/agent/${what}/${token}/${hostname}`,
      body === undefined
        ? {}
        : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
    ),
    (answer) => Effect.promise(() => answer.json() as Promise<Record<string, unknown>>)
  )

const standing = (named: Named) => call("acme-standing", named)
const says = (named: Named, agent: number, step: string) =>
  Effect.map(
    call("acme-standing", named, { step, agent: String(agent).padStart(16, "0") }),
    ({ yours }) => yours === true
  )

const page = (headers: Readonly<Record<string, string>>, { id }: Named, language: string) =>
  Effect.flatMap(
    TestServer.raw(`/portal/tunnels/${id}?tab=certificate`, { headers: { ...headers, "accept-language": language } }),
    (answer) => Effect.promise(() => answer.text())
  )

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("the standing of a certificate", (it) => {
  it.effect("names the place in the queue of its domain, past those that are declined", () =>
    Effect.gen(function* () {
      const names: Array<Named> = []
      for (const n of [1, 2, 3, 4]) names.push(yield* queued("places", `n${n}.places.test`, n))
      const elsewhere = yield* queued("places", "n0.elsewhere.test", 0)
      yield* inDatabase((sql) => sql`update hosts set opted_out = true where hostname = 'n2.places.test'`)
      const places = yield* Effect.forEach([...names, elsewhere], (each) =>
        Effect.map(standing(each), ({ held_back, place }) => [place, held_back])
      )
      assert.deepStrictEqual(places, [
        [1, null],
        [2, "declined"],
        [2, null],
        [3, null],
        [1, null]
      ])
    })
  )

  it.effect("lets the agents of a tunnel order one after another, and takes the turn of one that fell silent", () =>
    Effect.gen(function* () {
      const name = yield* queued("turns", "app.turns.test", 1)
      const agents = Array.from({ length: 8 }, (_, n) => n)
      const turns = yield* Effect.forEach(agents, (agent) => says(name, agent, "ordering"), {
        concurrency: "unbounded"
      })
      const first = turns.indexOf(true)
      assert.lengthOf(turns.filter(Boolean), 1)
      const second = (first + 1) % agents.length
      assert.isTrue(yield* says(name, first, "waiting-for-dns"))
      assert.strictEqual((yield* standing(name))["step"], "waiting-for-dns")
      assert.isFalse(yield* says(name, second, "ordering"))
      assert.isTrue(yield* says(name, first, "waiting"))
      assert.isNull((yield* standing(name))["step"])
      assert.isTrue(yield* says(name, second, "ordering"))
      const age = (seconds: number) =>
        inDatabase((sql) => sql`update certificate_progress set at = at - ${seconds} where hostname = ${name.hostname}`)
      yield* age(stepSeconds - 30)
      assert.isFalse(yield* says(name, first, "ordering"))
      yield* age(31)
      assert.isNull((yield* standing(name))["step"])
      assert.isTrue(yield* says(name, first, "ordering"))
    })
  )

  it.effect("gives no turn to a step that arrives behind the end of its order", () =>
    Effect.gen(function* () {
      const name = yield* queued("late", "app.late.test", 1)
      assert.isTrue(yield* says(name, 1, "ordering"))
      assert.isFalse(yield* says(name, 2, "proving"))
      assert.isTrue(yield* says(name, 1, "waiting"))
      assert.isFalse(yield* says(name, 1, "waiting-for-ca"))
      assert.isNull((yield* standing(name))["step"])
      assert.isTrue(yield* says(name, 2, "ordering"))
    })
  )

  it.effect("is said on the tunnel's page in both languages, live, until there is a certificate", () =>
    Effect.gen(function* () {
      const fay = person("certificates-fay")
      const headers = yield* headersOf(fay)
      yield* ask(fay, "/me/tunnels", { name: "other" })
      const name = yield* queued("certificates-fay", "app.words.test", 1)
      const stream = yield* openStream(`/portal/events?tunnels=${name.id}&certificate=`, headers)
      yield* stream.until("event: certificate\ndata: ")
      assert.include(yield* page(headers, name, "en"), "It is first in the queue for a certificate.")
      assert.include(yield* page(headers, name, "de"), "Er ist der nächste in der Warteschlange")
      yield* says(name, 1, "ordering")
      yield* says(name, 1, "waiting-for-dns")
      yield* stream.until("event: certificate\ndata: ")
      assert.include(yield* page(headers, name, "en"), "Its agent waits for DNS to show the proof of the name")
      yield* inDatabase(
        (sql) => sql`update hosts set claim = 'offered', queued_at = null, ca = 'letsencrypt', deadline = 9999999999
          where hostname = ${name.hostname}`
      )
      yield* says(name, 1, "waiting")
      const failure = { ca: "letsencrypt", reason: "caa", detail: "CAA <record> of words.test" }
      yield* call("acme-issuance-failed", name, failure)
      yield* stream.until("event: certificate\ndata: ")
      const english = yield* page(headers, name, "en")
      assert.include(english, "letsencrypt refused a certificate")
      assert.include(english, "CAA records of the domain forbid it. Ask your DNS admin to allow this authority.")
      assert.include(english, "CAA &#60;record&#62; of words.test")
      assert.include(yield* page(headers, name, "de"), "Bitten Sie Ihre DNS-Verwaltung, diese Stelle zu erlauben.")
      const complete = `/agent/acme-issuance-complete/${name.token}/${name.hostname}`
      assert.strictEqual((yield* TestServer.raw(complete, { method: "POST" })).status, 200)
      yield* stream.until("event: certificate\ndata: ")
      const done = yield* page(headers, name, "en")
      assert.notInclude(done, "refused a certificate")
      assert.include(done, '<span class="mode gruen">')
      assert.deepInclude(yield* standing(name), { status: "gruen", place: null, step: null, failure: null })
    }).pipe(Effect.scoped)
  )
})
