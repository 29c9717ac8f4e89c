/** `topology-proof`: the holder key's signature with which an account places this agent in a topology. It asks no network. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as PlacementProof from "@catenet/crypto/PlacementProof"
import { TopologyId } from "@catenet/domain/values/Ids"
import { Subject } from "@catenet/domain/values/Subject"
import { Effect, Redacted, Result, Schema } from "effect"
import { ConfigurationInvalid } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import * as Environment from "../settings/Environment.ts"
import { privateKey, text } from "../settings/Parse.ts"
import type { Raw, Variable } from "../settings/Variables.ts"
import { Screen } from "../terminal/Screen.ts"

/** The variable as this schema reads it. */
const read = <A>(raw: Raw, name: Variable, schema: Schema.Codec<A, string>, what: string) => {
  const decoded = Schema.decodeUnknownResult(schema)(text(raw, name) ?? "")
  return Result.mapError(decoded, () => `${name} is not ${what}.`)
}

export const topologyProof = Effect.gen(function* () {
  const screen = yield* Screen
  const raw = yield* Environment.read(yield* configFile)
  const seed = privateKey(raw, "CT_CHANNEL_HOLDER_KEY")
  const topology = read(raw, "CT_TOPOLOGY_ID", TopologyId, "the id of a topology: 32 hex characters")
  const account = read(raw, "CT_TOPOLOGY_ACCOUNT", Subject, "the subject of an account")
  const all: ReadonlyArray<Result.Result<unknown, string>> = [seed, topology, account]
  const problems = all.flatMap((each) => (Result.isFailure(each) ? [each.failure] : []))
  if (Result.isFailure(seed) || Result.isFailure(topology) || Result.isFailure(account))
    return yield* new ConfigurationInvalid({ problems })
  const place = { topologyId: topology.success, subject: account.success }
  const agent = Hex.encode(native.ed25519.publicKey(Redacted.value(seed.success)))
  const proof = Hex.encode(PlacementProof.sign(native, seed.success, place))
  if (screen.json) return screen.result(JSON.stringify({ agent, proof }))
  screen.result(`agent = ${agent}`)
  screen.result(`proof = ${proof}`)
}).pipe(Effect.provide(NodeFileSystem.layer))
