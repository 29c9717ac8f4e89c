import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { until } from "@catenet/testing/Eventually"
import { overheard } from "@catenet/testing/Overheard"
import * as Accounts from "@catenet/testing/server/Accounts"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import * as Addresses from "../../src/portal/Addresses.ts"
import * as Server from "../../src/Server.ts"
import { Settings } from "../../src/settings/Settings.ts"
import { servedRoutes } from "../ServedRoutes.ts"

/** One of each kind of secret that a request can carry. */
const secrets = {
  hex: "5ec7e7".repeat(11).slice(0, 64),
  url: "S3cr3t_-".repeat(6).slice(0, 43),
  encoded: "%35%45".repeat(32)
}
const clientSecret = "Cl13nt.Secret.of.the.Portal"
const gateSession = "G4te_S3ss1on-".repeat(4).slice(0, 43)
const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzZWNyZXQifQ.c2lnbmF0dXJlLW9mLXNlY3JldA"

const json = "application/json"
const form = "application/x-www-form-urlencoded"

const declared: ReadonlyArray<{ readonly method: string; readonly path: string; readonly type: string }> =
  Object.values(ControlPlaneApi.groups).flatMap((group) =>
    Object.values(group.endpoints).map(({ method, path }) => ({ method, path, type: json }))
  )

layer(Accounts.server(), { excludeTestServices: true, timeout: "60 seconds" })("a failing route", (it) => {
  it.effect("puts no secret into a log, a trace or a problem", () =>
    Effect.gen(function* () {
      const { said, listening } = yield* overheard
      const { url } = yield* TestDatabase
      const { issuer } = yield* TestIssuer
      const bearer = yield* Accounts.bearerOf("ada")
      const session = yield* Accounts.sessionOf("ada", "ada@example.test")
      const variables = {
        CT_CONTROL_PLANE_LISTEN: "127.0.0.1:0",
        CT_CP_DATABASE_URL: Redacted.value(url),
        CT_CP_EDGE_ADMIN_TOKEN: TestServer.adminToken,
        CT_CP_REQUESTS_PER_MIN: "0",
        CT_CP_SHUTDOWN_GRACE_SECS: "1",
        CT_CP_SEAL_KEY: "5e".repeat(32),
        CT_OIDC_ISSUER: issuer,
        CT_OIDC_CLIENT_ID: "portal",
        CT_OIDC_CLIENT_SECRET: clientSecret,
        CT_PORTAL_BASE_URL: "https://portal.zone.example",
        CT_GATE_COOKIE_DOMAIN: "zone.example",
        CT_GATE_ACCESS_AUD: "gates",
        CT_CP_UNAUTH_WRITE_PER_MIN: "0"
      }
      const settings = Settings.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(variables))))
      const loud = yield* Layer.build(
        Layer.fresh(Server.layer.pipe(Layer.provide(settings), Layer.provideMerge(listening)))
      )
      const on = Effect.provideService(HttpServer.HttpServer, Context.get(loud, HttpServer.HttpServer))
      yield* on(Accounts.ready)
      const admin = Context.get(yield* Layer.build(PgClient.layer({ url, maxConnections: 1 })), SqlClient.SqlClient)
      // Every statement fails from now on.
      yield* admin`alter schema public rename to gone`
      const answers: Array<string> = []
      const faulty = new Set<string>()
      const cookies = ["__Host-ct_portal_session", "__Host-ct_portal_state"].map((name) => `${name}=${session}`)
      const gateCookies = ["ct_gate_session", "__Host-ct_gate_state", "__Host-ct_gate_browser"].map(
        (name) => `${name}=${gateSession}`
      )
      const visited = (yield* servedRoutes).map(([method, path]) => ({ method, path, type: form }))
      const requests = [...declared, ...visited].flatMap(({ method, path, type }, index) =>
        (
          [
            [secrets.hex, { "x-ct-admin-token": TestServer.adminToken, authorization: `Bearer ${bearer}` }],
            [
              index % 2 === 0 ? secrets.url : secrets.encoded,
              {
                authorization: `Bearer ${jwt}`,
                cookie: [...cookies, ...gateCookies].join("; "),
                "x-forwarded-host": "a.zone.example",
                "x-forwarded-uri": `/.catenet/gate?code=${secrets.url}`
              }
            ]
          ] as ReadonlyArray<readonly [string, Readonly<Record<string, string>>]>
        ).map(([secret, credential]) => ({ method, path, type, secret, credential }))
      )
      const send = Effect.fnUntraced(function* ({ credential, method, path, secret, type }: (typeof requests)[number]) {
        const address = path.replace(/:[a-z_]+/gu, secret)
        const fields = { token: secret, secret, invite: secret, code: "hush-code", host: "a.zone.example" }
        const query = new URLSearchParams({ ...fields, state: secret, browser: secrets.hex, return: `/${secret}` })
        const body =
          type === form
            ? new URLSearchParams({ ...fields, email: "ada@example.test", note: secret }).toString()
            : JSON.stringify({ ...fields, pubkey: secret, proof: secret.repeat(2) })
        const headers = { ...credential, "content-type": type, accept: type === form ? "text/html" : json }
        const sent = method === "GET" || method === "HEAD" ? {} : { body }
        const response = yield* on(TestServer.raw(`${address}?${query.toString()}`, { method, headers, ...sent }))
        if (response.status >= 500) faulty.add(`${method} ${path}`)
        answers.push(
          [...response.headers]
            .filter(([name]) => name !== "set-cookie" && name !== "location")
            .flat()
            .join(" "),
          yield* Effect.promise(() => response.text())
        )
      })
      yield* Effect.forEach(requests, send, { concurrency: 8, discard: true })
      yield* admin`alter schema gone rename to public`
      // What could leak is exported within this time, and what has to be there is waited for.
      yield* Effect.sleep("500 millis")
      const saying = (part: string) => said.filter((text) => text.includes(part)).length
      yield* until(
        Effect.sync(() => saying("resourceSpans") > 0 && saying("A request failed") > 100),
        (isSaid) => isSaid
      )
      assert.isAbove(faulty.size, 100)
      for (const route of [
        "GET /gate/check",
        "GET /gate/share",
        "POST /gate/share",
        "GET /gate/start",
        "GET /gate/logout",
        "GET /gate/request-access",
        "POST /gate/request-access",
        "GET /portal",
        "GET /portal/logout",
        "GET /portal/unsubscribe",
        "POST /portal/unsubscribe",
        "GET /me/topologies/:id/editor",
        "GET /net/:net_uuid",
        ...[...Addresses.pages, ...Addresses.operatorPages].map((path) => `GET ${path}`),
        ...[...Addresses.forms, ...Addresses.operatorForms].map((path) => `POST ${path}`)
      ])
        assert.isTrue(faulty.has(route), route)
      const texts = [...said, ...answers]
      for (const secret of [
        ...Object.values(secrets),
        clientSecret,
        gateSession,
        "5e".repeat(32),
        jwt,
        bearer,
        session,
        TestServer.adminToken,
        "hush-code"
      ]) {
        const leak = texts.find((text) => text.includes(secret))
        const at = leak?.indexOf(secret) ?? 0
        assert.isUndefined(leak?.slice(Math.max(0, at - 200), at + 100), secret)
      }
    }).pipe(Effect.scoped)
  )
})
