/** `channel register`, `allowlist`, `members` and `claim-invite`: the calls of a channel's owner. */
import * as ChannelIds from "@catenet/crypto/ChannelIds"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as OperatorProof from "@catenet/crypto/OperatorProof"
import { Member } from "@catenet/domain/channels/Channel"
import { MintedClaimInvite } from "@catenet/domain/channels/ClaimInvite"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Option, Redacted, Schema } from "effect"
import * as AccountClient from "../account/AccountClient.ts"
import * as ControlPlaneSelection from "../account/ControlPlaneSelection.ts"
import { configFile } from "../Flags.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as ChannelOwnerVariables from "../settings/ChannelOwnerVariables.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import { printable } from "../terminal/Log.ts"
import { Screen } from "../terminal/Screen.ts"

interface Named {
  readonly channel: Uint8Array | undefined
  readonly grantChannel: Uint8Array | undefined
}

/** CT_CHANNEL_ID, else CT_GRANT_CHANNEL. */
const channelOf = Effect.fnUntraced(function* ({ channel, grantChannel }: Named) {
  const named = channel ?? grantChannel
  if (named === undefined)
    return yield* ConfigurationInvalid.of("CT_CHANNEL_ID", "is not set", "set it to the channel, 64 hex digits")
  return Hex.encode(named)
})

const services = Effect.provide([NodeFileSystem.layer, OutgoingHttp.layerForLists])

const owned = Effect.gen(function* () {
  const values = yield* EnvironmentFile.read(yield* configFile, ChannelOwnerVariables.ownedChannel)
  const channel = yield* channelOf(values)
  const account = yield* ControlPlaneSelection.of(values)
  return <A, I>(call: AccountClient.Call<A, I>) =>
    AccountClient.ask(account, { ...call, path: `/me/channels/${channel}/${call.path}` })
})

const rekeying =
  "If the channel is yours, ct-agent channel register --rekey replaces its operator's key; all grants of the old one end."

const Subject = Schema.Struct({ subject: Schema.String })

interface Derivation {
  readonly firstHolder: Uint8Array | undefined
  readonly secondHolder: Uint8Array | undefined
  readonly pipelineId: string | undefined
  readonly pipelineRole: string | undefined
}

/** What the channel's id is derived from, as far as the variables name it and it leads to this channel. */
const derivedFrom = (operator: Uint8Array, channel: string, from: Derivation) => {
  const { firstHolder, pipelineId, pipelineRole, secondHolder } = from
  const isChannel = (id: Uint8Array) => Hex.encode(id) === channel
  if (firstHolder !== undefined && secondHolder !== undefined)
    if (isChannel(ChannelIds.link(native, operator, firstHolder, secondHolder)))
      return { holders: [Hex.encode(firstHolder), Hex.encode(secondHolder)] }
  if (pipelineId !== undefined && pipelineRole !== undefined)
    if (isChannel(ChannelIds.pipelineRole(native, operator, pipelineId, pipelineRole)))
      return { pipeline: pipelineId, role: pipelineRole }
  return undefined
}

/**
 * A channel's id is known to everybody who knows the keys that it is derived from, and another account may have registered it. The
 * operator's signature for this account takes it over.
 */
const taken = Effect.fnUntraced(function* (
  account: AccountClient.Account,
  seed: Redacted.Redacted<Uint8Array>,
  body: { readonly channel: string; readonly operator_pubkey: string },
  from: Derivation
) {
  const { subject } = yield* AccountClient.ask(account, { method: "GET", path: "/me/account", answer: Subject })
  const derived_from = derivedFrom(native.ed25519.publicKey(Redacted.value(seed)), body.channel, from)
  const proof = { operator_proof: Hex.encode(OperatorProof.sign(native, seed, { subject })) }
  yield* AccountClient.ask(account, {
    method: "POST",
    path: "/me/channels",
    body: { ...body, ...proof, ...(derived_from === undefined ? {} : { derived_from }) },
    answer: Schema.Unknown
  })
  yield* Effect.logInfo("took the channel over from another account by the operator's signature")
})

const unproved =
  "If the channel belongs to your operator key, set CT_CHANNEL_OPERATOR_KEY, and CT_GRANT_MEMBER_HOLDER with " +
  "CT_CHANNEL_BRIDGE_HOLDER or CT_PIPELINE_ID with CT_PIPELINE_ROLE, from which its id is derived: the operator's " +
  "signature takes it over."

export const register = ({ rekey }: { readonly rekey: boolean }) =>
  Effect.gen(function* () {
    const { operatorKey, operatorPubkey, ...values } = yield* EnvironmentFile.read(
      yield* configFile,
      ChannelOwnerVariables.register
    )
    const channel = yield* channelOf(values)
    const key =
      operatorPubkey ?? (operatorKey === undefined ? undefined : native.ed25519.publicKey(Redacted.value(operatorKey)))
    if (key === undefined)
      return yield* ConfigurationInvalid.of(
        "CT_CHANNEL_OPERATOR_PUBKEY",
        "is not set",
        "set it, or CT_CHANNEL_OPERATOR_KEY, to the key of the channel's operator"
      )
    const body = { channel, operator_pubkey: Hex.encode(key), ...(rekey ? { confirm_rekey: true } : {}) }
    const account = yield* ControlPlaneSelection.of(values)
    const first = AccountClient.ask(account, {
      method: "POST",
      path: "/me/channels",
      body,
      answer: Schema.Unknown,
      advice: new Map([
        [403, unproved],
        [409, rekey ? "" : rekeying]
      ])
    })
    yield* Effect.catchTag(first, "Refused", (refused) =>
      operatorKey !== undefined &&
      (refused.status === 403 || refused.status === 409) &&
      Hex.encode(native.ed25519.publicKey(Redacted.value(operatorKey))) === body.operator_pubkey
        ? Effect.mapError(taken(account, operatorKey, body, values), () => refused)
        : Effect.fail(refused)
    )
    yield* Effect.logInfo("registered the channel")
  }).pipe(services)

export const allow = ({ email }: { readonly email: string }) =>
  Effect.gen(function* () {
    const ask = yield* owned
    yield* ask({ method: "POST", path: "allowlist", body: { email }, answer: Schema.Unknown })
    yield* Effect.logInfo(`${email} may claim a membership`)
  }).pipe(services)

export const disallow = ({ email }: { readonly email: string }) =>
  Effect.gen(function* () {
    const ask = yield* owned
    const path = `allowlist/${encodeURIComponent(email)}/remove`
    yield* ask({ method: "POST", path, answer: Schema.Unknown })
    yield* Effect.logInfo(`${email} may claim no membership any more`)
  }).pipe(services)

const Emails = Schema.Struct({ emails: Schema.Array(Schema.String) })

export const allowed = Effect.gen(function* () {
  const screen = yield* Screen
  const ask = yield* owned
  const { emails } = yield* ask({ method: "GET", path: "allowlist", answer: Emails })
  if (screen.json) return screen.result(JSON.stringify({ emails }))
  if (emails.length === 0) return yield* Effect.logInfo("the allow-list is empty")
  for (const email of emails) screen.result(printable(email))
}).pipe(services)

const Members = Schema.Struct({ members: Schema.Array(Member) })

export const members = Effect.gen(function* () {
  const screen = yield* Screen
  const ask = yield* owned
  const { members } = yield* ask({ method: "GET", path: "members", answer: Members })
  if (screen.json) return screen.result(JSON.stringify({ members }))
  if (members.length === 0) return yield* Effect.logInfo("the channel has no members yet")
  for (const { holder, noise_pubkey } of members) screen.result(`${holder}  ${noise_pubkey ?? "-"}`)
}).pipe(services)

/** As `channel member-material` prints it. */
export interface Material {
  readonly holder: string
  readonly noise: string
  readonly attestation: string
}

const bodyOf = ({ attestation, holder, noise }: Material) => ({
  holder,
  noise_pubkey: noise,
  noise_attestation: attestation
})

export const addMember = (material: Material) =>
  Effect.gen(function* () {
    const ask = yield* owned
    yield* ask({ method: "POST", path: "members", body: bodyOf(material), answer: Schema.Unknown })
    yield* Effect.logInfo("the holder is a member")
  }).pipe(services)

export const removeMember = ({ holder }: { readonly holder: string }) =>
  Effect.gen(function* () {
    const ask = yield* owned
    yield* ask({ method: "POST", path: `members/${encodeURIComponent(holder)}/remove`, answer: Schema.Unknown })
    yield* Effect.logInfo("the holder is no member any more")
  }).pipe(services)

export const claimInvite = ({ label, ...material }: Material & { readonly label: Option.Option<string> }) =>
  Effect.gen(function* () {
    const screen = yield* Screen
    const ask = yield* owned
    const named = Option.match(label, { onNone: () => ({}), onSome: (text) => ({ label: text }) })
    const body = { ...bodyOf(material), ...named }
    const minted = yield* ask({ method: "POST", path: "claim-invites", body, answer: MintedClaimInvite })
    if (screen.json) return screen.result(JSON.stringify({ url: minted.url, expires_at: minted.expires_at }))
    screen.result(minted.url)
    yield* Effect.logInfo("it works once, within a quarter of an hour")
  }).pipe(services)
