/** Edge servers as the control plane knows them: who lives, with which key, and what each has to restore. */
import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
import { native } from "@catenet/crypto/native"
import {
  EdgeUnknown,
  HeartbeatProofIncomplete,
  HeartbeatRefused,
  LookupAmbiguous,
  NoLiveEdge
} from "@catenet/domain/edges/EdgeErrors"
import {
  type AgentPresence,
  type Authorisation,
  type Heartbeat,
  type ReportedEdge,
  ServingEdges
} from "@catenet/domain/edges/EdgeNode"
import { type PortName, publicPort } from "@catenet/domain/edges/PublicPort"
import { audit } from "@catenet/domain/values/AuditEffect"
import type { Hostname } from "@catenet/domain/values/Hostname"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Option, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { paged, type Page } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { bytesOf } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { liveSeconds, EdgeAddressStore } from "./EdgeAddressStore.ts"
import { EdgeFacts } from "./EdgeFacts.ts"
import { EdgeStore, Place } from "./EdgeStore.ts"
import { LiveEdges } from "./LiveEdges.ts"
import { PresenceStore } from "./PresenceStore.ts"

const proves = ({ id, peer_addr, pubkey, signature }: Heartbeat) =>
  pubkey !== undefined &&
  signature !== undefined &&
  EdgeHeartbeat.verify(native, bytesOf(pubkey), { id, peerAddress: peer_addr }, bytesOf(signature))

/** The key of the edge signs where orders go: another address would get the orders of all tunnels. */
const provesAddress = ({ admin_signature, admin_url, id, pubkey }: Heartbeat) =>
  admin_url === undefined ||
  (pubkey !== undefined &&
    admin_signature !== undefined &&
    EdgeHeartbeat.verifyAdmin(native, bytesOf(pubkey), { id, adminUrl: admin_url }, bytesOf(admin_signature)))

const isWhole = ({ admin_signature, admin_url, pubkey, signature }: Heartbeat) =>
  (pubkey === undefined) === (signature === undefined) &&
  (admin_url === undefined) === (admin_signature === undefined) &&
  (admin_url === undefined || pubkey !== undefined)

/** One of the three. */
interface Tunnel {
  readonly token?: RoutingToken
  readonly host?: Hostname
  readonly port?: PortName
}

/** Where a tunnel is served: what edges report goes first. */
const makeServing = Effect.gen(function* () {
  const store = yield* EdgeStore
  const presence = yield* PresenceStore
  const facts = yield* EdgeFacts

  const servingAt = Effect.fnUntraced(function* (port: PortName, liveSince: number) {
    const tunnel = yield* store.tokenAt(publicPort(port))
    if (Option.isNone(tunnel)) return []
    const { token } = tunnel.value
    const reported = yield* presence.edgesOf({ token, host: null, liveSince })
    if (reported.length > 0) return reported
    return Option.toArray(yield* store.oneOf({ ids: yield* facts.connectedAt(token), liveSince }))
  })

  const serving = Effect.fnUntraced(function* ({ host, token }: Omit<Tunnel, "port">, liveSince: number) {
    const asked = { token: token ?? null, host: host ?? null, liveSince }
    const reported = yield* presence.edgesOf(asked)
    return reported.length > 0 ? reported : Option.toArray(yield* store.ownerOf(asked))
  })

  return { serving, servingAt }
})

export class Edges extends Context.Service<
  Edges,
  {
    /**
     * Records that an edge lives and answers the epoch that it is in, to an edge that asks for one. A key, once presented,
     * is needed from then on. The address in the settings of this process goes before what the edge says.
     */
    readonly heartbeat: (
      heartbeat: Heartbeat
    ) => Effect.Effect<string | undefined, HeartbeatProofIncomplete | HeartbeatRefused>
    readonly list: (
      page: Page
    ) => Effect.Effect<ReadonlyArray<ReportedEdge>, never, HttpServerRequest.HttpServerRequest>
    /** Removes the pinned key; the next one presented is pinned. */
    readonly rebind: (id: string) => Effect.Effect<void, EdgeUnknown>
    /** Takes what an edge reports of the agents at it. */
    readonly report: (presence: AgentPresence) => Effect.Effect<void, EdgeUnknown>
    /**
     * Live edges that have an agent of a tunnel, named by its token, one of its hostnames or its public port. Where none reports one,
     * the own edge of the hostname, and for a port an edge that is asked and has one.
     */
    readonly lookup: (tunnel: Tunnel) => Effect.Effect<ServingEdges, LookupAmbiguous | NoLiveEdge>
    /** Everything that any edge restores before it opens its public listener, in plain, as it is answered. */
    readonly rehydrate: (
      page: Page
    ) => Effect.Effect<ReadonlyArray<typeof Authorisation.Encoded>, never, HttpServerRequest.HttpServerRequest>
    /** Tokens that no edge may serve again, in plain as well. */
    readonly revokedTokens: (
      page: Page
    ) => Effect.Effect<ReadonlyArray<string>, never, HttpServerRequest.HttpServerRequest>
    /** Deletes revocations that protect nothing any more. */
    readonly prune: Effect.Effect<void>
  }
>()("server/edges/Edges") {
  static readonly make = Effect.gen(function* () {
    const store = yield* EdgeStore
    const presence = yield* PresenceStore
    const addresses = yield* EdgeAddressStore
    const { home } = yield* LiveEdges
    const audits = yield* Audits
    const { serving, servingAt } = yield* makeServing

    return {
      heartbeat: Effect.fn("Edges.heartbeat")(function* (heartbeat: Heartbeat) {
        const { admin_url = null, id, peer_addr, ports, pubkey, rebuilt } = heartbeat
        if (!isWhole(heartbeat)) return yield* new HeartbeatProofIncomplete()
        if ((pubkey !== undefined && !proves(heartbeat)) || !provesAddress(heartbeat)) {
          return yield* new HeartbeatRefused()
        }
        const seenAt = yield* unixSeconds
        const recorded = yield* store.report({ id, peerAddr: peer_addr, pubkey: pubkey ?? null, seenAt })
        if (Option.isNone(recorded)) return yield* new HeartbeatRefused()
        yield* store.offer(id, ports)
        if (rebuilt === undefined) return undefined
        const url = home?.id === id ? home.url : admin_url
        const entered = yield* addresses.alive({ id, url, rebuilt, now: seenAt })
        return Option.getOrUndefined(entered)?.epoch
      }, sqlOrDie),

      list: Effect.fn("Edges.list")(function* (page: Page) {
        const liveSince = (yield* unixSeconds) - liveSeconds
        return yield* paged(
          page,
          Schema.String,
          (slice) => store.list({ ...slice, liveSince }),
          (edge) => edge.edge_id
        )
      }, Effect.orDie),

      rebind: Effect.fn("Edges.rebind")(function* (id: string) {
        const known = yield* Effect.orDie(store.unpin(id))
        if (known.length === 0) return yield* new EdgeUnknown()
        yield* audits.append(audit("edge_rebound", "operator", id))
      }),

      lookup: Effect.fn("Edges.lookup")(function* ({ host, port, token }: Tunnel) {
        if ([host, port, token].filter((name) => name !== undefined).length !== 1) return yield* new LookupAmbiguous()
        const liveSince = (yield* unixSeconds) - liveSeconds
        const tunnel = { ...(host === undefined ? {} : { host }), ...(token === undefined ? {} : { token }) }
        const [first, ...others] = yield* port === undefined ? serving(tunnel, liveSince) : servingAt(port, liveSince)
        if (first === undefined) return yield* new NoLiveEdge()
        return new ServingEdges({ ...first, ...(others.length === 0 ? {} : { others }) })
      }, sqlOrDie),

      report: Effect.fn("Edges.report")(function* (reported: AgentPresence) {
        if (!(yield* presence.report(reported))) return yield* new EdgeUnknown()
      }, sqlOrDie),

      rehydrate: Effect.fn("Edges.rehydrate")(function* (page: Page) {
        const entries = yield* paged(page, Place, store.knownTo, ({ bare, place }) => ({ bare, place }))
        return entries.map(({ bare: _bare, place: _place, ...known }) => known)
      }, Effect.orDie),

      revokedTokens: Effect.fn("Edges.revokedTokens")(function* (page: Page) {
        const rows = yield* paged(page, Schema.Int, store.revoked, ({ id }) => id)
        return rows.map(({ token }) => token)
      }, Effect.orDie),

      prune: Effect.asVoid(
        Effect.orDie(Effect.andThen(Effect.flatMap(unixSeconds, store.pruneRevoked), presence.prune))
      )
    }
  })

  static readonly layer = Layer.effect(Edges, Edges.make).pipe(
    Layer.provide([
      Audits.layer,
      EdgeAddressStore.layer,
      EdgeFacts.layer,
      LiveEdges.layer,
      EdgeStore.layer,
      PresenceStore.layer
    ])
  )
}
