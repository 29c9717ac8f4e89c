/** `channel member-material` and `channel join-pipeline-role`: the data that a member presents to join. */
import * as ChannelIds from "@catenet/crypto/ChannelIds"
import * as ClaimProof from "@catenet/crypto/ClaimProof"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as NoiseAttestation from "@catenet/crypto/NoiseAttestation"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Option, Redacted } from "effect"
import { configFile } from "../Flags.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as PublishedPipeline from "../pipeline/PublishedPipeline.ts"
import * as ChannelOwnerVariables from "../settings/ChannelOwnerVariables.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import * as KeyValueOutput from "../terminal/Screen.ts"
import { Screen } from "../terminal/Screen.ts"

const width = 17

/** The holder's own lines, for the channel. With an account they say that it is the holder's. */
const materialOf = (
  holderKey: Redacted.Redacted<Uint8Array>,
  noiseKey: Uint8Array,
  channel: Uint8Array,
  account: Option.Option<string>
): KeyValueOutput.KeyValueOutput => [
  ["holder_pubkey", Hex.encode(native.ed25519.publicKey(Redacted.value(holderKey)))],
  ["noise_pubkey", Hex.encode(noiseKey)],
  ["channel_id", Hex.encode(channel)],
  ["noise_attestation", Hex.encode(NoiseAttestation.sign(native, holderKey, { channel, noiseKey }))],
  ...Option.match(account, {
    onNone: () => [],
    onSome: (subject) => [
      ["account_proof", Hex.encode(ClaimProof.sign(native, holderKey, { channel, subject }))] as const
    ]
  })
]

/** Of both commands. */
interface Options {
  /** The subject of the account that is going to claim the membership. */
  readonly account: Option.Option<string>
}

export const memberMaterial = Effect.fnUntraced(function* ({ account }: Options) {
  const screen = yield* Screen
  const { bridgeHolder, holderKey, noisePubkey, operatorPubkey } = yield* EnvironmentFile.read(
    yield* configFile,
    ChannelOwnerVariables.memberMaterial
  )
  const own = native.ed25519.publicKey(Redacted.value(holderKey))
  if (Hex.encode(own) === Hex.encode(bridgeHolder))
    return yield* ConfigurationInvalid.of(
      "CT_CHANNEL_BRIDGE_HOLDER",
      "is this member's own key",
      "set it to the public holder key of the other member"
    )
  const channel = ChannelIds.link(native, operatorPubkey, own, bridgeHolder)
  KeyValueOutput.print(screen, materialOf(holderKey, noisePubkey, channel, account), width)
}, Effect.provide(NodeFileSystem.layer))

export const joinPipelineRole = Effect.fnUntraced(
  function* ({ account }: Options) {
    const screen = yield* Screen
    const { controlPlane, holderKey, noisePubkey, operatorPubkey, pipelineId, pipelineRole } =
      yield* EnvironmentFile.read(yield* configFile, ChannelOwnerVariables.joinPipelineRole)
    const operator = operatorPubkey ?? (yield* PublishedPipeline.operatorOf(controlPlane, pipelineId))
    const channel = ChannelIds.pipelineRole(native, operator, pipelineId, pipelineRole)
    const facts: KeyValueOutput.KeyValueOutput = [
      ["pipeline_id", pipelineId],
      ["role", pipelineRole],
      ...materialOf(holderKey, noisePubkey, channel, account)
    ]
    KeyValueOutput.print(screen, facts, width)
  },
  Effect.provide([NodeFileSystem.layer, OutgoingHttp.layer])
)
