/** A control plane with a hostname zone, a zone that it updates, and the public DNS beside it. */
import * as Accounts from "@catenet/testing/server/Accounts"
import { keyName, NameServer, secret } from "@catenet/testing/server/dns/NameServer"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import * as TestServer from "@catenet/testing/server/TestServer"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { PublicDns } from "./PublicDns.ts"

export const variables = Effect.gen(function* () {
  const { port } = yield* NameServer
  const { url } = yield* RecordingEdge
  return {
    CT_PORTAL_BASE_URL: "https://portal.tunnels.zone.example",
    CT_CP_HOSTNAME_ZONE: "tunnels.zone.example",
    CT_CP_DNS_UPDATE_SERVER: `127.0.0.1:${port}`,
    CT_CP_DNS_UPDATE_ZONE: "zone.example",
    CT_CP_DNS_UPDATE_KEY_NAME: keyName,
    CT_CP_DNS_UPDATE_KEY: secret.toString("base64"),
    CT_CP_DNS_RESOLVERS: (yield* PublicDns).address,
    CT_CP_DNS_EDGE_IP: "192.0.2.7",
    CT_CP_RESERVED_HOSTNAMES: "Mail.tunnels.zone.example",
    CT_CP_TUNNELS_PER_ACCOUNT: "100",
    CT_CP_EDGE_ADMIN_URL: url
  }
})

export const server = Layer.unwrap(Effect.map(variables, Accounts.server)).pipe(
  Layer.provideMerge(Layer.mergeAll(NameServer.layer, RecordingEdge.layer, PublicDns.layer))
)

interface Answer {
  readonly status: number
  readonly body: any
}

/** A JSON request of an account, or of an operator. */
export const ask = (sub: string, path: string, body?: unknown, method?: string) =>
  Effect.gen(function* () {
    const credentials: Record<string, string> =
      sub === "operator"
        ? { "x-ct-admin-token": TestServer.adminToken }
        : { authorization: `Bearer ${yield* Accounts.bearerOf(sub)}` }
    const response = yield* TestServer.raw(path, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: { "content-type": "application/json", ...credentials },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = yield* Effect.promise(() => response.text())
    return { status: response.status, body: text === "" ? {} : JSON.parse(text) } as Answer
  })

export const create = (sub: string, hostname: string) => ask(sub, "/me/tunnels", { name: "site", hostname })
export const rename = (sub: string, id: string, hostname: string | null) =>
  ask(sub, `/me/tunnels/${id}/hostname`, { hostname }, "PUT")
export const verify = (sub: string, id: string) => ask(sub, `/me/tunnels/${id}/verify-hostname`, undefined, "POST")
export const tokenOf = (sub: string, id: string) =>
  Effect.map(ask(sub, `/me/tunnels/${id}/install`, {}), ({ body }) => String(body.routing_token))

/** A tunnel with a claim whose proof is published, by its TXT record. */
export const claimed = (sub: string, hostname: string) =>
  Effect.gen(function* () {
    const { body } = yield* create(sub, hostname)
    const [{ name, value }] = body.hostname_proof.records
    const dns = yield* PublicDns
    yield* dns.publish("TXT", name, value)
    return { id: String(body.id), name: String(name), value: String(value) }
  })

/** The hosts of the orders that the edge received, in their order. */
export const routed = (hostname: string) =>
  RecordingEdge.use(({ orders }) =>
    Effect.sync(() => orders.flatMap(({ path, token }) => (path.includes(`/${hostname}?`) ? [token] : [])))
  )

export const sql = <A, E>(run: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  Effect.provide(SqlClient.SqlClient.use(run), Accounts.database)

/** The host may have a certificate from now on, and a look-up that was made is no longer fresh. */
export const offer = (hostname: string) =>
  sql((sql) =>
    Effect.andThen(
      sql`update hosts set claim = 'offered', queued_at = null, ca = 'letsencrypt', deadline = 9999999999
        where hostname = ${hostname}`,
      sql`update hostname_claims set checked_at = 1 where hostname = ${hostname} and checked_at is not null`
    )
  )
