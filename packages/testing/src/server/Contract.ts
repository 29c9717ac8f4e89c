/**
 * A table of requests with the answers that they must get, held against the API value: every outcome that a route
 * declares has a row, and no row has an outcome that its route does not declare.
 *
 * What a middleware declares is asked of every route behind it without a row: no credentials, another origin, a body
 * that is no JSON, of another media type, of another shape or too long, a page of no entries, a spent budget, and a
 * server that has neither keys nor an admin token.
 */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { assert } from "@effect/vitest"
import { Context, Effect, Layer, type Schema, SchemaAST } from "effect"
import { HttpServer } from "effect/http"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import * as Accounts from "./Accounts.ts"
import { TestIssuer } from "./TestIssuer.ts"
import * as TestServer from "./TestServer.ts"

/** Who calls: an anonymous client, an operator, or an account by access token or by session (as `sub` and e-mail address). */
export type As =
  "anonymous" | "operator" | { readonly bearer: string } | { readonly session: string; readonly email: string | null }

export interface Row {
  /** The name of the endpoint in its group. */
  readonly call: string
  /** Values of the path's parameters. */
  readonly at?: Readonly<Record<string, string>>
  readonly query?: string
  readonly as?: As
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly status: number
  /** The code of the problem, for a refusal. */
  readonly code?: string
  /** What the body must be, for an answer. */
  readonly answer?: unknown
  /** Why, where that is not plain. */
  readonly because?: string
}

/** A row by its call and its outcome: a status, with the code of the problem behind that of a refusal. */
export const row = (
  call: string,
  outcome: number | `${number} ${string}`,
  more: Omit<Row, "call" | "status" | "code"> = {}
): Row => {
  const [status, code] = String(outcome).split(" ")
  return { call, status: Number(status), ...(code === undefined ? {} : { code }), ...more }
}

/** What a caller of that kind sends along. */
export const headersOf = (as: As) =>
  Effect.gen(function* () {
    if (as === "anonymous") return {}
    if (as === "operator") return { "x-ct-admin-token": TestServer.adminToken }
    if ("bearer" in as) return { authorization: `Bearer ${yield* Accounts.bearerOf(as.bearer)}` }
    return { cookie: `__Host-ct_portal_session=${yield* Accounts.sessionOf(as.session, as.email)}` }
  })

/** A problem's code is the identifier of its schema. */
const codeOf = ({ ast }: Schema.Top) => SchemaAST.resolveIdentifier(ast) ?? ""

/** Everything a group declares, as `call outcome`. */
const declared = (group: keyof typeof ControlPlaneApi.groups) => {
  const endpoints = new Map<string, HttpApiEndpoint.Top>()
  const outcomes = new Set<string>()
  HttpApi.reflect(ControlPlaneApi, {
    predicate: (each) => each.group.identifier === group,
    onGroup: () => {},
    onEndpoint: ({ endpoint, middleware, successes }) => {
      endpoints.set(endpoint.identifier, endpoint)
      const errors = [endpoint.error, ...Array.from(middleware, ({ error }) => error)]
      for (const status of successes.keys()) outcomes.add(`${endpoint.identifier} ${status}`)
      for (const set of errors) for (const error of set) outcomes.add(`${endpoint.identifier} ${codeOf(error)}`)
    }
  })
  return { endpoints, outcomes }
}

const sample = "00".repeat(32)

type On = <A>(self: Effect.Effect<A, never, HttpServer.HttpServer>) => Effect.Effect<A, never, HttpServer.HttpServer>

/** One request against one server. Credentials come from the first one, which knows how to verify them. */
const send = (endpoint: HttpApiEndpoint.Top, row: Omit<Row, "call" | "status">, on: On = (self) => self) =>
  Effect.gen(function* () {
    const path = endpoint.path.replace(/:([a-z_]+)/gu, (_, name: string) => row.at?.[name] ?? sample)
    const headers = yield* headersOf(row.as ?? "anonymous")
    const body =
      row.body === undefined ? {} : { body: typeof row.body === "string" ? row.body : JSON.stringify(row.body) }
    const request = TestServer.raw(`${path}${row.query ?? ""}`, {
      method: endpoint.method,
      headers: {
        ...(row.body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
        ...row.headers
      },
      ...body
    })
    return yield* on(request)
  })

const bodyOf = (response: Response) => Effect.promise(async () => await response.text())

const check = (name: string, row: Omit<Row, "call">, response: Response) =>
  Effect.gen(function* () {
    const text = yield* bodyOf(response)
    const about = `${name}${row.because === undefined ? "" : `, ${row.because}`}: ${text.slice(0, 300)}`
    assert.strictEqual(response.status, row.status, about)
    if (row.code !== undefined) {
      assert.strictEqual(response.headers.get("content-type"), "application/problem+json", about)
      assert.deepInclude(JSON.parse(text), { code: row.code, status: row.status }, about)
    }
    if (row.answer !== undefined)
      assert.deepStrictEqual(JSON.parse(text), JSON.parse(JSON.stringify(row.answer)), about)
    return text
  })

/** What every route behind a middleware must answer, by the code that the middleware declares. */
const common = (endpoint: HttpApiEndpoint.Top, as: As): Readonly<Record<string, Omit<Row, "call">>> => ({
  Unauthenticated: { status: 401, code: "Unauthenticated" },
  AdminTokenRefused: { status: 401, headers: { "x-ct-admin-token": "0".repeat(64) }, code: "AdminTokenRefused" },
  CrossSiteRequest: {
    as: { session: "cross-site", email: "cross@site.example" },
    headers: { "sec-fetch-site": "same-site" },
    status: 403,
    code: "CrossSiteRequest"
  },
  BodyTooLarge: { as, body: `"${"x".repeat(2 * 1024 * 1024)}"`, status: 413, code: "BodyTooLarge" },
  UnsupportedMediaType: {
    as,
    body: "a=b",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    status: 415,
    code: "UnsupportedMediaType"
  },
  WrongShape: { as, body: "[]", status: 422, code: "WrongShape" },
  ...(endpoint.payload.size > 0
    ? { MalformedRequest: { as, body: "{", status: 400, code: "MalformedRequest" } }
    : endpoint.query !== undefined
      ? { MalformedRequest: { as, query: "?limit=0", status: 400, code: "MalformedRequest" } }
      : {})
})

/** A second server with other settings on the same database. */
const elsewhere = (variables: Readonly<Record<string, string>>) =>
  Effect.map(Layer.build(TestServer.replica(variables)), (context): On =>
    Effect.provideService(HttpServer.HttpServer, Context.get(context, HttpServer.HttpServer))
  )

/**
 * Runs the rows in their order, then what the middlewares declare, and compares both with the declarations. `never` holds
 * outcomes that no request can bring about, with the reason.
 */
export const hold = (
  group: keyof typeof ControlPlaneApi.groups,
  account: As,
  rows: ReadonlyArray<Row>,
  never: Readonly<Record<string, string>> = {}
) =>
  Effect.gen(function* () {
    const { endpoints, outcomes } = declared(group)
    const seen = new Set<string>()

    for (const row of rows) {
      const endpoint = endpoints.get(row.call)
      assert(endpoint !== undefined, `no endpoint ${row.call}`)
      const outcome = `${row.call} ${row.code ?? row.status}`
      assert.isTrue(outcomes.has(outcome), `undeclared: ${outcome}`)
      yield* check(outcome, row, yield* send(endpoint, row))
      seen.add(outcome)
    }

    const { issuer } = yield* TestIssuer
    const bare = yield* elsewhere({ CT_CP_EDGE_ADMIN_TOKEN: "" })
    const spent = yield* elsewhere({ CT_OIDC_ISSUER: issuer, CT_CP_REQUESTS_PER_MIN: "1" })
    yield* spent(Accounts.ready)
    for (const [name, endpoint] of endpoints) {
      const as = outcomes.has(`${name} AdminTokenRefused`) ? "operator" : account
      const row: Omit<Row, "call"> = { as, status: 0, ...(endpoint.payload.size > 0 ? { body: {} } : {}) }
      for (const [code, known] of Object.entries(common(endpoint, as))) {
        const outcome = `${name} ${code}`
        if (!outcomes.has(outcome) || seen.has(outcome) || outcome in never) continue
        yield* check(outcome, known, yield* send(endpoint, known))
        seen.add(outcome)
      }
      const nowhere = `${name} RouteNotFound`
      if (outcomes.has(nowhere) && !seen.has(nowhere) && !(nowhere in never)) {
        const absent = { ...row, status: 404, code: "RouteNotFound" }
        yield* check(nowhere, absent, yield* send(endpoint, absent, bare))
        seen.add(nowhere)
      }
      if (outcomes.has(`${name} RateLimited`)) {
        yield* send(endpoint, row, spent)
        const limited = { ...row, status: 429, code: "RateLimited" }
        const response = yield* send(endpoint, limited, spent)
        yield* check(`${name} RateLimited`, limited, response)
        assert.match(response.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/u)
        seen.add(`${name} RateLimited`)
      }
    }
    const missing = [...outcomes].filter(
      // access/EmailDomains.test.ts asks every route for the one, caps/Caps.test.ts fills every list for the other.
      (outcome) => !seen.has(outcome) && !(outcome in never) && !/ (?:EmailDomainRefused|LimitReached)$/u.test(outcome)
    )
    assert.deepStrictEqual(missing.sort(), [], "declared without a row")
    assert.deepStrictEqual(
      Object.keys(never).filter((outcome) => seen.has(outcome)),
      [],
      "seen all the same"
    )
  }).pipe(Effect.scoped)
