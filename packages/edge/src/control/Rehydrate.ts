/**
 * Rebuilds at boot what this edge may serve: revoked tokens first, then hosts, tiers and access windows. It retries until
 * the control plane has answered both, for an edge that knows nothing must not turn visitors or agents away.
 */
import { cursorIn, maxPage } from "@catenet/domain/api/Page"
import { type Authorisation, EdgeId } from "@catenet/domain/EdgeNode"
import { Effect, Redacted, Schedule } from "effect"
import { HttpClientError } from "effect/http"
import { Settings } from "../Settings.ts"
import type { ControlPlaneClient } from "./ControlPlane.ts"
import { Orders } from "./Orders.ts"

const retry = Schedule.min([Schedule.exponential("250 millis"), Schedule.spaced("5 seconds")]).pipe(Schedule.jittered)

/** A call that did not come through is told in the words of the system. */
const why = (error: Error) =>
  HttpClientError.isHttpClientError(error) && "cause" in error.reason && error.reason.cause instanceof Error
    ? error.reason.cause.message
    : error.message

/** In pages, so that neither side is kept from its other work by a long one. */
const authorisationsOf = Effect.fn("Rehydrate.authorisationsOf")(function* (
  controlPlane: ControlPlaneClient,
  edgeId: string
) {
  const all: Array<Authorisation> = []
  const params = { edge_id: EdgeId.make(edgeId) }
  let cursor: string | undefined
  do {
    const query = { limit: maxPage, ...(cursor === undefined ? {} : { cursor }) }
    const asked = { params, query, responseMode: "decoded-and-response" } as const
    const [page, { headers }] = yield* controlPlane.rehydrate(asked)
    for (const authorisation of page) all.push(authorisation)
    cursor = cursorIn(headers["link"])
  } while (cursor !== undefined)
  return all
})

/** Fetches everything before it changes anything, so that a failure half way leaves no half state. */
const once = Effect.fn("Rehydrate.once")(function* (controlPlane: ControlPlaneClient) {
  const { edgeId } = yield* Settings
  const orders = yield* Orders
  const revoked = yield* controlPlane.revokedTokens()
  const authorisations = yield* authorisationsOf(controlPlane, edgeId)
  for (const token of revoked.tokens) yield* orders.revoke(Redacted.value(token))
  for (const { admission_until, agent_keys, agent_proof, hostname, http_only, tier, token, policy } of authorisations) {
    const plain = Redacted.value(token)
    yield* orders.setHttpOnly(plain, http_only)
    if (hostname !== null) yield* orders.authorise(hostname, { token: plain, tier, admissionUntil: admission_until })
    yield* orders.setAgentKeys(plain, agent_keys, agent_proof)
    if (policy !== null) yield* orders.setPolicy(plain, policy)
  }
  yield* Effect.logInfo("state restored from the control plane").pipe(
    Effect.annotateLogs({ revoked: revoked.tokens.length, authorisations: authorisations.length })
  )
})

/** Succeeds when the state is there, however long that takes. */
export const rehydrate = (controlPlane: ControlPlaneClient) =>
  once(controlPlane).pipe(
    Effect.tapError((error) =>
      error._tag === "AdminTokenRefused"
        ? Effect.logError(
            "the control plane refuses CT_EDGE_ADMIN_TOKEN; start it with the token that it has as CT_CP_EDGE_ADMIN_TOKEN"
          )
        : Effect.logWarning("the control plane has not answered yet; no visitor is let in before").pipe(
            Effect.annotateLogs({ reason: why(error) })
          )
    ),
    Effect.retry(retry),
    Effect.orDie
  )
