/** Callers for tests: accounts with an access token or a portal session, as the server will accept them. */
import { Email } from "@catenet/domain/values/Email"
import { Subject } from "@catenet/domain/values/Ids"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted, Schema, String as Str } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { Sessions } from "../../../server/src/identity/Sessions.ts"
import * as Int8 from "../../../server/src/store/Int8.ts"
import { until } from "../Eventually.ts"
import { TestDatabase } from "./TestDatabase.ts"
import { TestIssuer } from "./TestIssuer.ts"
import * as TestServer from "./TestServer.ts"

/** A client of the database of the file, with the names and numbers of the server's own. */
export const database = Layer.unwrap(
  Effect.map(TestDatabase, ({ url }) =>
    PgClient.layer({
      url,
      maxConnections: 2,
      transformQueryNames: Str.camelToSnake,
      transformResultNames: Str.snakeToCamel,
      transformJson: false,
      types: Int8.registry()
    })
  )
)

/** Waits until the server at this address knows the key that verifies tokens. */
export const readyAt = (url: string) =>
  until(
    Effect.promise(async () => {
      const response = await fetch(`${url}/status`)
      return (await response.json()) as { oidc_enabled: boolean }
    }),
    ({ oidc_enabled }) => oidc_enabled
  )

/** The same for the server around. */
export const ready = Effect.flatMap(TestServer.baseUrl, readyAt)

/** An access token for a subject. */
export const bearerOf = (sub: string) =>
  Effect.andThen(
    ready,
    TestIssuer.use(({ token }) => token({ sub }))
  )

/** An access token of the service account `sub` that an account has made, as the provider of the realm words it. */
export const serviceAccountOf = Effect.fnUntraced(function* (
  owner: string,
  sub: string,
  place = 1,
  claims: Readonly<Record<string, unknown>> = {}
) {
  const azp = `sa-${createHash("md5").update(sub).digest("hex")}`
  const row = { clientId: azp, owner, name: sub, state: "active", place, internalId: sub, createdAt: 1, dueAt: 1 }
  yield* SqlClient.SqlClient.use(
    (sql) => sql`insert into service_accounts ${sql.insert(row)} on conflict do nothing`
  ).pipe(Effect.provide(Layer.fresh(database)), Effect.orDie)
  yield* ready
  return yield* TestIssuer.use(({ token }) =>
    token({ sub, azp, preferred_username: `service-account-${azp}`, ...claims })
  )
})

/** The cookie value of a portal session, with a verified e-mail address or none. */
export const sessionOf = (sub: string, email: string | null) =>
  Effect.flatMap(ready, () => Sessions)
    .pipe(
      Effect.flatMap(({ open }) =>
        open({
          subject: Schema.decodeSync(Subject)(sub),
          email: email === null ? null : Schema.decodeSync(Email)(email),
          idToken: null,
          userAgent: "test"
        })
      )
    )
    .pipe(
      Effect.map(Redacted.value),
      Effect.provide(
        Sessions.layer.pipe(Layer.provide([database, SecureRandom.layerWebCrypto, TestServer.sealing]), Layer.fresh)
      )
    )

/** A server that believes the test issuer, over a database of its own. */
export const server = (variables: Readonly<Record<string, string>> = {}) =>
  Layer.unwrap(Effect.map(TestIssuer, ({ issuer }) => TestServer.layer({ CT_OIDC_ISSUER: issuer, ...variables }))).pipe(
    Layer.provideMerge(TestIssuer.layer)
  )
