/** Tells the control plane every 30 seconds that this edge lives and where peers reach it, signed with the edge's key. */
import { randomBytes } from "node:crypto"
import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { EdgeId, Heartbeat, PeerAddress } from "@catenet/domain/EdgeNode"
import { PublicKey, Signature } from "@catenet/domain/Keys"
import { Effect, Path, Redacted, Schedule } from "effect"
import * as DurableFile from "../ca/DurableFile.ts"
import { Settings } from "../Settings.ts"
import type { ControlPlaneClient } from "./ControlPlane.ts"

const EVERY = "30 seconds"
const SEED_BYTES = 32

const loadSeed = Effect.fn("Heartbeats.loadSeed")(function* () {
  const { certOut } = yield* Settings
  const path = yield* Path.Path
  const file = path.join(path.dirname(certOut), "edge-mesh-key.bin")
  const seed = yield* DurableFile.readOrCreateSecret(file, () => randomBytes(SEED_BYTES))
  return seed.length === SEED_BYTES
    ? Redacted.make(seed)
    : yield* Effect.die(new Error(`${file} is not a key of ${SEED_BYTES} bytes; restore it or remove it`))
})

/** Never ends; a heartbeat that fails is logged and the next one is sent all the same. */
export const heartbeats = Effect.fn("Heartbeats.run")(function* (controlPlane: ControlPlaneClient) {
  const { edgeId, publicAddress } = yield* Settings
  const seed = yield* loadSeed()
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
