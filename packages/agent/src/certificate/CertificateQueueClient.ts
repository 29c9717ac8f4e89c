/** Calls of the control plane about a certificate: whether and where it may be ordered, and that it was installed. */
import { maxChainLength } from "@catenet/domain/api/AdmissionApi"
import { AgentCallsApi } from "@catenet/domain/api/AgentCallsApi"
import type { Admission } from "@catenet/domain/certificates/Admission"
import {
  type CertificateStanding,
  type IssuanceFailure,
  IssuanceProgress
} from "@catenet/domain/certificates/CertificateStanding"
import type { Hostname } from "@catenet/domain/values/Hostname"
import { clause } from "@catenet/domain/values/Sentence"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Redacted } from "effect"
import { HttpClient, HttpClientError } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Refused, Unreachable } from "../Failure.ts"
import { describe } from "../onboard/HttpErrors.ts"
import * as ProvedRequests from "../onboard/ProvedRequests.ts"
import { AcmeFailed } from "./AcmeFailed.ts"
import * as DnsProofRetry from "./DnsProofRetry.ts"

/** The control plane no longer knows a tunnel with this host name. */
export class HostnameGone extends Refused {}

const callBound = "10 seconds"
/** Limit of a progress report, so that it does not delay the order. */
const reportTimeout = "3 seconds"
/** Name servers of a zone may take this long to agree. */
const propagationBound = "180 seconds"

/** The agent that asks, and the host name. */
export interface Asked {
  readonly token: RoutingToken
  readonly hostname: Hostname
}

export interface Answered {
  readonly admission: Admission
  /** The control plane's clock in Unix milliseconds; undefined if it sent none. */
  readonly date: number | undefined
}

const callsOf = (httpClient: HttpClient.HttpClient, baseUrl: string) =>
  HttpApiClient.group(AgentCallsApi, { group: "admission", httpClient, baseUrl })
const shared = ProvedRequests.shared<Effect.Success<ReturnType<typeof callsOf>>>()

const connect = Effect.fnUntraced(function* (url: string, seed: ProvedRequests.Seed) {
  const { httpClient, onceMore } = ProvedRequests.by(yield* HttpClient.HttpClient, seed)
  const calls = yield* shared(url, callsOf(httpClient, url))
  return { url, calls, onceMore }
})
type Connected = Effect.Success<ReturnType<typeof connect>>

const bounded = <A, E>({ onceMore }: Connected, call: Effect.Effect<A, E>) =>
  Effect.timeoutOrElse(onceMore(call), {
    duration: callBound,
    orElse: () => Effect.fail(new Error(`no answer within ${callBound}`))
  })

const failureOf =
  ({ url }: Connected, what: string) =>
  (error: unknown) => {
    if (error instanceof Refused) return error
    const status = HttpClientError.isHttpClientError(error) ? error.response?.status : undefined
    return status !== undefined && status >= 400 && status < 500 && status !== 429
      ? new Refused({ detail: `The control plane at ${url} refused to ${what} (status ${status}).` })
      : new Unreachable({ detail: `The control plane at ${url} could not ${what}: ${clause(describe(error))}.` })
  }

const paramsOf = ({ hostname, token }: Asked) => ({ routing_token: Redacted.make(Redacted.value(token)), hostname })

const check = "Check CT_AGENT_TOKEN and CT_AGENT_HOSTNAME."

const ask = Effect.fn("CertificateQueueClient.ask")(function* (plane: Connected, asked: Asked) {
  const call = plane.calls.admission({ params: paramsOf(asked), responseMode: "decoded-and-response" })
  return yield* bounded(plane, call).pipe(
    Effect.map(([admission, { headers }]) => {
      const date = Date.parse(headers["date"] ?? "")
      return { admission, date: Number.isNaN(date) ? undefined : date }
    }),
    Effect.catchTags({
      NotHostnameOwner: ({ detail }) => Effect.fail(new Refused({ detail: `${detail} ${check}` })),
      AgentProofRequired: ({ detail }) => Effect.fail(new Refused({ detail })),
      HostnameUnknown: ({ detail }) => Effect.fail(new HostnameGone({ detail: `${detail} ${check}` }))
    }),
    Effect.mapError(failureOf(plane, "say whether a certificate may be ordered"))
  )
})

const complete = Effect.fn("CertificateQueueClient.complete")(function* (
  plane: Connected,
  asked: Asked,
  chain: string | undefined
) {
  const payload = chain === undefined || chain.length > maxChainLength ? {} : { chain }
  yield* bounded(plane, plane.calls.issuanceComplete({ params: paramsOf(asked), payload })).pipe(
    Effect.catchTags({
      NotHostnameOwner: ({ detail }) => Effect.fail(new Refused({ detail: `${detail} ${check}` })),
      AgentProofRequired: ({ detail }) => Effect.fail(new Refused({ detail })),
      HostnameGuarded: ({ detail }) => Effect.fail(new Refused({ detail }))
    }),
    Effect.mapError(failureOf(plane, "take note of the certificate"))
  )
})

const progress = ({ calls, onceMore }: Connected, asked: Asked, progress: IssuanceProgress) =>
  onceMore(calls.issuanceProgress({ params: paramsOf(asked), payload: IssuanceProgress.make(progress) })).pipe(
    Effect.timeout(reportTimeout),
    Effect.map(({ yours }) => yours),
    Effect.tapError((error) => Effect.logDebug(describe(error))),
    Effect.orElseSucceed(() => true)
  )

const publish = Effect.fn("CertificateQueueClient.publish")(function* (
  { calls, onceMore }: Connected,
  { hostname, token }: Asked,
  value: string
) {
  // The CA has not been asked to validate: the order stays open, and no new one is placed.
  const failed = (detail: string) =>
    Effect.fail(new AcmeFailed({ reason: "dns", detail, type: DnsProofRetry.notPublished }))
  return yield* onceMore(calls.setChallenge({ payload: { token, hostname, value } })).pipe(
    Effect.as("published" as const),
    Effect.timeout(callBound),
    DnsProofRetry.retry,
    Effect.catchTags({
      RouteNotFound: () => Effect.succeed("no broker" as const),
      ChallengeNotBrokered: () => Effect.succeed("no broker" as const),
      ChallengeNotDelegated: ({ detail }) => failed(detail),
      HostnameUnknown: ({ detail }) => failed(`${detail} ${check}`),
      NotHostnameOwner: ({ detail }) => failed(`${detail} ${check}`),
      AgentProofRequired: ({ detail }) => failed(detail),
      NotAdmitted: ({ detail }) => failed(detail),
      DnsProviderFailed: ({ detail }) => failed(detail)
    }),
    Effect.timeoutOrElse({
      duration: propagationBound,
      orElse: () => failed(`The name servers of ${hostname} did not all show the proof within ${propagationBound}.`)
    }),
    Effect.catch((error) =>
      error instanceof AcmeFailed
        ? Effect.fail(error)
        : failed(`The proof could not be published in DNS: ${clause(describe(error))}.`)
    )
  )
})

export class CertificateQueueClient extends Context.Service<
  CertificateQueueClient,
  {
    readonly ask: (asked: Asked) => Effect.Effect<Answered, Refused | Unreachable>
    /** Reports that the certificate `chain` (PEM) is installed. May be repeated. */
    readonly complete: (asked: Asked, chain: string | undefined) => Effect.Effect<void, Refused | Unreachable>
    /**
     * Reports that a CA issued no certificate. Returns the new state of the name; undefined if the control plane does not record
     * it.
     */
    readonly fail: (asked: Asked, failure: IssuanceFailure) => Effect.Effect<Admission | undefined>
    /** The state of the name as text; undefined if the control plane does not provide it. */
    readonly standing: (asked: Asked) => Effect.Effect<CertificateStanding | undefined>
    /** Reports the current step. False if it is another agent's turn; true if the control plane does not answer. */
    readonly progress: (asked: Asked, progress: IssuanceProgress) => Effect.Effect<boolean>
    /** Publishes a value in DNS and waits until it is visible; undefined if the control plane has no DNS server. */
    readonly publish: (asked: Asked, value: string) => Effect.Effect<"published" | "no broker", AcmeFailed>
    /** Removes it again. Best effort. */
    readonly clear: (asked: Asked) => Effect.Effect<void>
  }
>()("agent/certificate/CertificateQueueClient") {
  /** `seed` is the key of an enrolled agent, with which it proves itself in each call. */
  static readonly make = (url: string, seed: ProvedRequests.Seed = Effect.undefined) =>
    Effect.map(connect(url, seed), (plane): CertificateQueueClient["Service"] => ({
      ask: (asked) => ask(plane, asked),
      complete: (asked, chain) => complete(plane, asked, chain),
      fail: (asked, payload) =>
        bounded(plane, plane.calls.issuanceFailed({ params: paramsOf(asked), payload })).pipe(
          Effect.tapError((error) => Effect.logDebug(describe(error))),
          Effect.orElseSucceed(() => undefined)
        ),
      standing: (asked) =>
        bounded(plane, plane.calls.standing({ params: paramsOf(asked) })).pipe(Effect.orElseSucceed(() => undefined)),
      progress: (asked, payload) => progress(plane, asked, payload),
      publish: (asked, value) => publish(plane, asked, value),
      clear: ({ hostname, token }) =>
        Effect.ignore(bounded(plane, plane.calls.clearChallenge({ payload: { token, hostname } })))
    }))

  static readonly layer = (url: string, seed?: ProvedRequests.Seed) =>
    Layer.effect(CertificateQueueClient, CertificateQueueClient.make(url, seed))
}
