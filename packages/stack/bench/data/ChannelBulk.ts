/** A long transfer from a member behind the relay to one in this process, in turns with the same through the mesh tunnel. */
import { youngCollector } from "@catenet/platform/BufferCollector"
import { makeChannel } from "@catenet/testing/agent/Member"
import { startControlPlane } from "@catenet/testing/edge/ControlPlane"
import { register } from "@catenet/testing/stack/channels/Registered"
import { Effect, Exit, Layer, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { X509Certificate } from "node:crypto"
import { AgentMetrics } from "../../../agent/src/observe/AgentMetrics.ts"
import { collectWith, passed } from "../../../wire/src/transport/BufferMemory.ts"
import { inTurns } from "../InTurns.ts"
import type { Row } from "../Report.ts"
import * as Closed from "./Closed.ts"
import { session } from "./MemberHere.ts"
import { multiplexed } from "./mesh.ts"
import { Relay } from "./Relay.ts"

const megabytes = 64
const bytes = megabytes * 1024 * 1024

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  // The reader stands for a `ct-agent`, which does so.
  collectWith(youngCollector())
  const life = await Effect.runPromise(Scope.make())
  const controlPlane = await Effect.runPromise(startControlPlane.pipe(Scope.provide(life)))
  const relay = await Relay.make({ CT_EDGE_CP_URL: controlPlane.url, CT_EDGE_POW_DIFFICULTY: "4" })
  try {
    const channel = makeChannel()
    const [reader, sender] = [channel.member("initiate"), channel.member("accept")]
    register({ controlPlane }, channel, reader, sender)
    const frontDoor = `127.0.0.1:${relay.ports.frontDoor}`
    relay.run(["channel"], {
      ...sender.env,
      CT_CHANNEL_BROKER: frontDoor,
      CT_CHANNEL_RELAY: frontDoor,
      CT_CHANNEL_RELAY_ONLY: "1",
      CT_CHANNEL_FRONT_DOOR: frontDoor,
      CT_CHANNEL_FRONT_DOOR_CERT: new X509Certificate(relay.meshRoot).raw.toString("hex"),
      CT_CHANNEL_FRONT_DOOR_ONLY: "1",
      CT_CHANNEL_SERVE: "1",
      CT_AGENT_STREAM_HANDLER_CMD: `head -c ${bytes} /dev/zero`,
      CT_AGENT_STATE_DIR: `${relay.folder}/sender`
    })
    const place = { frontDoor: relay.ports.frontDoor, meshRoot: relay.meshRoot }
    const layer = Layer.mergeAll(AgentMetrics.layer, SecureRandom.layerWebCrypto)
    const byChannel = async () => {
      const { stream } = await Effect.runPromise(Effect.provide(session(place, reader, "initiate"), layer))
      const from = performance.now()
      let seen = 0
      stream.end()
      for await (const chunk of stream) {
        const { length } = chunk as Buffer
        passed(length)
        seen += length
      }
      if (seen !== bytes) throw new Error(`${seen} of ${bytes} bytes came`)
      return megabytes / ((performance.now() - from) / 1000)
    }
    await byChannel()
    const aim = await multiplexed(relay)
    const byMesh = () => Closed.megabytesPerSecond(aim, 1, megabytes, "down")
    const { first, ratio } = await inTurns(byChannel, byMesh)
    return [{ name: "bulk through the relay", value: first, unit: "MB/s", ratio, against: "the mesh tunnel" }]
  } finally {
    collectWith(() => {})
    await relay.dispose()
    await Effect.runPromise(Scope.close(life, Exit.void))
  }
}
