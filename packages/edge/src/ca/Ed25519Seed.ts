/** The Ed25519 seeds of the edge, in the folder of its published root; each is generated once and readable only by its owner. */
import type { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Entropy } from "@catenet/platform/Entropy"
import { Effect, Path, Redacted } from "effect"
import { Settings } from "../settings/Settings.ts"
import * as DurableFile from "./DurableFile.ts"

const seedBytes = 32

/** What the file must be, as the end of a sentence. */
export const shape = `a key of ${seedBytes} bytes`

/** Reads the file of this name, or creates it. `damaged` is called if it does not have the {@link shape}. */
export const load = Effect.fn("Ed25519Seed.load")(function* (
  name: string,
  damaged: (file: string) => ConfigurationInvalid
) {
  const { certOut } = yield* Settings
  const path = yield* Path.Path
  const file = path.join(path.dirname(certOut), name)
  const seed = yield* DurableFile.readOrCreateSecret(file, () => Entropy.randomBytes(seedBytes))
  return seed.length === seedBytes ? Redacted.make(seed) : yield* damaged(file)
})
