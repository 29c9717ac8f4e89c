/** Calls of the control plane by which an agent learns the policy of its tunnel and whose a visitor's session is. */
import { AgentCallsApi } from "@catenet/domain/api/AgentCallsApi"
import type { GateAnswer, GateCaller, GateEntry } from "@catenet/domain/tunnels/GateVisit"
import { BrowserHash } from "@catenet/domain/tunnels/GateVisit"
import type { TunnelPolicy } from "@catenet/domain/tunnels/TunnelPolicy"
import { Hex64 } from "@catenet/domain/values/Hex"
import type { Hostname } from "@catenet/domain/values/Hostname"
import type { GateToken, RoutingToken } from "@catenet/domain/values/Tokens"
import type { Enforcement } from "@catenet/wire/frames/MuxPolicy"
import { Effect, type Redacted } from "effect"
import { HttpClient, HttpClientError } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import * as ProvedRequests from "../onboard/ProvedRequests.ts"

/** What an agent enforces that ends its visitors' TLS, by its registration and to the control plane. */
export const enforcements: ReadonlyArray<Enforcement> = [
  { name: "gate", version: 1 },
  { name: "windows", version: 1 },
  { name: "http_only", version: 1 },
  { name: "rules", version: 1 }
]

const callBound = "5 seconds"

/** `Absent`: an older control plane has no policies for agents, or the key of this agent is not enrolled for the tunnel. */
export type Fetched =
  | { readonly _tag: "Changed"; readonly policy: TunnelPolicy; readonly etag: string }
  | { readonly _tag: "Unchanged" }
  | { readonly _tag: "Absent"; readonly why: string }

export interface PolicyClient {
  /** `etag` is that of the policy that is known. Fails when the control plane does not answer. */
  readonly fetch: (etag: string | undefined) => Effect.Effect<Fetched, Error>
  /** Undefined: the code is not accepted. */
  readonly redeem: (shown: {
    readonly host: Hostname
    readonly code: GateToken
    readonly browser: string
  }) => Effect.Effect<GateEntry | undefined, Error>
  /** Whose an access token is that is made for this address, the host's; the reason where it is refused. */
  readonly caller: (shown: {
    readonly host: Hostname
    readonly resource: string
    readonly bearer: Redacted.Redacted
  }) => Effect.Effect<GateCaller | "token" | "account", Error>
  /** By the SHA-256 of the session's token. */
  readonly session: (host: Hostname, id: string) => Effect.Effect<GateAnswer, Error>
  readonly endSession: (host: Hostname, id: string) => Effect.Effect<void, Error>
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)))

const callsOf = (httpClient: HttpClient.HttpClient, baseUrl: string) =>
  HttpApiClient.group(AgentCallsApi, { group: "agentPolicy", httpClient, baseUrl })
const shared = ProvedRequests.shared<Effect.Success<ReturnType<typeof callsOf>>>()

/** `seed` is the key of the enrolled agent. */
export const make = Effect.fnUntraced(function* (
  baseUrl: string,
  token: RoutingToken,
  seed: Redacted.Redacted<Uint8Array>
) {
  const { httpClient, onceMore } = ProvedRequests.by(yield* HttpClient.HttpClient, Effect.succeed(seed))
  const client = yield* shared(baseUrl, callsOf(httpClient, baseUrl))
  const bounded = <A, E>(call: Effect.Effect<A, E>) => Effect.timeout(onceMore(call), callBound)
  const query = { enforces: enforcements.map(({ name }) => name).join(",") }
  const headers = { "x-ct-routing-token": token }
  const about = (host: Hostname, id: string) => ({ params: { id: Hex64.make(id) }, headers, query: { host } })
  const made: PolicyClient = {
    fetch: (etag) => {
      const conditions = etag === undefined ? {} : { "if-none-match": etag }
      return bounded(
        client.policy({ headers: { ...headers, ...conditions }, query, responseMode: "decoded-and-response" })
      ).pipe(
        Effect.map(([policy, { headers }]): Fetched =>
          policy === undefined ? { _tag: "Unchanged" } : { _tag: "Changed", policy, etag: headers["etag"] ?? "" }
        ),
        Effect.catchTag("AgentProofRequired", ({ detail, reason }) =>
          reason === "stale" ? Effect.fail(new Error(detail)) : Effect.succeed<Fetched>({ _tag: "Absent", why: detail })
        ),
        Effect.catchIf(
          (error) => HttpClientError.isHttpClientError(error) && error.response?.status === 404,
          () => Effect.succeed<Fetched>({ _tag: "Absent", why: "this control plane has no policies for agents" })
        ),
        Effect.mapError(asError)
      )
    },
    redeem: ({ browser, code, host }) =>
      bounded(client.redeem({ payload: { token, host, code, browser: BrowserHash.make(browser) } })).pipe(
        Effect.catchTag("GateCodeRefused", () => Effect.undefined),
        Effect.mapError(asError)
      ),
    caller: (shown) =>
      bounded(client.caller({ payload: { token, ...shown } })).pipe(
        Effect.catchTag("CallerRefused", ({ reason }) => Effect.succeed(reason)),
        Effect.mapError(asError)
      ),
    session: (host, id) => Effect.mapError(bounded(client.session(about(host, id))), asError),
    endSession: (host, id) => Effect.mapError(bounded(client.endSession(about(host, id))), asError)
  }
  return made
})
