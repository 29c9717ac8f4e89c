import * as Accounts from "@catenet/testing/server/Accounts"
import { database } from "@catenet/testing/server/Accounts"
import { hold, row, type Row } from "@catenet/testing/server/Contract"
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { FactsEdge } from "./records/FactsEdge.ts"
import { account, tunnel } from "./records/FactsServer.ts"

const here = Layer.unwrap(
  Effect.map(FactsEdge, ({ url }) =>
    Accounts.server({
      CT_CP_EDGE_ADMIN_URL: url,
      CT_CP_OUTBOX_TICK_SECS: "1",
      CT_CP_HOSTNAME_ZONE: "example.test",
      CT_CP_RULES_PER_ACCOUNT: "5"
    })
  )
).pipe(Layer.provideMerge(FactsEdge.layer))

const ada = { bearer: "ada" }
const foreign = { as: { bearer: "bob" }, status: 404, code: "TunnelNotFound" }
const unknown = { as: ada, status: 404, code: "TunnelNotFound" }
const receiver = { webhook_url: "http://127.0.0.1:1/hook", threshold_minutes: 5 }
const office = { tz_offset_minutes: 0, slots: [{ day: 0, start_minute: 540, end_minute: 1020 }] }
const never = { expires_at: null, schedule: { tz_offset_minutes: 0, slots: [] } }

/** A tunnel of another account and one that does not exist, with the same answer. */
const notTheirs = (call: string, at: Readonly<Record<string, string>>, body?: unknown): ReadonlyArray<Row> => {
  const sent = body === undefined ? {} : { body }
  return [
    { call, at, ...sent, ...foreign },
    { call, at: { ...at, id: "0123456789abcdef".repeat(2) }, ...sent, ...unknown },
    { call, at: { ...at, id: "nonsense" }, ...sent, ...unknown }
  ]
}

layer(here, { excludeTestServices: true, timeout: "60 seconds" })("tunnel controls", (it) => {
  it.effect("answer as declared", () =>
    Effect.gen(function* () {
      const { id } = yield* tunnel("ada", "cam", "cam.example.test", true)
      const { id: open } = yield* tunnel("ada", "open", "open.example.test")
      const { id: bare } = yield* tunnel("ada", "bare", "pending.example.org", true)
      const { id: passed } = yield* tunnel("ada", "passed", "passed.example.test", true)
      const { id: ported } = yield* tunnel("ada", "ported")
      yield* Effect.provide(
        SqlClient.SqlClient.use((sql) => sql`insert into public_ports values ('tcp', 20000, ${ported}, 1)`),
        database
      )
      yield* Effect.provide(
        SqlClient.SqlClient.use(
          (sql) => sql`update hosts set status = 'gruen', claim = null, ca = 'le', queued_at = null, deadline = null,
            retry_at = null, logged_at = 1 where hostname = 'passed.example.test'`
        ),
        database
      )
      const { tunnelControls } = yield* account("ada")
      const link = yield* tunnelControls.mintShareLink({ params: { id }, headers: {}, payload: { ttl: "7d" } })
      const at = { id }
      const mint = (more: Partial<Row>): Row => row("mintShareLink", 200, { at, as: ada, body: { ttl: "1h" }, ...more })
      const keyed = { headers: { "idempotency-key": "k" } }

      const rows: ReadonlyArray<Row> = [
        row("getAlert", "404 AlertNotFound", { at, as: ada }),
        row("listDeliveries", "404 AlertNotFound", { at, as: ada }),
        row("testAlert", "404 AlertNotFound", { at, as: ada }),
        row("removeAlert", "404 AlertNotFound", { at, as: ada }),
        ...["http://hooks.example/x", "https://me:secret@hooks.example/x", "ftp://127.0.0.1/x", "/x", ""].map(
          (webhook_url): Row =>
            row("saveAlert", "400 AlertRefused", {
              at,
              as: ada,
              body: {
                ...receiver,
                webhook_url
              }
            })
        ),
        ...[0, -1, 10_081].map((threshold_minutes): Row =>
          row("saveAlert", "400 AlertRefused", {
            at,
            as: ada,
            body: {
              ...receiver,
              threshold_minutes
            }
          })
        ),
        row("saveAlert", "422 WrongShape", {
          at,
          as: ada,
          body: {
            ...receiver,
            threshold_minutes: 1.5
          }
        }),
        row("getAlert", "404 AlertNotFound", { at, as: ada, because: "a refusal changes nothing" }),
        row("saveAlert", 200, {
          at,
          as: ada,
          body: { ...receiver, webhook_url: "http://127.0.0.1:1/\u0000\ud800" },
          because: "it is kept as it will be called"
        }),
        row("saveAlert", 200, { at, as: ada, body: receiver }),
        row("saveAlert", 200, { at, as: ada, body: { ...receiver, threshold_minutes: 10_080 } }),
        row("getAlert", 200, { at, as: ada }),
        row("listDeliveries", 200, { at, as: ada, answer: [] }),
        ...Array.from({ length: 20 }, (): Row => row("testAlert", 200, { at, as: ada })),
        row("testAlert", "429 DeliveryBudgetSpent", { at, as: ada }),
        row("removeAlert", 200, { at, as: ada }),
        row("removeAlert", "404 AlertNotFound", { at, as: ada }),
        ...["getAlert", "listDeliveries", "testAlert", "removeAlert"].flatMap((call) => notTheirs(call, at)),
        ...notTheirs("saveAlert", at, receiver),

        row("getAccess", 200, { at, as: ada, answer: { policy: null, open: true, next_change: null } }),
        row("rearmAccess", 200, { at, as: ada, answer: { policy: null, open: true, next_change: null } }),
        row("setAccess", "400 AccessRefused", { at, as: ada, body: { expires_at: 1 } }),
        row("setAccess", "422 WrongShape", {
          at,
          as: ada,
          body: {
            schedule: {
              ...office,
              tz_offset_minutes: 900
            }
          }
        }),
        row("setAccess", 200, { at, as: ada, body: never, answer: { policy: never, open: false, next_change: null } }),
        row("setAccess", 200, { at, as: ada, body: { schedule: office } }),
        row("setAccess", "422 WrongShape", {
          at,
          as: ada,
          body: { policy: { schedule: office } },
          because: "the body has no member `policy`"
        }),
        ...[{}, { expires_at: null, schedule: null }].map((body) =>
          row("setAccess", "400 AccessRefused", {
            at,
            as: ada,
            body,
            because: "a tunnel is not opened to everybody by a slip"
          })
        ),
        row("clearAccess", 200, { at, as: ada }),
        row("getAccess", 200, { at, as: ada, answer: { policy: null, open: true, next_change: null } }),
        ...["getAccess", "rearmAccess", "clearAccess"].flatMap((call) => notTheirs(call, at)),
        ...notTheirs("setAccess", at, never),

        row("getRules", 200, { at, as: ada, answer: { rules: [] } }),
        ...[{ allow: ["10.0.0.1/8"] }, { max_body: "1 MiB", allow: [] }, { mtls: { ca: "a.pem" } }].map((rule) =>
          row("setRules", "400 MalformedRequest", { at, as: ada, body: { rules: [rule] } })
        ),
        row("setRules", "422 WrongShape", { at, as: ada, body: { rules: [{ allowed: [] }] } }),
        row("setRules", "400 RulesRefused", { at: { id: open }, as: ada, body: { rules: [{ require_login: true }] } }),
        row("setRules", "403 RuleLimitReached", {
          at,
          as: ada,
          body: { rules: Array.from({ length: 6 }, () => ({ max_body: "1 MiB" })) }
        }),
        row("getRules", 200, { at, as: ada, answer: { rules: [] }, because: "a refusal changes nothing" }),
        row("setRules", 200, { at, as: ada, body: { rules: [{ max_body: "1 MiB" }] } }),
        row("getRules", 200, { at, as: ada, answer: { rules: [{ max_body: "1 MiB" }] } }),
        ...notTheirs("getRules", at),
        ...notTheirs("setRules", at, { rules: [] }),

        mint({ at: { id: open }, status: 400, code: "LoginNotRequired" }),
        mint({ at: { id: bare }, status: 400, code: "TunnelWithoutHostname" }),
        mint({ at: { id: passed }, status: 400, code: "ShareLinkNeedsGelb" }),
        mint({ body: { ttl: "2h" }, status: 400, code: "MalformedRequest" }),
        mint({ body: { ttl: "1h", label: "x".repeat(61) }, status: 400, code: "MalformedRequest" }),
        mint({ ...keyed, body: { ttl: "1h", label: "for the family", single_use: true } }),
        mint({ ...keyed, body: { ttl: "24h" }, status: 409, code: "IdempotencyKeyReused" }),
        ...Array.from({ length: 48 }, () => mint({})),
        mint({ status: 400, code: "ShareLinkLimitReached" }),
        ...notTheirs("mintShareLink", at, { ttl: "1h" }),
        row("mintShareLink", "400 ShareLinkNeedsHost", {
          at,
          as: ada,
          body: { ttl: "1h", host: "elsewhere.example.test" }
        }),
        row("listShareLinks", 200, { at, as: ada }),
        row("listShareLinks", 200, { at, as: ada, query: "?limit=1" }),
        ...notTheirs("listShareLinks", at),
        ...notTheirs("revokeShareLink", { ...at, link_id: link.id }),
        row("revokeShareLink", 200, { at: { ...at, link_id: link.id }, as: ada }),
        row("revokeShareLink", "404 ShareLinkNotFound", {
          at: {
            ...at,
            link_id: link.id
          },
          as: ada
        }),
        row("revokeShareLink", "404 ShareLinkNotFound", { at: { id: open, link_id: link.id }, as: ada }),
        row("revokeShareLink", "404 ShareLinkNotFound", { at: { ...at, link_id: "x" }, as: ada }),

        row("getHttpOnly", 200, { at, as: ada, answer: { http_only: false } }),
        row("setHttpOnly", 200, { at, as: ada, body: { http_only: true }, answer: { http_only: true } }),
        row("setHttpOnly", "400 PortRefused", { at: { id: ported }, as: ada, body: { http_only: true } }),
        row("setHttpOnly", "422 WrongShape", { at, as: ada, body: {} }),
        row("getHttpOnly", 200, { at, as: ada, answer: { http_only: true } }),
        ...notTheirs("getHttpOnly", at),
        ...notTheirs("setHttpOnly", at, { http_only: false }),

        row("getBadge", 200, { at, as: ada, answer: { public_id: null } }),
        row("enableBadge", 200, { at, as: ada }),
        row("enableBadge", 200, { at, as: ada }),
        row("disableBadge", 200, { at, as: ada }),
        row("disableBadge", 200, { at, as: ada }),
        row("getBadge", 200, { at, as: ada, answer: { public_id: null } }),
        ...["getBadge", "enableBadge", "disableBadge"].flatMap((call) => notTheirs(call, at))
      ]
      yield* hold("tunnelControls", ada, rows)
    })
  )
})
