/** `channel grant`: a member grant, signed by the channel's operator and checked before it is printed. */
import * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Clock, Effect, Redacted, Result, Schema } from "effect"
import * as AccountClient from "../account/AccountClient.ts"
import * as ControlPlaneSelection from "../account/ControlPlaneSelection.ts"
import { configFile } from "../Flags.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as ChannelOwnerVariables from "../settings/ChannelOwnerVariables.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import { Prompts } from "../terminal/Prompts.ts"
import { Screen } from "../terminal/Screen.ts"
import * as GrantPrompts from "./GrantPrompts.ts"

interface Options {
  readonly interactive: boolean
  readonly deposit: boolean
}

const asked = Effect.gen(function* () {
  const values = yield* EnvironmentFile.read(yield* configFile, ChannelOwnerVariables.grantAsked)
  const claims = yield* Effect.provide(GrantPrompts.claims, Prompts.layer)
  return { ...values, ...claims }
})

const given = Effect.flatMap(configFile, (named) => EnvironmentFile.read(named, ChannelOwnerVariables.grantMember))

/** Leaves it with the control plane, where its member collects it. */
const deposit = Effect.fnUntraced(function* (
  known: ControlPlaneSelection.Given,
  { channel, holder }: Grant.Grant,
  grant: string
) {
  const path = `/me/channels/${Hex.encode(channel)}/grants/${Hex.encode(holder)}` as const
  yield* AccountClient.ask(yield* ControlPlaneSelection.of(known), {
    method: "POST",
    path,
    body: { grant },
    answer: Schema.Unknown
  })
  yield* Effect.logInfo("the grant waits for its member at the control plane")
})

export const grant = ({ deposit: isDeposited, interactive }: Options) =>
  Effect.gen(function* () {
    const screen = yield* Screen
    const { channel, direction, expiresAt, holder, operatorKey, ...values } = yield* interactive ? asked : given
    const claims = { channel, holder, direction, rights: "rw", delegable: false, expiresAt } as const
    const signed = Grant.sign(native, operatorKey, claims)
    const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const operator = native.ed25519.publicKey(Redacted.value(operatorKey))
    const verified = Grant.verify(native, signed, operator, now)
    if (Result.isFailure(verified))
      return yield* ConfigurationInvalid.of(
        "CT_GRANT_EXPIRES",
        "is over already, so that the grant would be good for nothing",
        "set it to a later time in Unix seconds"
      )
    const hex = Grant.toHex(signed)
    if (isDeposited) yield* deposit(values, signed, hex)
    screen.result(screen.json ? JSON.stringify({ grant: hex }) : hex)
  }).pipe(Effect.provide([NodeFileSystem.layer, OutgoingHttp.layer]))
