/** The Ed25519 seeds that the edge keeps beside its published root, each made once and readable by its owner only. */
import type { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Entropy } from "@catenet/platform/Entropy"
import { Effect, Path, Redacted } from "effect"
import { Settings } from "../settings/Settings.ts"
import * as DurableFile from "./DurableFile.ts"

const seedBytes = 32

/** What a file has to be, as the end of a sentence. */
export const shape = `a key of ${seedBytes} bytes`

/** Reads the file of this name, or makes it. `damaged` tells of one that does not have the {@link shape}. */
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
