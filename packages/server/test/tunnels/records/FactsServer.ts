/** A server whose edge says what a test wants, and accounts with tunnels on it. */
import { TunnelChange, TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { Hostname } from "@catenet/domain/values/Hostname"
import * as Accounts from "@catenet/testing/server/Accounts"
import * as TestServer from "@catenet/testing/server/TestServer"
import { Effect, Layer, Redacted, Schema } from "effect"
import { FactsEdge } from "./FactsEdge.ts"

/** The variables of every replica. */
export const variables = { CT_CP_OUTBOX_TICK_SECS: "1", CT_CP_HOSTNAME_ZONE: "zone.example" }

export const server = (more: Readonly<Record<string, string>> = {}) =>
  Layer.unwrap(
    Effect.map(FactsEdge, ({ url }) => Accounts.server({ ...variables, CT_CP_EDGE_ADMIN_URL: url, ...more }))
  ).pipe(Layer.provideMerge(FactsEdge.layer))

/** A client of an account by its access token. */
export const account = (sub: string) =>
  Effect.flatMap(Accounts.bearerOf(sub), (bearer) => TestServer.clientAs({ bearer }))

const name = Schema.decodeSync(TunnelName)
const host = Schema.decodeSync(Hostname)

/** A fresh tunnel of an account, with its routing token. */
export const tunnel = (sub: string, called: string, hostname?: string, loginRequired = false) =>
  Effect.gen(function* () {
    const { tunnels } = yield* account(sub)
    const named = hostname === undefined ? {} : { hostname: host(hostname) }
    const { id } = yield* tunnels.create({ headers: {}, payload: { name: name(called), ...named } })
    const { routing_token } = yield* tunnels.install({ headers: {}, params: { id } })
    if (loginRequired) {
      yield* tunnels.change({ params: { id }, payload: new TunnelChange({ require_login: true }) })
    }
    return { id, token: Redacted.value(routing_token) }
  })
