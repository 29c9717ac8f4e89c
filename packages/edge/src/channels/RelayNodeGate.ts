/**
 * The gate to a relay node (data-plane 8.4): members of channels reach the node through the edge's port, and nobody else does.
 * Their traffic with the node is not inspected.
 */
import * as Refusal from "@catenet/crypto/admission/Refusal"
import { encodeReply } from "@catenet/crypto/admission/RelayGate"
import type { Address } from "@catenet/platform/NetworkParser"
import { Sockets } from "@catenet/platform/Sockets"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { closeGracefully } from "@catenet/wire/transport/LingeringClose"
import { Context, Effect, Layer } from "effect"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { Settings } from "../settings/Settings.ts"
import { ChannelRoom } from "./ChannelRoom.ts"
import { MemberAdmissions } from "./MemberAdmissions.ts"
import type { MemberConnection } from "./MemberConnection.ts"

const connectLimit = "10 seconds"

export class RelayNodeGate extends Context.Service<
  RelayNodeGate,
  {
    /** Whether there is a relay node, and a control plane that knows the members. */
    readonly isServed: boolean
    /** Serves a connection of the gate. It is paused, and nothing of it has been read. */
    readonly serve: (stream: Duplex, carrier: MemberConnection) => Effect.Effect<void>
  }
>()("edge/channels/RelayNodeGate") {
  static readonly make = Effect.gen(function* () {
    const { relayNode } = yield* Settings
    const admissions = yield* MemberAdmissions
    const counters = yield* Counters
    const room = yield* ChannelRoom
    const { ending } = yield* ConnectionFaults

    const reach = (address: Address) =>
      Effect.callback<Socket | undefined>((resume) => {
        const node = Sockets.dialTcp({ ...address, allowHalfOpen: true, noDelay: true })
        guard(node, ending(node))
        node.on("error", () => resume(Effect.undefined))
        node.once("connect", () => resume(Effect.succeed(node)))
        return Effect.sync(() => node.destroy())
      }).pipe(Effect.timeoutOrElse({ duration: connectLimit, orElse: () => Effect.undefined }))

    return RelayNodeGate.of({
      isServed: relayNode !== undefined && admissions.isServed,
      serve: Effect.fn("RelayNodeGate.serve")(function* (stream, carrier) {
        if (relayNode === undefined) return void stream.destroy()
        const admitted = yield* admissions.admit(stream, carrier, "grant")
        if (admitted === undefined) return
        const node = yield* reach(relayNode.address)
        if (node === undefined) {
          counters.relayNodeUnreachable += 1
          stream.end(Refusal.encode(Refusal.unavailable))
          return closeGracefully(stream)
        }
        counters.relayGateSessions += 1
        node.pause()
        yield* room.relay(stream, node, admitted, encodeReply(relayNode.identity))
      })
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(
    Layer.provide([MemberAdmissions.layer, ChannelRoom.layer, Counters.layer, ConnectionFaults.layer])
  )
}
