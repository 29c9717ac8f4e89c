/** Tells the control plane every 30 seconds that this edge lives and where peers reach it, signed with the edge's key. */
import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { EdgeId, Heartbeat, PeerAddress } from "@catenet/domain/EdgeNode"
import { PublicKey, Signature } from "@catenet/domain/Keys"
import { Effect, Redacted, Schedule } from "effect"
import { Settings } from "../Settings.ts"
import { ControlPlane, type ControlPlaneClient } from "./ControlPlane.ts"

const EVERY = "30 seconds"

/** Never ends; a heartbeat that fails is logged and the next one is sent all the same. */
export const heartbeats = Effect.fn("Heartbeats.run")(function* (controlPlane: ControlPlaneClient) {
  const { edgeId, publicAddress } = yield* Settings
  const { seed } = yield* ControlPlane
  if (seed === undefined) return
  const said = { id: edgeId, peerAddress: publicAddress }
  const payload = new Heartbeat({
    id: EdgeId.make(edgeId),
    peer_addr: PeerAddress.make(publicAddress),
    pubkey: PublicKey.make(Hex.encode(native.ed25519.publicKey(Redacted.value(seed)))),
    signature: Signature.make(Hex.encode(EdgeHeartbeat.sign(native, seed, said)))
  })
  yield* controlPlane.heartbeat({ payload }).pipe(
    Effect.catchTag("HeartbeatRefused", () =>
      Effect.logError("the control plane knows this edge id with another key").pipe(
        Effect.annotateLogs({ edge: edgeId, remedy: "restore edge-mesh-key.bin or rebind the edge id" })
      )
    ),
    Effect.catch((error) =>
      Effect.logWarning("heartbeat not delivered").pipe(Effect.annotateLogs({ reason: error.message }))
    ),
    Effect.repeat(Schedule.spaced(EVERY))
  )
})
