/** Bare invitations: `channel invite` signs one for an identity, `channel redeem` makes that identity a member. */
import * as Hex from "@catenet/crypto/Hex"
import * as Invitation from "@catenet/crypto/Invitation"
import { native } from "@catenet/crypto/native"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { unixSeconds } from "@catenet/platform/UnixTime"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Redacted, Result } from "effect"
import * as JoinClient from "../channel/invite/JoinClient.ts"
import { UsageWrong } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as ChannelOwnerVariables from "../settings/ChannelOwnerVariables.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import { Screen } from "../terminal/Screen.ts"

/** Whether `channel invite` signs for an identity: one of its variables is set, and a missing one is then reported. */
export const isAsked = Effect.gen(function* () {
  const names = ["CT_INVITE_IDENTITY", "CT_INVITE_CHANNEL", "CT_INVITE_DIRECTION", "CT_INVITE_EXPIRES"]
  const texts = yield* EnvironmentFile.texts(yield* configFile, names)
  return Object.values(texts).some((text) => text !== undefined)
}).pipe(Effect.provide(NodeFileSystem.layer))

export const invite = Effect.gen(function* () {
  const screen = yield* Screen
  const {
    isDelegable = false,
    operatorKey,
    ...claims
  } = yield* EnvironmentFile.read(yield* configFile, ChannelOwnerVariables.bareInvite)
  const signed = Invitation.sign(native, operatorKey, { ...claims, delegable: isDelegable })
  const now = yield* unixSeconds
  const operator = native.ed25519.publicKey(Redacted.value(operatorKey))
  if (Result.isFailure(Invitation.verify(native, signed, operator, now)))
    return yield* ConfigurationInvalid.of(
      "CT_INVITE_EXPIRES",
      "is over already",
      "set it to a later time in Unix seconds"
    )
  const hex = Invitation.toHex(signed)
  screen.result(screen.json ? JSON.stringify({ invitation: hex }) : hex)
}).pipe(Effect.provide(NodeFileSystem.layer))

export const redeem = ({ invitation }: { readonly invitation: string }) =>
  Effect.gen(function* () {
    const { controlPlane, holderKey, noiseKey } = yield* EnvironmentFile.read(
      yield* configFile,
      ChannelOwnerVariables.redeem
    )
    const text = invitation.trim()
    const decoded = Invitation.fromHex(text)
    if (Result.isFailure(decoded))
      return yield* new UsageWrong({ detail: "This is no invitation: it is one word of 278 hex digits." })
    const own = Hex.encode(native.ed25519.publicKey(Redacted.value(holderKey)))
    if (Hex.encode(decoded.success.invitee) !== own)
      return yield* ConfigurationInvalid.of(
        "CT_CHANNEL_HOLDER_KEY",
        "is not the key that the invitation is for",
        "use the key whose public half you gave to the operator"
      )
    const member = { invitation: text, holderKey: Hex.encode(Redacted.value(holderKey)) }
    yield* JoinClient.redeem({ controlPlane }, member, noiseKey, false)
    yield* Effect.logInfo("a member of the channel now")
  }).pipe(Effect.provide([NodeFileSystem.layer, OutgoingHttp.layer]))
