/** `channel grant`: signs a member's grant and verifies it before printing. */
import * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import type { Parser } from "@catenet/platform/Parser"
import { unixSeconds, unixSecondsBigInt } from "@catenet/platform/UnixTime"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Option, Redacted, Result, Schema } from "effect"
import * as AccountClient from "../account/AccountClient.ts"
import * as ControlPlaneSelection from "../account/ControlPlaneSelection.ts"
import { configFile } from "../Flags.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as ChannelOperatorVariables from "../settings/ChannelOperatorVariables.ts"
import * as ChannelOwnerVariables from "../settings/ChannelOwnerVariables.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import { Prompts } from "../terminal/Prompts.ts"
import { Screen } from "../terminal/Screen.ts"

/** Asks for the fields of a grant, repeating invalid answers; on a pipe the first invalid answer ends it. */
const units: ReadonlyMap<string, number> = new Map([
  ["s", 1],
  ["m", 60],
  ["h", 3600],
  ["d", 86_400],
  ["w", 604_800],
  ["y", 31_536_000]
])

/** Seconds of a span such as 30d. */
const spanOf = (text: string) => {
  const [, count = "", unit = ""] = /^(\d{1,6})([smhdwy])$/.exec(text) ?? []
  const seconds = units.get(unit)
  return seconds === undefined ? undefined : BigInt(count) * BigInt(seconds)
}

const ask = Effect.fnUntraced(function* <A>(
  question: string,
  expected: string,
  parse: (text: string) => A | undefined
) {
  const prompts = yield* Prompts
  const screen = yield* Screen
  while (true) {
    const answer = yield* prompts.ask(question, false)
    if (Option.isNone(answer))
      return yield* ConfigurationInvalid.of("The answers", "ended before the last question. No grant was made")
    const value = parse(answer.value.trim())
    if (value !== undefined) return value
    if (!prompts.interactive) return yield* ConfigurationInvalid.of(question.trim(), `wants ${expected}`)
    screen.log(`That is not ${expected}.`)
  }
})

const by = <A>(question: string, parser: Parser<A>) => ask(question, parser.expected, parser.parse)

/** Channel, holder, direction and end of a grant. */
const askClaims = Effect.gen(function* () {
  const channel = yield* by("Channel, 64 hex digits: ", ChannelOperatorVariables.channelId)
  const holder = yield* by("Public holder key of the member, 64 hex digits: ", ChannelOperatorVariables.holder)
  const direction = yield* by("Direction, initiate, accept or both: ", ChannelOperatorVariables.direction)
  const now = yield* unixSecondsBigInt
  const expiresAt = yield* ask(
    "Ends in, such as 30d: ",
    "a span such as 12h, 30d or 1y, or a time to come in Unix seconds",
    (text) => {
      const span = spanOf(text)
      const end = span === undefined ? ChannelOperatorVariables.unixSeconds.parse(text) : now + span
      return end !== undefined && end > now ? end : undefined
    }
  )
  return { channel, holder, direction, expiresAt }
})

interface Options {
  readonly interactive: boolean
  readonly deposit: boolean
}

const asked = Effect.gen(function* () {
  const values = yield* EnvironmentFile.read(yield* configFile, ChannelOwnerVariables.grantAsked)
  const claims = yield* Effect.provide(askClaims, Prompts.layer)
  return { ...values, ...claims }
})

const given = Effect.flatMap(configFile, (named) => EnvironmentFile.read(named, ChannelOwnerVariables.grantMember))

/** Stores it at the control plane, where the member collects it. */
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
    const now = yield* unixSeconds
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
