/** Sends orders to the admin interfaces of edges. `LiveEdges` knows which edges there are. */
import type { EdgeOrder } from "@catenet/domain/edges/EdgeOrder"
import type { Hex64 } from "@catenet/domain/values/Hex"
import { Count } from "@catenet/domain/values/Numbers"
import { redact } from "@catenet/domain/values/Redaction"
import { ended } from "@catenet/domain/values/Sentence"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Data, Duration, Effect, Layer, Option, Predicate } from "effect"
import { HttpClientError, type HttpClientResponse } from "effect/http"
import * as OutgoingHttp from "../http/OutgoingHttp.ts"
import * as EdgeClient from "./EdgeClient.ts"
import { LiveEdges } from "./LiveEdges.ts"

/** An edge did not answer, or answered that it cannot now. The same call may succeed later. */
export class EdgeUnreachable extends Data.TaggedError("EdgeUnreachable")<{ readonly why: string }> {
  override get message() {
    return `The edge did not accept a call, which will be retried: ${this.why}`
  }
}

/** The edge refused the call for good; repeating it would change nothing. */
export class EdgeRefused extends Data.TaggedError("EdgeRefused")<{ readonly why: string }> {
  override get message() {
    return ended(`The edge refused: ${this.why}`)
  }
}

const orders = (
  { orders }: EdgeClient.EdgeClient,
  token: RoutingToken,
  call: EdgeOrder,
  ownerAccount: Hex64 | null
) => {
  const headers = {
    ...EdgeClient.about(token),
    ...("revision" in call && call.revision !== undefined ? { "x-ct-policy-revision": call.revision } : {})
  }
  switch (call._tag) {
    case "AuthorizeHost":
      return orders.authorizeHostByHeader({
        headers: { ...headers, ...(ownerAccount === null ? {} : { "x-ct-owner-account": ownerAccount }) },
        params: { host: call.hostname },
        query: {
          ...(call.tier === "gelb" ? { channel_tier: "gelb" } : {}),
          ...(call.admissionUntil === undefined ? {} : { admission_until: Count.make(call.admissionUntil) }),
          ...(call.requireLogin === undefined ? {} : { require_login: call.requireLogin ? "1" : "0" })
        }
      })
    case "ReleaseHost":
      return orders.releaseHost({ headers, params: { host: call.hostname } })
    case "Revoke":
      return orders.revokeByHeader({
        headers: { ...headers, ...(call.successor === undefined ? {} : { "x-ct-successor-token": call.successor }) }
      })
    case "CutMembers": {
      const { _tag, ...payload } = call
      return orders.cutMembers({ payload })
    }
    case "SetOptions":
      return orders.setOptions({ headers, payload: call.options })
    case "SetLogin":
      return orders.setLogin({ headers, payload: { required: call.required } })
    case "SetPort":
      return orders.setPort({ headers, payload: call.port })
    case "SetRules":
      return orders.setRules({ headers, payload: call.rules })
    case "SetAccessPolicy":
      return orders.setAccessPolicy({ headers, payload: call.policy })
    case "SetAgentKeys":
      return orders.setAgentKeys({ headers, query: { proof: call.proof }, payload: call.keys })
  }
}

/**
 * A request that the edge understood and will refuse again. A wrong admin token can be put right, and so can an address
 * where no edge of this version answers, so these are repeated.
 */
const isFinal = (status: number) => status >= 400 && status < 500 && ![401, 404, 408, 425, 429].includes(status)

/** What the socket says, such as `connect ECONNREFUSED 10.0.0.2:9443`. */
const socketError = ({ reason }: HttpClientError.HttpClientError) => {
  const cause = "cause" in reason ? reason.cause : undefined
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  return inner instanceof Error && inner.message !== "" ? inner.message : "it cannot be reached"
}

/** As much of an answer as a line of a log has room for. */
const maxPerAnswer = 200

const answerOf = ({ status, text }: HttpClientResponse.HttpClientResponse) =>
  Effect.map(
    Effect.orElseSucceed(text, () => ""),
    (body) => {
      const line = redact(body.replace(/[^\P{C}]+|\s+/gu, " ").trim()).slice(0, maxPerAnswer)
      return line === "" ? String(status) : `${status}: ${line}`
    }
  )

const verdictOf = (status: number, why: string) =>
  isFinal(status) ? new EdgeRefused({ why }) : new EdgeUnreachable({ why })

const judge = Effect.fnUntraced(function* (error: unknown) {
  if (!HttpClientError.isHttpClientError(error)) {
    // An error that the edge's API declares.
    const status = Predicate.hasProperty(error, "status") ? Number(error.status) : 0
    return verdictOf(status, status === 0 ? "its answer could not be read" : `it answered ${status}`)
  }
  if (error.response === undefined) return new EdgeUnreachable({ why: socketError(error) })
  return verdictOf(error.response.status, `it answered ${yield* answerOf(error.response)}`)
})

/**
 * An edge of the reference kind has no route for some orders. Which kind it is shows in whether it is asked for a tunnel's
 * status by the path.
 */
const hasNoRoute = Effect.fnUntraced(function* (client: EdgeClient.EdgeClient, token: RoutingToken, error: unknown) {
  if (!HttpClientError.isHttpClientError(error) || error.response?.status !== 404) return false
  if (!client.isByPath()) yield* Effect.ignore(client.facts.statusByHeader({ headers: EdgeClient.about(token) }))
  return client.isByPath()
})

const performed = (client: EdgeClient.EdgeClient, token: RoutingToken, call: EdgeOrder, ownerAccount: Hex64 | null) =>
  orders(client, token, call, ownerAccount).pipe(
    Effect.asVoid,
    Effect.catch((error: unknown) =>
      Effect.gen(function* () {
        const verdict = yield* judge(error)
        // An edge of an earlier version has no such route, and forgets the host name at its next start.
        if (call._tag === "ReleaseHost" && HttpClientError.isHttpClientError(error) && error.response?.status === 404)
          return yield* new EdgeRefused({ why: verdict.why })
        if (!(yield* hasNoRoute(client, token, error)) || verdict._tag === "EdgeRefused") return yield* verdict
        return yield* new EdgeRefused({ why: verdict.why })
      })
    )
  )

/** Seconds in which an edge answers a call. */
const patienceSeconds = 5

export class EdgeAdmin extends Context.Service<
  EdgeAdmin,
  {
    /** Makes one call to the edge of this id. */
    readonly perform: (
      edge: string,
      token: RoutingToken,
      call: EdgeOrder,
      /** The name that edges know the tunnel's account by, where the order has a place for it. */
      ownerAccount?: Hex64 | null
    ) => Effect.Effect<void, EdgeUnreachable | EdgeRefused>
  }
>()("server/edges/EdgeAdmin") {
  static readonly make = Effect.gen(function* () {
    const clientAt = yield* EdgeClient.make
    const edges = yield* LiveEdges
    const reached = Effect.fnUntraced(function* (edge: string) {
      const address = (yield* edges.all).find(({ id }) => id === edge)
      if (address === undefined || Option.isNone(clientAt)) return yield* new EdgeUnreachable({ why: "it is not live" })
      return yield* clientAt.value(address.url)
    })
    return {
      perform: (edge: string, token: RoutingToken, call: EdgeOrder, ownerAccount: Hex64 | null = null) =>
        Effect.flatMap(reached(edge), (client) => performed(client, token, call, ownerAccount)).pipe(
          Effect.timeoutOrElse({
            duration: Duration.seconds(patienceSeconds),
            orElse: () => Effect.fail(new EdgeUnreachable({ why: `it did not answer within ${patienceSeconds} s` }))
          }),
          Effect.withSpan("EdgeAdmin.perform", { attributes: { call: call._tag, edge } })
        )
    }
  })

  /** On the caller's view of which edges live. */
  static readonly layerNoDeps = Layer.effect(EdgeAdmin, EdgeAdmin.make).pipe(Layer.provide(OutgoingHttp.layerToEdges))
  static readonly layer = EdgeAdmin.layerNoDeps.pipe(Layer.provide([LiveEdges.layer]))
}
