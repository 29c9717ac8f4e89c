/** `topology-proof`: signs with the holder key that an account may place this agent in a topology. Uses no network. */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as PlacementProof from "@catenet/crypto/PlacementProof"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Redacted } from "effect"
import { configFile } from "../Flags.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import * as Variables from "../settings/Variables.ts"
import { Screen } from "../terminal/Screen.ts"

export const topologyProof = Effect.gen(function* () {
  const screen = yield* Screen
  const { account, seed, topology } = yield* EnvironmentFile.read(yield* configFile, Variables.topologyProof)
  const agent = Hex.encode(native.ed25519.publicKey(Redacted.value(seed)))
  const proof = Hex.encode(PlacementProof.sign(native, seed, { topologyId: topology, subject: account }))
  if (screen.json) return screen.result(JSON.stringify({ agent, proof }))
  screen.result(`agent = ${agent}`)
  screen.result(`proof = ${proof}`)
}).pipe(Effect.provide(NodeFileSystem.layer))
