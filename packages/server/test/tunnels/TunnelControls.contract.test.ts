import * as Accounts from "@catenet/testing/server/Accounts"
import { database } from "@catenet/testing/server/Accounts"
import * as Contract from "@catenet/testing/server/Contract"
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { FactsEdge } from "./records/FactsEdge.ts"
import { account, tunnel } from "./records/FactsServer.ts"

const here = Layer.unwrap(
  Effect.map(FactsEdge, ({ url }) =>
    Accounts.server({ CT_CP_EDGE_ADMIN_URL: url, CT_CP_OUTBOX_TICK_SECS: "1", CT_CP_HOSTNAME_ZONE: "example.test" })
  )
).pipe(Layer.provideMerge(FactsEdge.layer))

const ada = { bearer: "ada" }
const foreign = { as: { bearer: "bob" }, status: 404, code: "TunnelNotFound" }
const unknown = { as: ada, status: 404, code: "TunnelNotFound" }
const receiver = { webhook_url: "http://127.0.0.1:1/hook", threshold_minutes: 5 }
const office = { tz_offset_minutes: 0, slots: [{ day: 0, start_minute: 540, end_minute: 1020 }] }
const never = { expires_at: null, schedule: { tz_offset_minutes: 0, slots: [] } }

/** A tunnel of another account and one that does not exist, with the same answer. */
const notTheirs = (call: string, at: Readonly<Record<string, string>>, body?: unknown): ReadonlyArray<Contract.Row> => {
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
      const mint = (row: Partial<Contract.Row>): Contract.Row => ({
        call: "mintShareLink",
        at,
        as: ada,
        body: { ttl: "1h" },
        status: 200,
        ...row
      })
      const keyed = { headers: { "idempotency-key": "k" } }

      const rows: ReadonlyArray<Contract.Row> = [
        { call: "getAlert", at, as: ada, status: 404, code: "AlertNotFound" },
        { call: "listDeliveries", at, as: ada, status: 404, code: "AlertNotFound" },
        { call: "testAlert", at, as: ada, status: 404, code: "AlertNotFound" },
        { call: "removeAlert", at, as: ada, status: 404, code: "AlertNotFound" },
        ...["http://hooks.example/x", "https://me:secret@hooks.example/x", "ftp://127.0.0.1/x", "/x", ""].map(
          (webhook_url): Contract.Row => ({
            call: "saveAlert",
            at,
            as: ada,
            body: {
              ...receiver,
              webhook_url
            },

            status: 400,
            code: "AlertRefused"
          })
        ),
        ...[0, -1, 10_081].map((threshold_minutes): Contract.Row => ({
          call: "saveAlert",
          at,
          as: ada,
          body: {
            ...receiver,
            threshold_minutes
          },

          status: 400,
          code: "AlertRefused"
        })),
        {
          call: "saveAlert",
          at,
          as: ada,
          body: {
            ...receiver,
            threshold_minutes: 1.5
          },

          status: 422,
          code: "WrongShape"
        },
        { call: "getAlert", at, as: ada, status: 404, code: "AlertNotFound", because: "a refusal changes nothing" },
        {
          call: "saveAlert",
          at,
          as: ada,
          body: { ...receiver, webhook_url: "http://127.0.0.1:1/\u0000\ud800" },
          status: 200,
          because: "it is kept as it will be called"
        },
        { call: "saveAlert", at, as: ada, body: receiver, status: 200 },
        { call: "saveAlert", at, as: ada, body: { ...receiver, threshold_minutes: 10_080 }, status: 200 },
        { call: "getAlert", at, as: ada, status: 200 },
        { call: "listDeliveries", at, as: ada, status: 200, answer: [] },
        ...Array.from({ length: 20 }, (): Contract.Row => ({ call: "testAlert", at, as: ada, status: 200 })),
        { call: "testAlert", at, as: ada, status: 429, code: "DeliveryBudgetSpent" },
        { call: "removeAlert", at, as: ada, status: 200 },
        { call: "removeAlert", at, as: ada, status: 404, code: "AlertNotFound" },
        ...["getAlert", "listDeliveries", "testAlert", "removeAlert"].flatMap((call) => notTheirs(call, at)),
        ...notTheirs("saveAlert", at, receiver),

        { call: "getAccess", at, as: ada, status: 200, answer: { policy: null, open: true, next_change: null } },
        { call: "rearmAccess", at, as: ada, status: 200, answer: { policy: null, open: true, next_change: null } },
        { call: "setAccess", at, as: ada, body: { expires_at: 1 }, status: 400, code: "AccessRefused" },
        {
          call: "setAccess",
          at,
          as: ada,
          status: 422,
          code: "WrongShape",
          body: {
            schedule: {
              ...office,
              tz_offset_minutes: 900
            }
          }
        },
        {
          call: "setAccess",
          at,
          as: ada,
          body: never,
          status: 200,
          answer: { policy: never, open: false, next_change: null }
        },
        { call: "setAccess", at, as: ada, body: { schedule: office }, status: 200 },
        {
          call: "setAccess",
          at,
          as: ada,
          body: { policy: { schedule: office } },
          status: 422,
          code: "WrongShape",
          because: "the body has no member `policy`"
        },
        ...[{}, { expires_at: null, schedule: null }].map((body) => ({
          call: "setAccess",
          at,
          as: ada,
          body,
          status: 400,
          code: "AccessRefused",
          because: "a tunnel is not opened to everybody by a slip"
        })),
        { call: "clearAccess", at, as: ada, status: 200 },
        { call: "getAccess", at, as: ada, status: 200, answer: { policy: null, open: true, next_change: null } },
        ...["getAccess", "rearmAccess", "clearAccess"].flatMap((call) => notTheirs(call, at)),
        ...notTheirs("setAccess", at, never),

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
        { call: "listShareLinks", at, as: ada, status: 200 },
        { call: "listShareLinks", at, as: ada, query: "?limit=1", status: 200 },
        ...notTheirs("listShareLinks", at),
        ...notTheirs("revokeShareLink", { ...at, link_id: link.id }),
        { call: "revokeShareLink", at: { ...at, link_id: link.id }, as: ada, status: 200 },
        {
          call: "revokeShareLink",
          at: {
            ...at,
            link_id: link.id
          },
          as: ada,

          status: 404,
          code: "ShareLinkNotFound"
        },
        {
          call: "revokeShareLink",
          at: { id: open, link_id: link.id },
          as: ada,
          status: 404,
          code: "ShareLinkNotFound"
        },
        { call: "revokeShareLink", at: { ...at, link_id: "x" }, as: ada, status: 404, code: "ShareLinkNotFound" },

        { call: "getHttpOnly", at, as: ada, status: 200, answer: { http_only: false } },
        { call: "setHttpOnly", at, as: ada, body: { http_only: true }, status: 200, answer: { http_only: true } },
        { call: "setHttpOnly", at, as: ada, body: {}, status: 422, code: "WrongShape" },
        { call: "getHttpOnly", at, as: ada, status: 200, answer: { http_only: true } },
        ...notTheirs("getHttpOnly", at),
        ...notTheirs("setHttpOnly", at, { http_only: false }),

        { call: "getBadge", at, as: ada, status: 200, answer: { public_id: null } },
        { call: "enableBadge", at, as: ada, status: 200 },
        { call: "enableBadge", at, as: ada, status: 200 },
        { call: "disableBadge", at, as: ada, status: 200 },
        { call: "disableBadge", at, as: ada, status: 200 },
        { call: "getBadge", at, as: ada, status: 200, answer: { public_id: null } },
        ...["getBadge", "enableBadge", "disableBadge"].flatMap((call) => notTheirs(call, at))
      ]
      yield* Contract.hold("tunnelControls", ada, rows)
    })
  )
})
