/**
 * Sends signed heartbeats to the control plane with the addresses for peers and for orders. The response names an epoch: if it is
 * not the edge's own, orders were not written for it for a while, and the whole state is restored.
 */
import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { EdgeId, epochHeader, Heartbeat, PeerAddress } from "@catenet/domain/edges/EdgeNode"
import { PublicKey, Signature } from "@catenet/domain/values/Keys"
import { retryForever } from "@catenet/platform/RetryForever"
import { Effect, Redacted } from "effect"
import { ControlPlane, type ControlPlaneClient, statusOf } from "../control/ControlPlane.ts"
import { Settings } from "../settings/Settings.ts"
import { rehydrate } from "./Rehydrate.ts"

/** Pause after a rejected heartbeat. */
const retrySeconds = 3

const signed = Effect.fnUntraced(function* (seed: Redacted.Redacted<Uint8Array>) {
  const { adminUrl, edgeId, ports, publicAddress } = yield* Settings
  const hex = (bytes: Uint8Array) => Signature.make(Hex.encode(bytes))
  return {
    id: EdgeId.make(edgeId),
    peer_addr: PeerAddress.make(publicAddress),
    pubkey: PublicKey.make(Hex.encode(native.ed25519.publicKey(Redacted.value(seed)))),
    signature: hex(EdgeHeartbeat.sign(native, seed, { id: edgeId, peerAddress: publicAddress })),
    ...(ports === undefined ? {} : { ports: { tcp: ports, udp: [] } }),
    ...(adminUrl === undefined
      ? {}
      : { admin_url: adminUrl, admin_signature: hex(EdgeHeartbeat.signAdmin(native, seed, { id: edgeId, adminUrl })) })
  }
})

/**
 * `first` is sent at startup, before the state is restored. `run` never ends; a failed heartbeat is logged, and the next one
 * follows.
 */
export const heartbeats = Effect.fn("Heartbeats.make")(function* (controlPlane: ControlPlaneClient) {
  const { edgeId, heartbeatSeconds } = yield* Settings
  const { seed } = yield* ControlPlane
  if (seed === undefined) return { first: Effect.void, run: Effect.void }
  const standing = yield* signed(seed)
  let rebuilt: string | null = null
  let taken = true

  /** The epoch, if the control plane names one. */
  const send = Effect.suspend(() =>
    controlPlane.heartbeat({ payload: new Heartbeat({ ...standing, rebuilt }), responseMode: "decoded-and-response" })
  ).pipe(
    Effect.map(([, { headers }]) => headers[epochHeader]),
    Effect.tapError(() => Effect.sync(() => void (taken = false))),
    Effect.catch((error) =>
      Effect.as(
        statusOf(error) === 403
          ? Effect.logError("the control plane knows this edge id with another key").pipe(
              Effect.annotateLogs({ edge: edgeId, remedy: "restore edge-mesh-key.bin or rebind the edge id" })
            )
          : Effect.logWarning("heartbeat not delivered").pipe(Effect.annotateLogs({ reason: error.message })),
        undefined
      )
    )
  )

  /** Whether the edge entered another epoch. It reports that epoch only after it has restored its state. */
  const entered = Effect.map(send, (epoch) => {
    if (epoch === undefined || epoch === rebuilt) return false
    rebuilt = epoch
    return true
  })

  const beat = Effect.gen(function* () {
    taken = true
    if (yield* entered) yield* rehydrate(controlPlane, "while it serves")
    yield* Effect.sleep(`${taken ? heartbeatSeconds : Math.min(heartbeatSeconds, retrySeconds)} seconds`)
  })
  return { first: Effect.asVoid(entered), run: Effect.forever(beat).pipe(retryForever("sending heartbeats")) }
})
