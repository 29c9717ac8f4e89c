/** `rotate`: a new origin key and capability; the old key stays served from the key folder. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { configFile } from "../Flags.ts"
import * as OriginKeys from "../mesh/OriginKeys.ts"
import * as Environment from "../settings/Environment.ts"
import { text } from "../settings/Parse.ts"
import { standardCapability, standardStateDir } from "../settings/Settings.ts"
import * as PrivateFile from "../state/PrivateFile.ts"

export const rotate = Effect.gen(function* () {
  const raw = yield* Environment.read(yield* configFile)
  const named = text(raw, "CT_AGENT_CAPABILITY_OUT")
  const substitute = `${text(raw, "CT_AGENT_STATE_DIR") ?? standardStateDir}/capability.bin`
  const places = {
    originKey: text(raw, "CT_AGENT_ORIGIN_KEY"),
    originKeyDir: text(raw, "CT_AGENT_ORIGIN_KEY_DIR"),
    capability: named ?? (yield* PrivateFile.place(standardCapability, substitute))
  }
  const { retired } = yield* OriginKeys.rotate(places)
  yield* Effect.logInfo(
    `The old key is now ${retired}. Restart the agent, give clients the new ${places.capability}, and delete the old key ` +
      "when none of them uses the old capability any more."
  )
}).pipe(Effect.provide(NodeFileSystem.layer), Effect.provide(SecureRandom.layerWebCrypto))
