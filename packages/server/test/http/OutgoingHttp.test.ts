import { ClientId } from "@catenet/domain/identity/ServiceAccount"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Option, Redacted, References, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import * as Provider from "../../src/dns/DnsBackend.ts"
import { DnsProvider } from "../../src/dns/DnsProvider.ts"
import { EdgeAdmin } from "../../src/edges/EdgeAdmin.ts"
import { EdgeFacts } from "../../src/edges/EdgeFacts.ts"
import { LiveEdges } from "../../src/edges/LiveEdges.ts"
import { KeySet } from "../../src/identity/KeySet.ts"
import { RealmAdmin } from "../../src/identity/RealmAdmin.ts"
import { SignIns, stateOf } from "../../src/identity/SignIns.ts"
import { Settings } from "../../src/settings/Settings.ts"
import { EdgeReceipts } from "../../src/tunnels/records/Receipts.ts"

const token = Schema.decodeSync(RoutingToken)("ab".repeat(32))
const secret = Redacted.make("sign-in")

const listening = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer(listener)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => (server.closeAllConnections(), server.close()))
  ).pipe(Effect.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`))

const settingsOf = (url: string) =>
  Settings.layer.pipe(
    Layer.provide(
      ConfigProvider.layer(
        ConfigProvider.fromUnknown({
          CT_CP_DATABASE_URL: "postgres://unused@127.0.0.1:1/none",
          CT_CP_EDGE_ADMIN_TOKEN: "ad".repeat(32),
          CT_CP_EDGE_ADMIN_URL: url,
          CT_OIDC_ISSUER: `${url}/realms/demo`,
          CT_OIDC_CLIENT_ID: "portal",
          CT_OIDC_CLIENT_SECRET: "portal-secret",
          KEYCLOAK_PUBLIC_URL: url,
          CT_OIDC_ADMIN_CLIENT_ID: "manager",
          CT_OIDC_ADMIN_CLIENT_SECRET: "manager-secret",
          DESEC_API_BASE: url,
          DESEC_TOKEN: "t0k3n",
          DESEC_DOMAIN: "zone.test"
        })
      )
    )
  )

/** Every call that carries a secret, or whose answer decides who may come in. All of them have to fail. */
const calls = {
  "an order to an edge": EdgeAdmin.use(({ perform }) => perform("primary", token, { _tag: "Revoke" })).pipe(
    Effect.provide(EdgeAdmin.layerNoDeps)
  ),
  "a question to an edge": EdgeFacts.use(({ status }) => status(token)).pipe(
    Effect.provide(EdgeFacts.layerNoDeps),
    Effect.flatMap(({ known }) => (Option.isNone(known) ? Effect.fail("silent") : Effect.void))
  ),
  "receipts of an edge": EdgeReceipts.use(({ pages }) => pages(token, 0)).pipe(
    Effect.provide(EdgeReceipts.layerNoDeps)
  ),
  "the realm's admin REST": RealmAdmin.use(({ deleteClient }) =>
    deleteClient(Schema.decodeSync(ClientId)(`sa-${"1".repeat(32)}`), null)
  ).pipe(Effect.provide(RealmAdmin.layer)),
  "the end of a sign-in": SignIns.use(({ forPortal }) =>
    Option.getOrThrow(forPortal).finish(secret, {
      redirectUri: new URL("https://portal.test/auth/callback"),
      query: new URLSearchParams({ code: "c0de", state: stateOf(secret) })
    })
  ).pipe(Effect.provide(SignIns.layer)),
  "a record at the DNS service": DnsProvider.use(({ set }) =>
    set({ name: "_acme-challenge.a.zone.test", type: "TXT", values: ["x"] })
  ).pipe(Effect.provide(Provider.layer), Effect.provide(SecureRandom.layerWebCrypto)),
  // They are fetched in the background.
  "the provider's keys": KeySet.use(({ usable }) =>
    Effect.delay(
      Effect.suspend(() => (usable() ? Effect.void : Effect.fail("no keys"))),
      "300 millis"
    )
  ).pipe(Effect.provide(KeySet.layer))
}

const failing = (name: keyof typeof calls, url: string) =>
  Effect.flip(calls[name] as Effect.Effect<unknown, unknown, Settings | LiveEdges>).pipe(
    Effect.provide(LiveEdges.layerOf({ id: "primary", url })),
    Effect.provide(settingsOf(url)),
    Effect.provideService(References.MinimumLogLevel, "None")
  )

describe("calls of the control plane to configured services", () => {
  for (const name of Object.keys(calls) as ReadonlyArray<keyof typeof calls>) {
    it.live(`${name} follows no redirect`, () =>
      Effect.gen(function* () {
        const asked: Array<string> = []
        const strange: Array<string> = []
        const stranger = yield* listening((request, response) => {
          strange.push(`${request.method} ${request.url}`)
          response.writeHead(200, { "content-type": "application/json" }).end("{}")
        })
        const service = yield* listening((request, response) => {
          asked.push(`${request.method} ${request.url}`)
          response.writeHead(307, { location: `${stranger}${request.url}` }).end()
        })
        yield* failing(name, service)
        assert.isNotEmpty(asked)
        assert.deepStrictEqual(strange, [])
      }).pipe(Effect.scoped)
    )

    it.live(`${name} is cut off when the answer does not end`, () =>
      Effect.gen(function* () {
        const cut = Promise.withResolvers<number>()
        const service = yield* listening((_, response) => {
          response.writeHead(200, { "content-type": "application/json" })
          let sent = 0
          const pour = () => {
            while (!response.destroyed && response.write(" ".repeat(65_536))) sent += 65_536
          }
          response.on("drain", pour).on("close", () => cut.resolve(sent))
          pour()
        })
        yield* failing(name, service)
        assert.isBelow(yield* Effect.promise(() => cut.promise), 48_000_000)
      }).pipe(Effect.scoped)
    )
  }
})
