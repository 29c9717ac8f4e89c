/**
 * A host name in its one normal form: no blanks around it, no trailing dot, lower-case, at most 253 characters, labels
 * of 1 to 63 of `a-z`, `0-9` and `-` with no hyphen at an end. A single label is a host name; an underscore is not in one.
 *
 * Names are ASCII: an internationalised name arrives in its `xn--` form or is refused.
 */
import { Schema, SchemaGetter } from "effect"
import { lowerAscii } from "./AsciiCase.ts"
import { describedAs, pattern, patternBy, portable } from "./Pattern.ts"

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
const form = `^${label}(?:\\.${label})*$`
/** Below a single label there are only names of different people. */
const tunnelForm = `^(?:\\*\\.${label}\\.)?${label}(?:\\.${label})*$`
const labels = pattern(new RegExp(form, "u"), "a host name")
const tunnelLabels = pattern(new RegExp(tunnelForm, "u"), "a host name")
/** Letters of either case are read; a text with blanks around it or a dot at its end too. */
const written = (form: string) =>
  Schema.String.check(describedAs({ maxLength: 253, ...portable(new RegExp(form.replaceAll("a-z", "A-Za-z"), "u")) }))
const length = patternBy((text) => text.length <= 253, "a host name of at most 253 characters")

/** Brings a text to normal form as far as that goes; the result may still be no host name. */
const normalise = (text: string): string => {
  let end = text.length
  let start = 0
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  while (end > start && text.charCodeAt(end - 1) === 0x2e) end--
  return lowerAscii(text.slice(start, end))
}

const isBlank = (code: number) => code === 0x20 || (code >= 0x09 && code <= 0x0d)

/**
 * Reads any spelling of a host name, keeps the normal form.
 *
 * @example
 * ```ts
 * import { Schema } from "effect"
 * import { Hostname } from "@catenet/domain/values/Hostname"
 *
 * const host = Schema.decodeUnknownSync(Hostname)(" Hello.Example.TEST. ")
 * if (host !== "hello.example.test") throw new Error("host names have one normal form")
 * ```
 */
export const Hostname = written(form).pipe(
  Schema.decodeTo(Schema.String.check(labels, length).pipe(Schema.brand("Hostname")), {
    decode: SchemaGetter.transform(normalise),
    encode: SchemaGetter.passthrough()
  })
)
export type Hostname = typeof Hostname.Type

/**
 * The name of a tunnel: a host name, or a wildcard such as `*.dev.example.net`, which stands for every name one label below
 * `dev.example.net`. Visitors only ever name host names.
 *
 * @example
 * ```ts
 * import { Schema } from "effect"
 * import { TunnelHostname } from "@catenet/domain/values/Hostname"
 *
 * const is = Schema.is(TunnelHostname)
 * if (!is("*.dev.example.net") || is("*.net") || is("a.*.net") || is("*dev.example.net")) throw new Error("one form")
 * ```
 */
export const TunnelHostname = written(tunnelForm).pipe(
  Schema.decodeTo(Schema.String.check(tunnelLabels, length).pipe(Schema.brand("Hostname")), {
    decode: SchemaGetter.transform(normalise),
    encode: SchemaGetter.passthrough()
  })
)

/**
 * Whether it stands for the names one label below `baseOf`.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { isWildcard } from "@catenet/domain/values/Hostname"
 *
 * assert.ok(isWildcard("*.dev.example.net") && !isWildcard("dev.example.net"))
 * ```
 */
export const isWildcard = (hostname: string): boolean => hostname.startsWith("*.")

/**
 * The name below which a wildcard stands; any other name itself.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { baseOf } from "@catenet/domain/values/Hostname"
 *
 * assert.equal(baseOf("*.dev.example.net"), "dev.example.net")
 * ```
 */
export const baseOf = (hostname: string): string => (isWildcard(hostname) ? hostname.slice(2) : hostname)
