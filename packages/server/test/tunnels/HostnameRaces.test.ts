/**
 * Creation, deletion, authorization, rotation and the end of the account of one host name at once at two replicas: no
 * request is a fault, and the name leads to one tunnel or to none. `CATENET_RACES` says how many rounds.
 */
import * as Accounts from "@catenet/testing/server/Accounts"
import { account, type Answer, ask } from "@catenet/testing/server/channels/Asking"
import * as LoggedErrors from "@catenet/testing/server/LoggedErrors"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient, type SqlError } from "effect/sql"
import * as Generator from "../fuzz/Generator.ts"
import { blocked } from "../harness/Blocked.ts"

const rounds = Number(process.env["CATENET_RACES"] ?? 24)
const seed = Number(process.env["FUZZ_SEED"] ?? 1)

const variables = Effect.gen(function* () {
  const { issuer } = yield* TestIssuer
  const { url } = yield* RecordingEdge
  return { CT_OIDC_ISSUER: issuer, CT_CP_EDGE_ADMIN_URL: url, CT_CP_HOSTNAME_ZONE: "zone.example" }
})

const servers = Layer.unwrap(Effect.map(variables, TestServer.layer)).pipe(
  Layer.provideMerge(Layer.mergeAll(TestIssuer.layer, RecordingEdge.layer))
)

layer(servers, { excludeTestServices: true, timeout: "60 seconds" })("one host name at two replicas", (it) => {
  it.effect(
    `${rounds} rounds from seed ${seed} end without a fault, and the name has one owner at most`,
    () =>
      Effect.gen(function* () {
        const other = yield* Layer.build(TestServer.replica(yield* variables))
        const elsewhere = Effect.provideService(HttpServer.HttpServer, Context.get(other, HttpServer.HttpServer))
        const random = Generator.random(seed)
        const ada = account("ada")
        const faults: Array<string> = []
        const seen = new Set<string>()
        const tokens: Array<string> = []
        yield* Accounts.bearerOf("ada")

        const sent = (what: string, request: ReturnType<typeof ask>) => {
          const at: typeof request = random.next() < 0.5 ? request : elsewhere(request)
          return Effect.map(at, (answer: Answer) => {
            seen.add(`${what} ${answer.status}`)
            if (answer.status >= 500) faults.push(`${what} ${answer.status}`)
            return answer
          })
        }
        const listed = Effect.map(ask(ada, "/me/tunnels"), ({ body }) =>
          (body as unknown as ReadonlyArray<{ readonly id: string }>).map(({ id }) => id)
        )

        for (let round = 0; round < rounds; round++) {
          const ids = yield* listed
          // An operator's token without a tunnel keeps a name.
          const hostname = `primary${Math.floor(round / 3)}.zone.example`
          const requests = Array.from({ length: 10 }, () => {
            const id = ids.length > 0 ? random.pick(ids) : "0".repeat(32)
            switch (random.below(9)) {
              case 0:
              case 1:
              case 2:
                return sent("create", ask(ada, "/me/tunnels", { name: "primary", hostname }))
              case 3:
                return sent("delete", ask(ada, `/me/tunnels/${id}`, undefined, { method: "DELETE" }))
              case 4: {
                const token = random.pick([...tokens, "12".repeat(32), "34".repeat(32)])
                return sent(
                  "authorize",
                  ask("operator", `/registry/authorize-host/${token}/${hostname}`, undefined, { method: "POST" })
                )
              }
              case 5:
                return sent("rotate", ask(ada, `/me/tunnels/${id}/rotate-token`, undefined, { method: "POST" })).pipe(
                  Effect.tap(({ body }) =>
                    Effect.sync(() => {
                      if (typeof body["routing_token"] === "string") tokens.push(body["routing_token"])
                    })
                  )
                )
              case 6:
                return sent("end of the account", ask(ada, "/me/account/delete", { confirm: "DELETE" }))
              case 7:
                return sent(
                  "change",
                  ask(ada, `/me/tunnels/${id}`, { require_login: random.next() < 0.5 }, { method: "PATCH" })
                )
              default:
                return sent(
                  "provision",
                  ask("operator", "/admin/provision-tunnel", { subject: "ada", name: "primary", hostname })
                )
            }
          })
          yield* Effect.all(requests, { concurrency: "unbounded" })
          const sql = yield* SqlClient.SqlClient
          const stolen = yield* sql`select h.routing_token, t.id from hosts h join tunnels t on t.hostname = h.hostname
            where h.routing_token <> t.routing_token`
          assert.deepStrictEqual(stolen, [], `round ${round}`)
          const unled = yield* sql`select t.id from tunnels t where t.hostname is not null
            and not exists (select 1 from hosts h where h.hostname = t.hostname)`
          assert.deepStrictEqual(unled, [], `round ${round}`)
        }
        assert.deepStrictEqual(faults, [], LoggedErrors.said())
        assert.notMatch(LoggedErrors.said(), /deadlock/iu, "what is tried again was in the wrong order as well")
        for (const outcome of [
          "create 200",
          "create 409",
          "delete 200",
          "authorize 200",
          "authorize 409",
          "rotate 200"
        ])
          assert.isTrue(seen.has(outcome), `${outcome} did not happen`)
      }).pipe(Effect.provide(Accounts.database)),
    300_000
  )

  it.effect("a name that a tunnel is getting is not taken by an operator's token, and the other way about", () =>
    Effect.gen(function* () {
      yield* Accounts.bearerOf("ada")
      const sql = yield* SqlClient.SqlClient
      const token = (digit: string) => digit.repeat(64)
      const owned = (hostname: string, routing_token: string) =>
        sql`insert into hosts ${sql.insert({ hostname, routing_token, edge_id: "primary", authorized_at: 1, status: "rot" })}`
      const during = <A, E, R>(first: Effect.Effect<unknown, SqlError.SqlError>, request: Effect.Effect<A, E, R>) =>
        Effect.flatMap(
          sql.withTransaction(
            Effect.gen(function* () {
              yield* first
              const asked = yield* Effect.forkChild(request)
              yield* blocked
              return asked
            })
          ),
          Fiber.join
        )
      const tunnel = {
        id: token("a").slice(32),
        subject: "ada",
        name: "n",
        hostname: "one.zone.example",
        created_at: 1
      }
      const creating = Effect.andThen(
        sql`insert into tunnels ${sql.insert({ ...tunnel, routing_token: token("a") })}`,
        owned("one.zone.example", token("a"))
      )
      const authorizing = ask("operator", `/registry/authorize-host/${token("b")}/one.zone.example`, {})
      assert.strictEqual((yield* during(creating, authorizing)).status, 409)
      const created = ask(account("ada"), "/me/tunnels", { name: "two", hostname: "two.zone.example" })
      assert.strictEqual((yield* during(owned("two.zone.example", token("b")), created)).status, 409)
      const owners =
        yield* sql`select hostname, routing_token from hosts where hostname in ('one.zone.example', 'two.zone.example')
        order by hostname`
      assert.deepStrictEqual<unknown>(owners, [
        { hostname: "one.zone.example", routingToken: token("a") },
        { hostname: "two.zone.example", routingToken: token("b") }
      ])
    }).pipe(Effect.provide(Accounts.database))
  )
})
