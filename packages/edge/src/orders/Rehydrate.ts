/**
 * Restores the edge's state at startup, and after a time without orders: revoked tokens first, then hosts, tiers and access
 * windows. Retries until the control plane has answered both, because an edge without state must not refuse visitors or agents.
 */
import { cursorIn, maxPage } from "@catenet/domain/api/Page"
import { type Authorisation, EdgeId } from "@catenet/domain/edges/EdgeNode"
import { optionsOf } from "@catenet/domain/edges/TunnelOptions"
import { Effect, Redacted, Schedule } from "effect"
import { HttpClientError } from "effect/http"
import { type ControlPlaneClient, statusOf } from "../control/ControlPlane.ts"
import { Routes } from "../routes/Routes.ts"
import { Settings } from "../settings/Settings.ts"
import { Orders, type Restored } from "./Orders.ts"

const retry = Schedule.min([Schedule.exponential("250 millis"), Schedule.spaced("5 seconds")]).pipe(Schedule.jittered)

/** Why a call failed; for a network error, the system's message. */
const why = (error: Error) =>
  HttpClientError.isHttpClientError(error) && "cause" in error.reason && error.reason.cause instanceof Error
    ? error.reason.cause.message
    : error.message

/** In pages, so that neither side is blocked for long. */
const authorizationsOf = Effect.fn("Rehydrate.authorizationsOf")(function* (
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
    for (const authorization of page) all.push(authorization)
    cursor = cursorIn(headers["link"])
  } while (cursor !== undefined)
  return all
})

/** In pages too, if the control plane supports them. */
const revokedTokens = Effect.fn("Rehydrate.revokedTokens")(function* (controlPlane: ControlPlaneClient) {
  const all: Array<string> = []
  let cursor: string | undefined
  do {
    const query = { limit: maxPage, ...(cursor === undefined ? {} : { cursor }) }
    const [page, { headers }] = yield* controlPlane.revokedTokens({ query, responseMode: "decoded-and-response" })
    for (const token of page.tokens) all.push(Redacted.value(token))
    cursor = cursorIn(headers["link"])
  } while (cursor !== undefined)
  return all
})

/**
 * Fetches everything before it changes anything, so that a failure leaves no partial state. Also drops what is no longer there,
 * and lifts restrictions that are gone.
 */
const once = Effect.fn("Rehydrate.once")(function* (controlPlane: ControlPlaneClient, when: When) {
  const { edgeId, requireHostAuth } = yield* Settings
  const orders = yield* Orders
  const routes = yield* Routes
  const apply = Effect.fnUntraced(function* (restored: Restored) {
    const revoked = yield* revokedTokens(controlPlane)
    const authorizations = yield* authorizationsOf(controlPlane, edgeId)
    for (const token of revoked) yield* restored.revoke(token)
    for (const authorization of authorizations) {
      const { admission_until, agent_keys, agent_proof, hostname, owner_account, port } = authorization
      const { policy, records_name, require_login, rules, tier, token } = authorization
      const plain = Redacted.value(token)
      if (records_name !== null) yield* orders.setRecords(plain, records_name)
      yield* restored.setOptions(plain, optionsOf(authorization))
      if (rules.length > 0 || routes.rules(plain) !== undefined) yield* restored.setRules(plain, rules)
      if (require_login || routes.requiresLogin(plain)) yield* restored.setLogin(plain, require_login)
      if (hostname !== null) {
        const account = owner_account ?? undefined
        yield* restored.authorize(hostname, { token: plain, tier, admissionUntil: admission_until, account })
      }
      if (port !== null) yield* restored.setPort(plain, port)
      yield* restored.setAgentKeys(plain, agent_keys, agent_proof)
      if (policy !== null || routes.policy(plain) !== null) yield* restored.setPolicy(plain, policy)
    }
    if (when === "while it serves" && requireHostAuth) {
      const known = new Set<string>(authorizations.map(({ token }) => Redacted.value(token)))
      const gone = routes.dump().filter(({ hostname, token }) => !known.has(token) && !restored.isNewer(hostname))
      for (const { token } of gone) yield* restored.revoke(token)
    }
    yield* Effect.logInfo("state restored from the control plane").pipe(
      Effect.annotateLogs({ revoked: revoked.length, authorizations: authorizations.length })
    )
  })
  yield* orders.restoring(apply)
})

type When = "at the start" | "while it serves"

/** Succeeds when the state has been restored, however long that takes. */
export const rehydrate = (controlPlane: ControlPlaneClient, when: When) =>
  once(controlPlane, when).pipe(
    Effect.tapError((error) =>
      statusOf(error) === 401
        ? Effect.logError(
            "the control plane refuses CT_EDGE_ADMIN_TOKEN; start it with the token that it has as CT_CP_EDGE_ADMIN_TOKEN"
          )
        : Effect.logWarning(
            when === "at the start"
              ? "the control plane has not answered yet; no visitor is let in before"
              : "the control plane has not answered yet; what it ordered meanwhile is not known here"
          ).pipe(Effect.annotateLogs({ reason: why(error) }))
    ),
    Effect.retry(retry),
    Effect.orDie
  )
