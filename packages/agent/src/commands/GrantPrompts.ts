/** Asks for what a grant says, each until the answer is good; on a pipe the first bad answer ends it. */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import type { Parser } from "@catenet/platform/Parser"
import { Effect, Option } from "effect"
import * as ChannelOperatorVariables from "../settings/ChannelOperatorVariables.ts"
import { Prompts } from "../terminal/Prompts.ts"
import { Screen } from "../terminal/Screen.ts"
import { unixSeconds } from "../UnixTime.ts"

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
export const claims = Effect.gen(function* () {
  const channel = yield* by("Channel, 64 hex digits: ", ChannelOperatorVariables.channelId)
  const holder = yield* by("Public holder key of the member, 64 hex digits: ", ChannelOperatorVariables.holder)
  const direction = yield* by("Direction, initiate, accept or both: ", ChannelOperatorVariables.direction)
  const now = yield* unixSeconds
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
