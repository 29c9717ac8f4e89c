/** `rotate`: generates a new origin key and capability; the old key is still accepted from the key folder. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { configFile } from "../Flags.ts"
import * as OriginKeys from "../mesh/OriginKeys.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import { standardCapability } from "../settings/Settings.ts"
import * as Variables from "../settings/Variables.ts"
import * as PrivateFile from "../state/PrivateFile.ts"

export const rotate = Effect.gen(function* () {
  const { capabilityOut, originKey, originKeyDir, stateDir } = yield* EnvironmentFile.read(
    yield* configFile,
    Variables.rotate
  )
  const capability = capabilityOut ?? (yield* PrivateFile.place(standardCapability, `${stateDir}/capability.bin`))
  const places = { originKey, originKeyDir, capability }
  const { retired } = yield* OriginKeys.rotate(places)
  yield* Effect.logInfo(
    `The old key is now ${retired}. Restart the agent, give clients the new ${places.capability}, and delete the old key ` +
      "when none of them uses the old capability any more."
  )
}).pipe(Effect.provide(NodeFileSystem.layer), Effect.provide(SecureRandom.layerWebCrypto))
