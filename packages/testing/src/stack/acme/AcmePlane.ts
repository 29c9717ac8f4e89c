/** The control plane as an agent that orders a certificate sees it, for one name: what it answers, and what it heard. */
import * as AgentRequest from "@catenet/crypto/AgentRequest"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { IssuanceProgress } from "@catenet/domain/certificates/CertificateStanding"
import { Effect, Schema } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"

export const hostname = "app.zone.test"
export const token = "ab".repeat(32)

const readProgress = Schema.decodeUnknownSync(IssuanceProgress)

/** A refusal as the control plane writes it. */
export interface Refusal {
  readonly status: number
  readonly code: string
  readonly facts?: Readonly<Record<string, unknown>>
}

const document = ({ code, facts, status }: Refusal) => ({
  type: `urn:catenet:problem:${code.replace(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase()}`,
  title: code,
  status,
  detail: `${code} it is.`,
  code,
  ...facts
})

export interface Plane {
  status: "rot" | "gelb" | "gruen"
  mayIssue: boolean
  /** Does not answer whether a certificate may be ordered. */
  away: boolean
  /** The authority that is assigned. */
  ca: string
  directory: string
  /** When an authority was given back. */
  onFailure: (() => void) | undefined
  binding: { readonly kid: string; readonly hmac: string } | undefined
  completes: number
  /** Answers the next completion calls with this status. */
  completeStatus: number
  readonly failures: Array<unknown>
  /** What agents said that they do. */
  readonly steps: Array<IssuanceProgress>
  /** The key that calls have to prove, as hex; without it the routing token is enough. */
  key: string | undefined
  /** Why the proof of each call was refused, undefined where it was not. */
  readonly refused: Array<string | undefined>
  /** Another agent of the tunnel is in an order. */
  isOthersTurn: boolean
  /** What its clock says, where that is not the truth. */
  date: number | undefined
  /** What it says of the name instead of its admission. */
  refuses: Refusal | undefined
  /** Instead of an answer to the completion call. */
  onComplete: (() => void) | undefined
  /** Publishes a value in DNS, and takes it away again without one; without it there is no broker. */
  dns: ((value: string | undefined) => Promise<Refusal | undefined>) | undefined
}

const admissionOf = (plane: Plane) => ({
  status: plane.status,
  may_issue_now: plane.mayIssue,
  assigned_ca: plane.mayIssue
    ? {
        name: plane.ca,
        directory_url: plane.directory,
        requires_eab: plane.binding !== undefined,
        eab_kid: plane.binding?.kid ?? null,
        eab_hmac_key_b64url: plane.binding?.hmac ?? null
      }
    : null,
  claim_deadline: null
})

const standingOf = (plane: Plane) => ({
  status: plane.status,
  place: null,
  held_back: null,
  claim_deadline: null,
  queues_again_at: null,
  step: plane.isOthersTurn ? "ordering" : null,
  step_since: null,
  failure: null
})

/** Why the proof of a call is refused, as the control plane refuses it. */
const refusalOf = (plane: Plane, now: number, method: string, path: string, value: string, body: Uint8Array) => {
  const proof = AgentRequest.read(value)
  if (proof === undefined) return "missing"
  if (Hex.encode(proof.key) !== plane.key) return "not-enrolled"
  if (Math.abs((plane.date ?? now) / 1000 - Number(proof.issuedAt)) > 120) return "stale"
  return AgentRequest.verify(native, { method, path, body }, proof) ? undefined : "invalid"
}

export const start = (directory: string, now: () => number) =>
  Effect.gen(function* () {
    const plane: Plane = {
      status: "gelb",
      mayIssue: true,
      away: false,
      ca: "stage",
      directory,
      onFailure: undefined,
      binding: undefined,
      completes: 0,
      completeStatus: 200,
      failures: [],
      steps: [],
      key: undefined,
      refused: [],
      isOthersTurn: false,
      date: undefined,
      refuses: undefined,
      onComplete: undefined,
      dns: undefined
    }
    const server = createServer(async (request, response) => {
      if (plane.away && request.method === "GET") return void response.destroy()
      const send = (status: number, body?: unknown) =>
        response
          .setHeader("date", new Date(plane.date ?? now()).toUTCString())
          .writeHead(status, body === undefined ? {} : { "content-type": "application/json" })
          .end(body === undefined ? undefined : JSON.stringify(body))
      const { method = "" } = request
      // The wildcard over the name stands as the name does.
      const url = (request.url ?? "").replace("/*.", "/")
      const refuse = (refusal: Refusal) =>
        response
          .setHeader("date", new Date(plane.date ?? now()).toUTCString())
          .writeHead(refusal.status, { "content-type": "application/problem+json" })
          .end(JSON.stringify(document(refusal)))
      const sent = await buffer(request)
      if (plane.key !== undefined) {
        const reason = refusalOf(plane, now(), method, url, String(request.headers[AgentRequest.header] ?? ""), sent)
        plane.refused.push(reason)
        if (reason !== undefined) return refuse({ status: 403, code: "AgentProofRequired", facts: { reason } })
      }
      if (method === "GET" && url === `/agent/acme-admission/${token}/${hostname}`)
        return plane.refuses === undefined ? send(200, admissionOf(plane)) : refuse(plane.refuses)
      if (method === "POST" && url === `/agent/acme-issuance-complete/${token}/${hostname}`) {
        if (plane.onComplete !== undefined) return plane.onComplete()
        if (plane.completeStatus !== 200) return send(plane.completeStatus)
        plane.completes++
        plane.status = "gruen"
        return send(200)
      }
      if (method === "GET" && url === `/agent/acme-standing/${token}/${hostname}`) return send(200, standingOf(plane))
      const posted = async () => {
        const body = JSON.parse(sent.toString())
        if (url === `/agent/acme-standing/${token}/${hostname}`) {
          plane.steps.push(readProgress(body))
          return send(200, { yours: !plane.isOthersTurn })
        }
        if (url === `/agent/acme-issuance-failed/${token}/${hostname}`) {
          plane.failures.push(body)
          plane.onFailure?.()
          return send(200, admissionOf(plane))
        }
        if (plane.dns === undefined || !url.startsWith("/agent/dns01-challenge"))
          return refuse({ status: 404, code: "RouteNotFound" })
        const refusal = await plane.dns(url.endsWith("/clear") ? undefined : body.value)
        return refusal === undefined ? send(200) : refuse(refusal)
      }
      return method === "POST" ? void posted() : refuse({ status: 404, code: "RouteNotFound" })
    })
    yield* Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
    yield* Effect.addFinalizer(() => Effect.sync(() => (server.closeAllConnections(), server.close())))
    return { plane, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  })
