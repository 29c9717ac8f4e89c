/** The errors and warnings that servers under test have logged, with causes: what a test prints that was answered with a fault. */
import { Cause, Layer, Logger, References } from "effect"

/** The last so many. */
const most = 40

const last: Array<string> = []

const collect = Logger.make(({ cause, fiber, message }) => {
  const facts = Object.entries(fiber.getRef(References.CurrentLogAnnotations)).map(
    ([name, value]) => `${name}=${String(value)}`
  )
  const said = (Array.isArray(message) ? message : [message]).map((part) =>
    Cause.isCause(part) ? Cause.pretty(part) : String(part)
  )
  const causes = cause.reasons.length === 0 ? [] : [Cause.pretty(cause).replace(/^ +at .*\n?/gmu, "")]
  last.push([...said, ...facts, ...causes].join(" ").slice(0, 4000))
  if (last.length > most) last.shift()
})

/** Keeps what is logged by what is built with it, and prints nothing. */
export const layer = Layer.mergeAll(Logger.layer([collect]), Layer.succeed(References.MinimumLogLevel, "Warn"))

/** The last of them, for the message of an assertion. */
export const said = () => `logged:\n${last.join("\n")}`
