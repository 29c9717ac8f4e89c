/** The agent's calls of the control plane. Each is limited to 10 s and results in a response, a final refusal, or silence. */
import * as Bootstrap from "@catenet/crypto/Bootstrap"
import * as Enrollment from "@catenet/crypto/Enrollment"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { AgentCallsApi } from "@catenet/domain/api/AgentCallsApi"
import { AgentId } from "@catenet/domain/enrollment/AgentStatus"
import { PublicKey, Signature } from "@catenet/domain/values/Keys"
import { clause, ended } from "@catenet/domain/values/Sentence"
import { BootstrapToken, JoinToken, RoutingToken } from "@catenet/domain/values/Tokens"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Context, Data, Effect, Layer, Redacted, Result, Schema } from "effect"
import { HttpClient, HttpClientError } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Refused, Unreachable } from "../Failure.ts"
import { version } from "../Version.ts"
import { advice } from "./HttpErrors.ts"
import * as ProvedRequests from "./ProvedRequests.ts"

/** The token was redeemed before, by this agent or by another. */
export class TokenSpent extends Data.TaggedError("TokenSpent")<{ readonly detail: string }> {
  override get message() {
    return this.detail
  }
}

const callBound = "10 seconds"

const Request = Schema.Struct({ token: JoinToken, agent: AgentId, pubkey: PublicKey, proof: Signature })
const Exchange = Schema.Struct({ token: BootstrapToken, pubkey: PublicKey, proof: Signature })
const readToken = Schema.decodeEffect(RoutingToken)
const hexOf = (token: Redacted.Redacted<Uint8Array>) => Hex.encode(Redacted.value(token))

const statusOf = (error: unknown) => (HttpClientError.isHttpClientError(error) ? error.response?.status : undefined)

const isRedirect = (status: number) => status >= 300 && status < 400
const redirected = ", a redirect, and no redirect is followed"

const why = (error: unknown): string => {
  if (!HttpClientError.isHttpClientError(error)) return error instanceof Error ? error.message : String(error)
  const cause = "cause" in error.reason ? error.reason.cause : undefined
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  return inner instanceof Error && inner.message !== "" ? inner.message : error.message
}

/** A control plane. */
interface Plane {
  readonly url: string
  readonly httpClient: HttpClient.HttpClient
}

const status = ({ httpClient, url }: Plane) => ({ group: "status", httpClient, baseUrl: url }) as const
const enrollment = ({ httpClient, url }: Plane) => ({ group: "enrollment", httpClient, baseUrl: url }) as const

const unreachable = (base: string, what: string) => (error: unknown) => {
  const code = statusOf(error)
  const reason = code === undefined ? why(error) : `it answered ${code}${isRedirect(code) ? redirected : ""}`
  return new Unreachable({
    detail: `The control plane at ${base} cannot ${what}: ${clause(reason)}. ${advice(error)}`
  })
}

const bounded = <A, E>(call: Effect.Effect<A, E>) =>
  Effect.timeoutOrElse(call, {
    duration: callBound,
    orElse: () => Effect.fail(new Error(`no answer within ${callBound}`))
  })

/** The meaning of a token exchange's error, if the response is none that the API declares. */
const exchangeFailed = (url: string, what: string) => (error: unknown) => {
  if (error instanceof TokenSpent || error instanceof Refused) return error
  const code = statusOf(error)
  if (code === 409) return new TokenSpent({ detail: "The control plane answered 409." })
  if (code !== undefined && code >= 400 && code < 500 && code !== 429)
    return new Refused({ detail: `The control plane at ${url} refused to ${what} (status ${code}).` })
  return unreachable(url, what)(error)
}

const publicKeyOf = (seed: Redacted.Redacted<Uint8Array>) => Hex.encode(native.ed25519.publicKey(Redacted.value(seed)))

const currentToken = Effect.fn("OnboardingClient.currentToken")(function* (
  plane: Plane,
  token: Redacted.Redacted<Uint8Array>,
  seed: Redacted.Redacted<Uint8Array>
) {
  const { httpClient, onceMore } = ProvedRequests.by(plane.httpClient, Effect.succeed(seed))
  const endpoint = { ...enrollment(plane), httpClient, endpoint: "currentToken" } as const
  const ask = yield* HttpApiClient.endpoint(AgentCallsApi, endpoint)
  const payload = { token: yield* Effect.orDie(readToken(hexOf(token))) }
  const answer = yield* bounded(onceMore(ask({ payload }))).pipe(
    Effect.catchTag("AgentProofRequired", ({ detail }) => Effect.as(Effect.logInfo(detail), undefined)),
    // Older control planes do not have this route.
    Effect.catchIf(
      (error) => statusOf(error) === 404,
      () => Effect.undefined
    ),
    Effect.mapError(unreachable(plane.url, "say which routing token the tunnel has now"))
  )
  return answer && Redacted.make(Result.getOrThrow(Hex.decode(Redacted.value(answer.routing_token), 32)))
})

const reportVersion = Effect.fn("OnboardingClient.reportVersion")(
  function* (plane: Plane, token: Redacted.Redacted<Uint8Array>, seed: Redacted.Redacted<Uint8Array> | undefined) {
    const { httpClient, onceMore } = ProvedRequests.by(plane.httpClient, Effect.succeed(seed))
    const endpoint = { ...enrollment(plane), httpClient, endpoint: "reportVersion" } as const
    const report = yield* HttpApiClient.endpoint(AgentCallsApi, endpoint)
    yield* bounded(onceMore(report({ payload: { token: yield* readToken(hexOf(token)), version } })))
  },
  Effect.catch((error) => Effect.logDebug(`the control plane took no version: ${why(error)}`))
)

const networkInfo = Effect.fnUntraced(function* (plane: Plane) {
  const ask = yield* HttpApiClient.endpoint(AgentCallsApi, { ...status(plane), endpoint: "networkInfo" })
  return yield* Effect.mapError(bounded(ask({})), unreachable(plane.url, "say where its edge is"))
})

const ca = Effect.fn("OnboardingClient.ca")(function* (plane: Plane) {
  const edgeCa = yield* HttpApiClient.endpoint(AgentCallsApi, { ...status(plane), endpoint: "edgeCa" })
  const what = "give the edge's root certificate"
  return yield* Effect.mapError(bounded(edgeCa({})), (error) =>
    "_tag" in error && (error._tag === "EdgeCaNotPublished" || error._tag === "EdgeCaNotConfigured")
      ? new Unreachable({ detail: `The control plane at ${plane.url} cannot ${what}. ${ended(error.detail)}` })
      : unreachable(plane.url, what)(error)
  )
})

const redeem = Effect.fn("OnboardingClient.redeem")(function* (
  plane: Plane,
  token: Redacted.Redacted<Uint8Array>,
  agent: string,
  seed: Redacted.Redacted<Uint8Array>
) {
  const call = yield* HttpApiClient.endpoint(AgentCallsApi, { ...enrollment(plane), endpoint: "redeem" })
  const payload = yield* Effect.orDie(
    Schema.decodeEffect(Request)({
      token: hexOf(token),
      agent,
      pubkey: publicKeyOf(seed),
      proof: Hex.encode(Enrollment.prove(native, seed, token))
    })
  )
  const { tenant } = yield* bounded(call({ payload })).pipe(
    Effect.catchTag("AgentAlreadyEnrolled", ({ tenant }) =>
      Effect.as(Effect.logInfo("an earlier start had enrolled this agent"), { tenant })
    ),
    Effect.catchTags({
      JoinTokenSpent: ({ detail }) => Effect.fail(new TokenSpent({ detail })),
      JoinTokenUnknown: ({ detail }) =>
        Effect.fail(new Refused({ detail: `${ended(detail)} Copy CT_AGENT_JOIN_TOKEN again from the install page.` })),
      JoinProofRefused: ({ detail }) =>
        Effect.fail(new Refused({ detail: `${ended(detail)} Update this agent, or the control plane.` }))
    }),
    Effect.mapError(exchangeFailed(plane.url, "redeem the join token"))
  )
  return tenant
})

const exchange = Effect.fn("OnboardingClient.exchange")(function* (
  plane: Plane,
  token: Redacted.Redacted,
  seed: Redacted.Redacted<Uint8Array>
) {
  const call = yield* HttpApiClient.endpoint(AgentCallsApi, { ...enrollment(plane), endpoint: "redeemBootstrap" })
  const bytes = yield* Effect.mapError(Effect.fromResult(Hex.decode(Redacted.value(token), 32)), () =>
    ConfigurationInvalid.of("CT_BOOTSTRAP", "is not a bootstrap token", "copy it again from the install page")
  )
  const payload = yield* Effect.orDie(
    Schema.decodeEffect(Exchange)({
      token: Hex.encode(bytes),
      pubkey: publicKeyOf(seed),
      proof: Hex.encode(Bootstrap.prove(native, seed, Redacted.make(bytes)))
    })
  )
  const askAgain = ({ detail }: { readonly detail: string }) =>
    Effect.fail(new Refused({ detail: `${ended(detail)} Ask the portal for a new CT_BOOTSTRAP.` }))
  const { secret } = yield* bounded(call({ payload })).pipe(
    Effect.catchTag("BootstrapAlreadyRedeemed", ({ secret }) =>
      Effect.as(Effect.logInfo("an earlier start had redeemed the bootstrap token"), { secret })
    ),
    Effect.catchTags({
      BootstrapProofRefused: ({ detail }) =>
        Effect.fail(new Refused({ detail: `${ended(detail)} Update this agent, or the control plane.` })),
      BootstrapTokenSpent: ({ detail }) => Effect.fail(new TokenSpent({ detail })),
      BootstrapTokenUnknown: askAgain,
      BootstrapTokenExpired: askAgain
    }),
    Effect.mapError(exchangeFailed(plane.url, "redeem the bootstrap token"))
  )
  return secret
})

export class OnboardingClient extends Context.Service<
  OnboardingClient,
  {
    readonly url: string
    readonly meshPort: Effect.Effect<number, Unreachable>
    /** Port of the front door at which members of channels meet. */
    readonly frontDoorPort: Effect.Effect<number, Unreachable>
    /** The DER of the edge's root, from this base address or from the control plane. */
    ca(base: string | undefined): Effect.Effect<Uint8Array, Unreachable>
    /**
     * Redeems a join token with the seed's proof; returns the tenant. A token that this seed redeemed before gets the same
     * response.
     */
    redeem(
      token: Redacted.Redacted<Uint8Array>,
      agent: string,
      seed: Redacted.Redacted<Uint8Array>
    ): Effect.Effect<string, TokenSpent | Refused | Unreachable>
    /**
     * Exchanges a bootstrap token for the text of its secret, with the seed's proof. A token that this seed redeemed before gets
     * the same response.
     */
    exchange(
      token: Redacted.Redacted,
      seed: Redacted.Redacted<Uint8Array>
    ): Effect.Effect<Redacted.Redacted, TokenSpent | ConfigurationInvalid | Refused | Unreachable>
    /**
     * The current routing token of this token's tunnel, with the proof of an enrolled key; undefined if the key is not enrolled
     * for the tunnel or the tunnel does not exist.
     */
    currentToken(
      token: Redacted.Redacted<Uint8Array>,
      seed: Redacted.Redacted<Uint8Array>
    ): Effect.Effect<Redacted.Redacted<Uint8Array> | undefined, Unreachable>
    /** Reports this agent's version if its registration did not. Errors are ignored. */
    reportVersion(
      token: Redacted.Redacted<Uint8Array>,
      seed: Redacted.Redacted<Uint8Array> | undefined
    ): Effect.Effect<void>
  }
>()("agent/onboard/OnboardingClient") {
  static readonly layer = (url: string) =>
    Layer.effect(
      OnboardingClient,
      Effect.map(HttpClient.HttpClient, (httpClient) => {
        const plane: Plane = { url, httpClient }
        return {
          url,
          meshPort: Effect.map(networkInfo(plane), ({ mesh_edge_port }) => mesh_edge_port),
          frontDoorPort: Effect.map(networkInfo(plane), ({ channel_front_door_port = 443 }) => channel_front_door_port),
          ca: (base) => ca({ url: base ?? url, httpClient }),
          redeem: (token, agent, seed) => redeem(plane, token, agent, seed),
          exchange: (token, seed) => exchange(plane, token, seed),
          currentToken: (token, seed) => currentToken(plane, token, seed),
          reportVersion: (token, seed) => reportVersion(plane, token, seed)
        }
      })
    )
}
