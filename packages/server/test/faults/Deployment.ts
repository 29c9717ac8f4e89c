/** A deployment of real processes: an identity provider, replicas of the control plane, and an edge that writes down. */
import { Email } from "@catenet/domain/values/Email"
import { Subject } from "@catenet/domain/values/Ids"
import { untilSuccess } from "@catenet/testing/Eventually"
import { database } from "@catenet/testing/server/Accounts"
import * as Program from "@catenet/testing/server/faults/Program"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { adminToken, sealing, sealKey } from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { SqlClient } from "effect/sql"
import { decodeJwt } from "jose"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Sessions } from "../../src/identity/Sessions.ts"
import { secret as webhookSecret } from "../billing/Customers.ts"
import type { As } from "./Client.ts"
import type { Postgres } from "./Postgres.ts"
import { guestOf } from "./Scenario.ts"

/** What everything here is called. */
const word = "lab"
const realm = "catenet"
const user = { email: "owner@people.example", password: "correct horse" }
const managerSecret = "manager-secret"

const providerOn = (port: number, folder: string) =>
  Program.start({
    name: "provider",
    port,
    main: Program.provider,
    health: `/realms/${realm}/.well-known/openid-configuration`,
    env: {
      CT_IDP_LISTEN: `127.0.0.1:${port}`,
      CT_IDP_FOLDER: folder,
      CT_IDP_REALM: realm,
      CT_IDP_PORTAL_URL: "https://portal.example",
      CT_IDP_PORTAL_CLIENT_SECRET: "portal-secret",
      CT_IDP_GATE_CLIENT_SECRET: "gate-secret",
      CT_IDP_MANAGER_CLIENT_SECRET: managerSecret,
      CT_IDP_USER_EMAIL: user.email,
      CT_IDP_USER_PASSWORD: user.password
    }
  })

const signedIn = (issuer: string) =>
  untilSuccess(
    Effect.tryPromise(async () => {
      const form = { grant_type: "password", client_id: "admin-cli", username: user.email, password: user.password }
      const body = new URLSearchParams(form)
      const response = await fetch(`${issuer}/protocol/openid-connect/token`, { method: "POST", body })
      const { access_token: token } = (await response.json()) as { access_token: string }
      return { token, subject: Schema.decodeUnknownSync(Subject)(decodeJwt(token).sub) }
    })
  )

/** The cookie of somebody with a verified e-mail address. */
const guestSession = (url: Redacted.Redacted) =>
  Sessions.use(({ open }) =>
    open({
      subject: Schema.decodeSync(Subject)("guest"),
      email: Schema.decodeSync(Email)(guestOf(word)),
      idToken: null,
      userAgent: "test"
    })
  ).pipe(
    Effect.map(Redacted.value),
    Effect.provide(
      Sessions.layer.pipe(
        Layer.provide([database, SecureRandom.layerWebCrypto, sealing]),
        Layer.provide(Layer.succeed(TestDatabase, { url, serverUrl: url }))
      )
    ),
    Effect.orDie
  )

export const make = (postgres: Postgres, name: string, replicas: number) =>
  Effect.gen(function* () {
    const realmFolder = mkdtempSync(join(tmpdir(), "catenet-faults-realm-"))
    yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(realmFolder, { recursive: true, force: true })))
    yield* SqlClient.SqlClient.use((sql) => sql.unsafe(`create database ${name}`)).pipe(
      Effect.provide(PgClient.layer({ url: postgres.url("postgres"), maxConnections: 1 })),
      Effect.orDie
    )
    const url = postgres.url(name)
    const edge = Context.get(yield* Layer.build(Layer.fresh(RecordingEdge.layer)), RecordingEdge)
    yield* edge.think(20)
    const [providerPort = 0, ...ports] = yield* Program.freePorts(replicas + 1)
    const issuer = `http://localhost:${providerPort}/realms/${realm}`
    const [provider, ...servers] = yield* Effect.all(
      [
        providerOn(providerPort, realmFolder),
        ...ports.map((port, n) =>
          Program.start({
            name: `replica ${n}`,
            port,
            main: Program.controlPlane,
            health: "/readyz",
            env: {
              CT_CONTROL_PLANE_LISTEN: `127.0.0.1:${port}`,
              CT_CP_DATABASE_URL: Redacted.value(url),
              CT_CP_SEAL_KEY: sealKey,
              CT_CP_DATABASE_POOL: "4",
              CT_CP_EDGE_ADMIN_TOKEN: adminToken,
              CT_CP_EDGE_ADMIN_URL: edge.url,
              CT_CP_OUTBOX_TICK_SECS: "1",
              CT_CP_SERVICE_ACCOUNT_TICK_SECS: "1",
              CT_CP_HOSTNAME_ZONE: "zone.example",
              CT_PAYMENT_WEBHOOK_SECRET: webhookSecret,
              CT_OIDC_ISSUER: issuer,
              CT_OIDC_ACCESS_AUD: "catenet",
              CT_OIDC_REALM: realm,
              KEYCLOAK_PUBLIC_URL: `http://localhost:${providerPort}`,
              CT_OIDC_ADMIN_CLIENT_ID: "catenet-manager",
              CT_OIDC_ADMIN_CLIENT_SECRET: managerSecret
            }
          })
        )
      ] as const,
      { concurrency: "unbounded" }
    )
    const { subject, token } = yield* signedIn(issuer)
    const session = yield* guestSession(url)
    const credentials: Readonly<Record<As, Readonly<Record<string, string>>>> = {
      operator: { "x-ct-admin-token": adminToken },
      owner: { authorization: `Bearer ${token}` },
      guest: { cookie: `__Host-ct_portal_session=${session}` },
      anonymous: {}
    }
    return {
      party: { owner: subject, word },
      provider,
      servers,
      credentials: (as: As) => credentials[as],
      leftBehind: { database: url, orders: edge.orders, realmFolder }
    }
  })
