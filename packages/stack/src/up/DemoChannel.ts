/**
 * The demo channel: two members of the demo user, one served by the stack, the other in a file for the user. Their keys
 * come from one secret of the stack, so every start makes the same channel.
 */
import * as ChannelIds from "@catenet/crypto/ChannelIds"
import * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as NoiseAttestation from "@catenet/crypto/NoiseAttestation"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { ChannelId, ChannelRegistration, MemberMaterial, NewGrant } from "@catenet/domain/channels/Channel"
import { Files } from "@catenet/platform/Files"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import { Clock, Effect, Redacted, Schema } from "effect"
import { HttpClient } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { createHmac } from "node:crypto"
import { demoHostname } from "./Demo.ts"
import { asDemoUser, type DemoFailed, failed } from "./DemoAccess.ts"
import * as Environments from "./Environments.ts"
import * as Programs from "./Programs.ts"
import type { Secrets } from "./Secrets.ts"
import type { UpSettings } from "./Settings.ts"
import type { StackFolder } from "./StackFolder.ts"
import * as TunnelFile from "./TunnelFile.ts"

const demoService = "text_generation"

/** Answers on one line, whatever comes on stdin. */
const handler = `printf 'Hello from the other end of the channel. You wrote: '; cat`

/** Grants are signed anew by every start. */
const grantSeconds = 366n * 86_400n

const identityOf = (secret: string) => {
  const seed = (label: string) => new Uint8Array(createHmac("sha256", secret).update(`demo channel, ${label}`).digest())
  const memberOf = (name: string) => {
    const holderKey = seed(`${name}, holder`)
    const noiseKey = seed(`${name}, Noise`)
    const holder = native.ed25519.publicKey(holderKey)
    return { holderKey, noiseKey, holder, noisePublicKey: native.x25519.publicKey(noiseKey) }
  }
  const operatorKey = seed("operator")
  const operator = native.ed25519.publicKey(operatorKey)
  const [server, caller] = [memberOf("server"), memberOf("caller")]
  return {
    operatorKey,
    operator,
    server,
    caller,
    channel: ChannelIds.link(native, operator, server.holder, caller.holder)
  }
}

type Identity = ReturnType<typeof identityOf>
type Member = Identity["server"]

const keyOf = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"))

const grantOf = (
  { channel, operatorKey }: Identity,
  holder: Uint8Array,
  direction: "accept" | "initiate",
  expiresAt: bigint
) => {
  const claims = { channel, holder, direction, rights: "rw", delegable: false, expiresAt } as const
  return Grant.toHex(Grant.sign(native, Redacted.make(operatorKey), claims))
}

const grantEnd = Effect.map(Clock.currentTimeMillis, (millis) => BigInt(toUnixSeconds(millis)) + grantSeconds)

const depositFrom = Schema.decodeSync(Schema.Struct({ channel_id: ChannelId, grant_hex: NewGrant }))
const registrationFrom = Schema.decodeSync(ChannelRegistration)
const materialFrom = Schema.decodeSync(MemberMaterial)

const register = Effect.fnUntraced(function* (settings: UpSettings, { caller, channel, operator, server }: Identity) {
  const httpClient = yield* HttpClient.HttpClient
  const baseUrl = Environments.url(settings.controlPlane)
  const channels = yield* HttpApiClient.group(ControlPlaneApi, { group: "channels", httpClient, baseUrl })
  const registration = registrationFrom({ channel: Hex.encode(channel), operator_pubkey: Hex.encode(operator) })
  yield* channels.register({ payload: registration })
  for (const { holder, holderKey, noisePublicKey } of [server, caller]) {
    const noiseAttestation = NoiseAttestation.sign(native, Redacted.make(holderKey), {
      channel,
      noiseKey: noisePublicKey
    })
    const payload = materialFrom({
      holder: Hex.encode(holder),
      noise_pubkey: Hex.encode(noisePublicKey),
      noise_attestation: Hex.encode(noiseAttestation)
    })
    yield* channels.addMember({ params: { channel: registration.channel }, payload })
  }
})

/** Lets this deployment call the bridge tools of the demo member, from the page of the demo tunnel. */
const openBridge = Effect.fnUntraced(function* (settings: UpSettings, identity: Identity, secrets: Secrets) {
  const httpClient = yield* HttpClient.HttpClient
  const at = { httpClient, baseUrl: Environments.url(settings.controlPlane) }
  const tunnels = yield* HttpApiClient.group(ControlPlaneApi, { ...at, group: "tunnels" })
  const bridge = yield* HttpApiClient.group(ControlPlaneApi, { ...at, group: "bridge" })
  const found = (yield* tunnels.list({ query: {} })).find(({ hostname }) => hostname === demoHostname)
  if (found === undefined) return
  const holder = native.ed25519.publicKey(keyOf(secrets.bridgeHolderKey))
  const payload = depositFrom({
    channel_id: Hex.encode(identity.channel),
    grant_hex: grantOf(identity, holder, "initiate", yield* grantEnd)
  })
  yield* bridge.storeGrant({ params: { id: found.id }, payload })
})

const environmentOf = (
  settings: UpSettings,
  folder: StackFolder,
  identity: Identity,
  { holder, holderKey, noiseKey }: Member,
  direction: "accept" | "initiate",
  expiresAt: bigint
) => {
  const frontDoor = Environments.address(settings.frontDoor)
  return {
    CT_CHANNEL_ROLE: direction,
    CT_CHANNEL_GRANT: grantOf(identity, holder, direction, expiresAt),
    CT_CHANNEL_HOLDER_KEY: Hex.encode(holderKey),
    CT_CHANNEL_NOISE_KEY: Hex.encode(noiseKey),
    CT_CHANNEL_BROKER: frontDoor,
    CT_CHANNEL_RELAY: frontDoor,
    CT_CHANNEL_RELAY_ONLY: "1",
    CT_CHANNEL_FRONT_DOOR: frontDoor,
    CT_CHANNEL_FRONT_DOOR_CERT: folder.edgeRoot,
    CT_CHANNEL_FRONT_DOOR_ONLY: "1"
  }
}

/**
 * Registers the channel on the first start, writes the file of the calling member, and returns the serving one. The file is written
 * last: as long as it is not there, a start registers the channel again, which changes nothing.
 */
export const prepare = Effect.fn("DemoChannel.prepare")(function* (
  settings: UpSettings,
  folder: StackFolder,
  secrets: Secrets,
  token: Effect.Effect<Redacted.Redacted, DemoFailed>
) {
  const identity = identityOf(secrets.demoChannelSecret)
  if (!Files.existsSync(folder.demoCaller)) {
    const bearer = yield* token
    yield* Effect.andThen(register(settings, identity), openBridge(settings, identity, secrets)).pipe(
      Effect.provide(asDemoUser(bearer)),
      Effect.mapError(failed("the demo channel cannot be registered"))
    )
  }
  const expiresAt = yield* grantEnd
  TunnelFile.write(folder.demoCaller, {
    ...environmentOf(settings, folder, identity, identity.caller, "initiate", expiresAt),
    CT_AGENT_STATE_DIR: folder.demoCallerState,
    CT_CHANNEL_CALL_SERVICE: demoService
  })
  return Programs.demoMember({
    ...environmentOf(settings, folder, identity, identity.server, "accept", expiresAt),
    CT_AGENT_STATE_DIR: folder.demoMemberState,
    CT_CHANNEL_SERVE: "1",
    CT_CHANNEL_BRIDGE_PEER: Hex.encode(native.x25519.publicKey(keyOf(secrets.bridgeNoiseKey))),
    CT_AGENT_SERVICES: demoService,
    CT_AGENT_SERVICE_HANDLER_CMD: handler
  })
})
