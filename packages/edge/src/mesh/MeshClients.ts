/**
 * Mesh clients (role `C`, data-plane 4.2): a proof of work, a tunnel that an agent serves, a rate per tunnel, then a raw pipe to
 * the agent. On any error the connection is closed without an answer.
 */
import { native } from "@catenet/crypto/native"
import * as ProofOfWork from "@catenet/crypto/ProofOfWork"
import { Entropy } from "@catenet/platform/Entropy"
import { addressBlock } from "@catenet/platform/IpAddress"
import { TokenBuckets } from "@catenet/platform/TokenBuckets"
import { challengeClient } from "@catenet/wire/transport/MeshRendezvous"
import { Clock, Context, Effect, Layer, Result } from "effect"
import type { Duplex } from "node:stream"
import type { TLSSocket } from "node:tls"
import { AuditLog } from "../audit/AuditLog.ts"
import { Counters } from "../observe/Counters.ts"
import { Relays } from "../relay/Relays.ts"
import { Routes } from "../routes/Routes.ts"
import { AgentPlaces, limitsOf, type Place } from "../sessions/AgentPlaces.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { Settings } from "../settings/Settings.ts"

const nonceBytes = 16

export class MeshClients extends Context.Service<
  MeshClients,
  {
    /** Serves a connection, or a QUIC stream from an address, with role `C`. */
    readonly serve: {
      (socket: TLSSocket): Effect.Effect<void>
      (stream: Duplex, from: { readonly address: string }): Effect.Effect<void>
    }
  }
>()("edge/mesh/MeshClients") {
  static readonly make = Effect.gen(function* () {
    const { connections, proofOfWorkBits, rendezvousPerMinute, tunnelVisitors } = yield* Settings
    const routes = yield* Routes
    const agents = yield* AgentSessions
    const relays = yield* Relays
    const counters = yield* Counters
    const audit = yield* AuditLog
    /** At the tunnel's cap, the address with the most clients gives way. */
    const places = new AgentPlaces({
      ...limitsOf(connections),
      perTunnel: Math.ceil(tunnelVisitors / 2)
    })
    const rate = new TokenBuckets(rendezvousPerMinute)

    /** The tunnel that the client may use, or undefined. */
    const earned = Effect.fnUntraced(function* (socket: Duplex) {
      const challenge = { nonce: Entropy.randomBytes(nonceBytes), difficulty: proofOfWorkBits }
      const answer = yield* Effect.promise(() => challengeClient(socket, challenge))
      if (Result.isFailure(answer)) return undefined
      const { token: routingToken, solution } = answer.success
      // The proof of work covers the token that the client sent: a visitor token or a routing token.
      if (!ProofOfWork.solves(native, challenge, { solution, routingToken })) return undefined
      const token = agents.visited(Buffer.from(routingToken).toString("hex"))?.token
      if (token === undefined || routes.isRevoked(token)) return undefined
      return rate.take(token, yield* Clock.currentTimeMillis).allowed ? token : undefined
    })

    return MeshClients.of({
      serve: Effect.fn("MeshClients.serve")(
        function* (socket: Duplex, from?: { readonly address: string }) {
          const block = addressBlock(from?.address ?? (socket as TLSSocket).remoteAddress ?? "")
          const place: Place = { close: () => void socket.destroy() }
          places.enter(place, block)
          socket.once("close", () => places.remove(place))
          const token = yield* earned(socket)
          if (token === undefined) {
            counters.rendezvousRefused += 1
            return void socket.destroy()
          }
          if (socket.destroyed) return
          const account = routes.accountOf(token) ?? token
          if (!places.settle(place, { account, tunnel: `${token} ${block}`, goesLast: () => false }))
            return void socket.destroy()
          const agent = yield* agents.deliver(token, { _tag: "Mesh" }, { kind: "mesh", tls: "none" })
          counters.rendezvous += 1
          audit.note(from === undefined ? "tcp_client" : "quic_client", from ?? (socket as TLSSocket), token)
          yield* relays.run(agent, socket, "dataplane")
        },
        (served, socket) => Effect.catchTag(served, "TunnelOffline", () => Effect.sync(() => void socket.destroy()))
      )
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(
    Layer.provide([Routes.layer, AgentSessions.layer, Relays.layer, Counters.layer])
  )
}
