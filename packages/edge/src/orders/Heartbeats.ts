/**
 * Sends signed heartbeats to the control plane with the addresses for peers and for orders. The response names an epoch. If it is
 * another than the edge's, the control plane had taken the edge for dead and kept no orders for it, so the edge restores its whole
 * state. Heartbeats continue meanwhile.
 */
import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { EdgeId, epochHeader, Heartbeat, PeerAddress } from "@catenet/domain/edges/EdgeNode"
import { PublicKey, Signature } from "@catenet/domain/values/Keys"
import { retryForever } from "@catenet/platform/RetryForever"
import { Effect, Fiber, Queue, Redacted } from "effect"
import { ControlPlane, type ControlPlaneClient, statusOf } from "../control/ControlPlane.ts"
import { Settings } from "../settings/Settings.ts"
import { rehydrate } from "./Rehydrate.ts"

/** Pause after a rejected heartbeat. */
const retrySeconds = 3

const signed = Effect.fnUntraced(function* (seed: Redacted.Redacted<Uint8Array>) {
  const { adminUrl, edgeId, ports, publicAddress, udpPorts } = yield* Settings
  const hex = (bytes: Uint8Array) => Signature.make(Hex.encode(bytes))
  return {
    id: EdgeId.make(edgeId),
    peer_addr: PeerAddress.make(publicAddress),
    pubkey: PublicKey.make(Hex.encode(native.ed25519.publicKey(Redacted.value(seed)))),
    signature: hex(EdgeHeartbeat.sign(native, seed, { id: edgeId, peerAddress: publicAddress })),
    ...(ports === undefined && udpPorts === undefined ? {} : { ports: { tcp: ports ?? [], udp: udpPorts ?? [] } }),
    ...(adminUrl === undefined
      ? {}
      : { admin_url: adminUrl, admin_signature: hex(EdgeHeartbeat.signAdmin(native, seed, { id: edgeId, adminUrl })) })
  }
})

/**
 * `during` sends a heartbeat, then others for as long as the state is restored at startup, however long that takes: a silent edge
 * would be declared dead and have to begin again. `run` never ends; a failed heartbeat is logged, and the next one follows.
 * `entersEpoch` runs once the state of another epoch is restored.
 */
export const heartbeats = Effect.fn("Heartbeats.make")(function* (
  controlPlane: ControlPlaneClient,
  entersEpoch: Effect.Effect<void>
) {
  const { edgeId, heartbeatSeconds } = yield* Settings
  const { seed } = yield* ControlPlane
  if (seed === undefined) return { during: <A, E, R>(restored: Effect.Effect<A, E, R>) => restored, run: Effect.void }
  const standing = yield* signed(seed)
  /** The epoch whose state the edge has or is restoring. */
  let rebuilt: string | null = null
  const entered = yield* Queue.sliding<void>(1)
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

  const beat = Effect.gen(function* () {
    taken = true
    const epoch = yield* send
    if (epoch === undefined || epoch === rebuilt) return
    rebuilt = epoch
    Queue.offerUnsafe(entered, undefined)
  })
  const pause = Effect.suspend(() =>
    Effect.sleep(`${taken ? heartbeatSeconds : Math.min(heartbeatSeconds, retrySeconds)} seconds`)
  )
  const beats = Effect.forever(Effect.andThen(beat, pause)).pipe(retryForever("sending heartbeats"))
  const rebuilds = Effect.forever(
    Effect.all([Queue.take(entered), rehydrate(controlPlane, "while it serves"), entersEpoch], { discard: true })
  ).pipe(retryForever("restoring the state"))

  return {
    during: <A, E, R>(restored: Effect.Effect<A, E, R>) =>
      Effect.gen(function* () {
        yield* beat
        // This epoch is restored now; one that begins during that is restored after it.
        yield* Queue.clear(entered)
        const others = yield* Effect.forkChild(Effect.andThen(pause, beats))
        return yield* Effect.ensuring(restored, Fiber.interrupt(others))
      }),
    run: Effect.all([beats, rebuilds], { concurrency: 2, discard: true })
  }
})
