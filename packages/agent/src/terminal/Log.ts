/**
 * One log line per entry on stderr: `12:30:05 info text key=value`, or a JSON object. A defect's stack follows, indented. Events
 * print their own line. Secrets are `Redacted` before they get here; anything that still looks like one is removed.
 */
import { redact } from "@catenet/domain/values/Redaction"
import { Cause, Effect, Logger, type LogLevel, References } from "effect"
import { eventAnnotation } from "../observe/Events.ts"
import { version } from "../Version.ts"
import { Screen } from "./Screen.ts"

/** Escapes untrusted text for a terminal or log: control characters, and those that change the text's direction. */
// eslint-disable-next-line no-control-regex
const unprintable = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** On one line; a tab, too, is shown as an escape. */
export const printable = (text: string): string =>
  text.replace(unprintable, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`)

const shade: Readonly<Partial<Record<LogLevel.LogLevel, string>>> = {
  Fatal: "\u001b[31m",
  Error: "\u001b[31m",
  Warn: "\u001b[33m",
  Debug: "\u001b[2m",
  Trace: "\u001b[2m"
}

const bare = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value))

/** `program event: kind conn=N key=value ...` with sorted keys, without the stamps. */
const eventText = (line: string) => {
  const { kind, conn, ts: _ts, session: _session, ...fields }: Record<string, unknown> = JSON.parse(line)
  const rest = Object.entries(fields)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => ` ${key}=${bare(value)}`)
  return `ct-agent event: ${bare(kind)}${conn === undefined ? "" : ` conn=${bare(conn)}`}${rest.join("")}`
}

const format = (message: unknown): string =>
  Array.isArray(message)
    ? message.map(format).join(" ")
    : typeof message === "string"
      ? message
      : message instanceof Error
        ? message.message
        : JSON.stringify(message)

const reason = (cause: Cause.Cause<unknown>) => {
  const squashed = Cause.squash(cause)
  return squashed instanceof Error ? squashed.message : String(squashed)
}

/** The frames of a defect, one on each line; an expected failure has a sentence and needs none. */
const framesOf = (cause: Cause.Cause<unknown>): ReadonlyArray<string> => {
  const squashed = Cause.squash(cause)
  if (!Cause.hasDies(cause) || !(squashed instanceof Error)) return []
  const { message, stack = "" } = squashed
  // The message comes first in the stack and may contain lines that look like frames.
  const at = stack.indexOf(message)
  return (at < 0 ? "" : stack.slice(at + message.length)).split("\n").filter((line) => /^\s+at /u.test(line))
}

const make = (screen: Screen["Service"]) => {
  const log = (line: string) => screen.log(redact(line))
  return Logger.make<unknown, void>(({ logLevel, message, cause, date, fiber }) => {
    const { [eventAnnotation]: event, ...annotations } = fiber.getRef(References.CurrentLogAnnotations)
    const failed = cause.reasons.length === 0 ? undefined : reason(cause)
    const frames = cause.reasons.length === 0 ? [] : framesOf(cause)
    if (screen.json) {
      if (typeof event === "string") return log(event)
      const level = logLevel.toLowerCase()
      return log(
        JSON.stringify({
          ts: date.toISOString(),
          level,
          program: "ct-agent",
          version,
          message: format(message),
          ...annotations,
          cause: failed,
          ...(frames.length === 0 ? {} : { stack: frames.map((frame) => frame.trim()) })
        })
      )
    }
    const said = typeof event === "string" ? eventText(event) : format(message)
    const extra = Object.entries(annotations).map(([key, value]) => ` ${key}=${bare(value)}`)
    // Stored lines are read later, and on other machines.
    const time =
      screen.colors || screen.live ? date.toTimeString().slice(0, 8) : date.toISOString().replace(/\.\d+/u, "")
    const line = `${time} ${logLevel.toLowerCase().padEnd(5)} ${said}${extra.join("")}${failed === undefined ? "" : `: ${failed}`}`
    // It may contain text of a peer or visitor, which a terminal must not interpret as commands.
    const text = [line, ...frames.map((frame) => frame.trim())].map(printable).join("\n    ")
    const color = screen.colors ? shade[logLevel] : undefined
    return log(color === undefined ? text : `${color}${text}\u001b[0m`)
  })
}

/** The only logger of the program. */
export const layer = Logger.layer([Effect.map(Screen, make)])
