/**
 * The admin interface of the edge, as the control plane uses it. One edge is configured; without it nothing is sent and
 * an edge learns everything when it boots.
 */
import { Count } from "@catenet/domain/Numbers"
import type { RoutingToken } from "@catenet/domain/Tokens"
import { Context, Data, Effect, Layer, Option } from "effect"
import { HttpClientError } from "effect/http"
import type { EdgeCall } from "../outbox/EdgeCall.ts"
import * as OutgoingHttp from "../http/OutgoingHttp.ts"
import * as EdgeClient from "./EdgeClient.ts"

/** The edge did not answer, or answered that it cannot now. The same call may succeed later. */
export class EdgeUnreachable extends Data.TaggedError("EdgeUnreachable")<{ readonly why: string }> {
  override get message() {
    return `The edge could not be reached: ${this.why}`
  }
}

/** The edge refused the call for good; repeating it would change nothing. */
export class EdgeRefused extends Data.TaggedError("EdgeRefused")<{ readonly why: string }> {
  override get message() {
    return `The edge refused: ${this.why}`
  }
}

const orders = ({ orders }: EdgeClient.EdgeClient, token: RoutingToken, call: EdgeCall) => {
  const headers = EdgeClient.about(token)
  switch (call._tag) {
    case "AuthorizeHost":
      return orders.authorizeHostByHeader({
        headers,
        params: { host: call.hostname },
        query: {
          ...(call.tier === "gelb" ? { channel_tier: "gelb" } : {}),
          ...(call.admissionUntil === undefined ? {} : { admission_until: Count.make(call.admissionUntil) })
        }
      })
    case "Revoke":
      return orders.revokeByHeader({ headers })
    case "SetAccessPolicy":
      return orders.setAccessPolicy({ headers, payload: call.policy })
    case "SetAgentKeys":
      return orders.setAgentKeys({ headers, payload: call.keys })
  }
}

/**
 * A request that the edge understood and will refuse again. A wrong admin token can be put right, and so can an address
 * where no edge of this version answers, so these are repeated.
 */
const isFinal = (status: number) => status >= 400 && status < 500 && ![401, 404, 408, 425, 429].includes(status)

const judge = (error: unknown): EdgeUnreachable | EdgeRefused => {
  if (HttpClientError.isHttpClientError(error)) {
    const status = error.response?.status
    const why = status === undefined ? error.reason._tag : `it answered ${status}`
    return status !== undefined && isFinal(status) ? new EdgeRefused({ why }) : new EdgeUnreachable({ why })
  }
  const status = typeof error === "object" && error !== null && "status" in error ? Number(error.status) : 0
  return isFinal(status)
    ? new EdgeRefused({ why: `it answered ${status}` })
    : new EdgeUnreachable({ why: status === 0 ? "its answer could not be read" : `it answered ${status}` })
}

const make = Effect.gen(function* () {
  const client = yield* EdgeClient.make
  if (Option.isNone(client)) return { configured: false, perform: () => Effect.void }
  return {
    configured: true,
    perform: (token: RoutingToken, call: EdgeCall) =>
      orders(client.value, token, call).pipe(
        Effect.asVoid,
        Effect.mapError(judge),
        Effect.timeoutOrElse({
          duration: "5 seconds",
          orElse: () => Effect.fail(new EdgeUnreachable({ why: "it did not answer within 5 s" }))
        }),
        Effect.withSpan("EdgeAdmin.perform", { attributes: { call: call._tag } })
      )
  }
})

export class EdgeAdmin extends Context.Service<
  EdgeAdmin,
  {
    /** Whether an edge is configured. */
    readonly configured: boolean
    /** Makes one call, within five seconds. */
    readonly perform: (token: RoutingToken, call: EdgeCall) => Effect.Effect<void, EdgeUnreachable | EdgeRefused>
  }
>()("server/EdgeAdmin") {
  static readonly layer = Layer.effect(EdgeAdmin, make).pipe(Layer.provide(OutgoingHttp.layerToEdges))
}
