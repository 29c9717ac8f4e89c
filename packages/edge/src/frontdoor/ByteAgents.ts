/**
 * The byte protocol of data-plane section 5: one TLS connection is one admission. Agents park as slots, mesh clients and
 * peer edges are handed on, anything else is dropped without a reply, which tells the peer to step down.
 */
import { normalHost } from "@catenet/wire/frames/HostName"
import type { Admission } from "@catenet/wire/frames/Role"
import { answerAdmission, EdgeSlot, readAdmission } from "@catenet/wire/transport/EdgeSlot"
import { Context, Effect, Layer, Result } from "effect"
import type { TLSSocket } from "node:tls"
import { AuditLog } from "../audit/AuditLog.ts"
import { HomeEdges } from "../channels/HomeEdges.ts"
import { closeGracefully } from "../listen/GracefulClose.ts"
import { MeshClients } from "../mesh/MeshClients.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { Admissions } from "../sessions/Admissions.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import type { SlotAgent } from "../sessions/Tunnel.ts"
import { UnnamedParks } from "../sessions/UnnamedParks.ts"
import { Settings } from "../settings/Settings.ts"
import { PeerVisitors } from "./PeerVisitors.ts"

type AgentAdmission = Extract<Admission, { readonly role: "A" | "K" | "B" | "L" | "F" }>

const closed = (socket: TLSSocket) => new Promise<void>((resolve) => void socket.once("close", () => resolve()))

export class ByteAgents extends Context.Service<
  ByteAgents,
  {
    readonly serve: (socket: TLSSocket) => Effect.Effect<void>
    /** Closes every parked slot; slots that carry a visitor are left alone. */
    readonly closeParked: () => void
    readonly parked: () => number
  }
>()("edge/frontdoor/ByteAgents") {
  static readonly make = Effect.gen(function* () {
    const { caps } = yield* Settings
    const admissions = yield* Admissions
    const agents = yield* AgentSessions
    const counters = yield* Counters
    const { report } = yield* ConnectionFaults
    const meshClients = yield* MeshClients
    const audit = yield* AuditLog
    const peerVisitors = yield* PeerVisitors
    const homeEdges = yield* HomeEdges
    const unnamed = yield* UnnamedParks
    const parked = new Set<EdgeSlot>()
    const perTunnel = Math.max(1, Math.ceil(caps.agentConnections / 4))
    let open = 0

    const park = Effect.fnUntraced(function* (socket: TLSSocket, admission: AgentAdmission) {
      const token = Buffer.from(admission.token).toString("hex")
      const given = "host" in admission ? admission.host : undefined
      const host = given === undefined ? undefined : (normalHost(given) ?? given)
      const refused = admissions.bytes(token, host)
      answerAdmission(socket, refused === undefined)
      if (refused !== undefined) {
        counters.registrationsRefused += 1
        closeGracefully(socket)
        yield* Effect.logDebug("agent refused").pipe(Effect.annotateLogs({ code: refused.code, host }))
        return
      }
      audit.note("tcp_fallback", socket, token)
      const slot = new EdgeSlot(socket, admission.role, { onFault: report })
      const agent: SlotAgent = { slot, host }
      parked.add(slot)
      // A tunnel's own agents take each other's place; none takes that of another tunnel.
      if ((agents.tunnel(token)?.parked ?? 0) >= perTunnel) agents.tunnel(token)?.closeOldestSlot()
      unnamed.settle(slot, [token], socket.remoteAddress)
      agents.park(token, agent)
      yield* Effect.promise(() => Promise.race([slot.lost, closed(socket)]))
      unnamed.remove(slot)
      parked.delete(slot)
      agents.unpark(token, agent)
    })

    const serve = Effect.fn("ByteAgents.serve")(function* (socket: TLSSocket) {
      open += 1
      socket.once("close", () => {
        open -= 1
      })
      const read = yield* Effect.promise(() =>
        readAdmission(socket, {
          acceptHead: ({ role }) => role === "C" || role === "M" || role === "H" || open <= caps.agentConnections
        })
      )
      if (Result.isFailure(read)) {
        if (read.failure.reason === "full") closeGracefully(socket)
        else socket.destroy()
        return
      }
      const admission = read.success
      if (admission.role === "C") return yield* meshClients.serve(socket)
      if (admission.role === "M") return yield* peerVisitors.serve(socket, admission)
      if (admission.role === "H") return yield* homeEdges.serve(socket, admission)
      yield* park(socket, admission)
    })

    return ByteAgents.of({
      serve,
      closeParked: () => {
        for (const slot of parked) slot.close()
      },
      parked: () => parked.size
    })
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(
    Layer.provide([
      Admissions.layer,
      AgentSessions.layer,
      Counters.layer,
      ConnectionFaults.layer,
      MeshClients.layer,
      PeerVisitors.layer,
      HomeEdges.layer,
      UnnamedParks.layer
    ])
  )
}
