/**
 * `GET /portal/events?tunnels=ID,ID`: the states of an account's tunnels as they change, as server-sent events. With
 * `?topology=ID` the page of an editor learns that the topology was changed, and `/net/:net_uuid/events` is the same for the
 * public page, without a session.
 */
import { Caller } from "@catenet/domain/api/Access"
import type { CertificateStanding } from "@catenet/domain/certificates/CertificateStanding"
import { TunnelId } from "@catenet/domain/values/Ids"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import type { ExtraRoutes } from "../../http/AllowedMethods.ts"
import type { BrowserRefusal } from "../../http/BrowserRefusal.ts"
import { EmailDomains } from "../../identity/EmailDomains.ts"
import { kindOf, sentenceOf } from "../pages/AgentState.ts"
import * as CertificateState from "../pages/tunnel/CertificateState.ts"
import * as Visits from "../shell/Visits.ts"
import * as TopologyEvents from "./TopologyEvents.ts"
import * as TunnelStates from "./TunnelStates.ts"

export const addresses: ExtraRoutes = [
  ["GET", "/portal/events"],
  ["GET", "/net/:net_uuid/events"]
]

const isTunnelId = Schema.is(TunnelId)

/** Of a server that stops, no stream goes on: a stop waits for running requests. */
const isStopping = (request: Visits.Visit["request"]) => {
  const { socket } = NodeHttpServerRequest.toIncomingMessage(request)
  const server: unknown = Reflect.get(socket, "server")
  return () =>
    socket.destroyed || (typeof server === "object" && server !== null && Reflect.get(server, "listening") === false)
}

const queryOf = ({ url }: Visits.Visit["request"]) => new URL(url, "http://localhost").searchParams

const empty = (status: number) => HttpServerResponse.empty({ status })

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { visit } = yield* Visits.make
    const domains = yield* EmailDomains
    const states = yield* TunnelStates.make

    const topologies = yield* TopologyEvents.make

    const events = Effect.gen(function* () {
      const self = yield* visit
      const { reader, request, token } = self
      // A redirect to the provider would be followed by the browser; a stream that is refused is not asked for again.
      if (reader.signedIn === undefined) return empty(401)
      const { email, subject } = reader.signedIn
      const session = Redacted.value(token)
      if (!states.hasRoom(session)) return HttpServerResponse.setHeader(empty(429), "retry-after", "60")
      if (request.method === "HEAD") return empty(204)
      const query = queryOf(request)
      const topology = query.get("topology")
      if (topology !== null) {
        const asked = { topology, isGone: isStopping(request) }
        return yield* topologies
          .ofEditor(self, query.get("seen"), asked)
          .pipe(Effect.catch(({ status }) => Effect.succeed(empty(status))))
      }
      const ids = (query.get("tunnels") ?? "").split(",", TunnelStates.maxTunnels).filter(isTunnelId)
      const caller = Caller.of({ subject, email, means: "session" })
      return yield* domains.require({ subject, email, client: undefined }).pipe(
        Effect.andThen(
          states.follow(caller, ids, {
            session,
            isGone: isStopping(request),
            // A page whose panel is of another version reads it again.
            ...(query.get("certificate") === null
              ? {}
              : {
                  certificate: (standing: CertificateStanding) =>
                    `event: certificate\ndata: ${CertificateState.versionOf(reader.texts, standing)}\n\n`
                }),
            write: (id, reach) =>
              `event: state\ndata: ${JSON.stringify({ id, state: kindOf(reach), text: sentenceOf(reader.texts, reach) })}\n\n`
          })
        ),
        Effect.map((stream) =>
          HttpServerResponse.stream(stream, {
            contentType: "text/event-stream",
            headers: { connection: "close", "x-accel-buffering": "no" }
          })
        ),
        Effect.catch(({ status }) => Effect.succeed(empty(status)))
      )
    })
    yield* router.add("GET", "/portal/events", events)

    const network = Effect.gen(function* () {
      const self = yield* visit
      const { request } = self
      if (request.method === "HEAD") return empty(204)
      const { net_uuid: topology = "" } = yield* HttpRouter.params
      const asked = { topology, isGone: isStopping(request) }
      return yield* topologies.ofNetwork(self, queryOf(request).get("seen"), asked)
    }).pipe(Effect.catch(({ status }: BrowserRefusal) => Effect.succeed(empty(status))))
    yield* router.add("GET", "/net/:net_uuid/events", network)
  })
)
