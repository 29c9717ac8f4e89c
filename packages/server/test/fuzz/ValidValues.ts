/** Values that a schema of the document holds, bounds included, and nothing that it does not hold. */
import { mintPair } from "@catenet/testing/edge/TestEdge"
import { type Described, described } from "./Document.ts"
import type { Random } from "./Generator.ts"

interface Bounds {
  readonly minLength?: number
  readonly maxLength?: number
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly prefixItems?: ReadonlyArray<Described>
}

const letters = "abcdefghijklmnopqrstuvwxyz"
const people = [..."aZ09 .-_'\"<>&%$/\\äß漢é🤖́​"]
const ascii = [..."aZ09 .-_'\"<>&%$/"]

/** Texts of the patterns that are more than one set of characters, by how they begin. */
const shapes: ReadonlyArray<readonly [string, (random: Random, word: () => string) => string]> = [
  ["^sa-", (random) => `sa-${hex(random, 32).toLowerCase()}`],
  ["^\\s*-----BEGIN CERTIFICATE-----", () => mintPair(["app.zone.example"]).cert],
  [
    "^[1-9][0-9]{0,8}/",
    (random) => `${1 + random.below(999)}/${random.pick(["", "1", "60"])}${random.pick(["s", "m", "h"])}`
  ],
  ["^[1-9][0-9]{0,5} ?(?:B", (random) => `${1 + random.below(999)} ${random.pick(["B", "KiB", "MiB"])}`],
  ["^[A-Za-z][A-Za-z0-9_-]{0,99}$", (_, word) => `X-Own-${word()}`],
  ["^[A-Za-z][A-Za-z0-9-]{0,63}$", (_, word) => `X-${word()}`],
  ["^(?:[!-~](?:[ -~]", (_, word) => `${word()} ${word()}`],
  ["^(?:\\*|https?://", (random, word) => random.pick(["*", `https://${word()}.example`])],
  ["^(?:https?://[a-z0-9.-]{1,253}(?::[0-9]{1,5})?)?/", (_, word) => `https://${word()}.example/${word()}`],
  ["^/[A-Za-z0-9._~!$&'()+,;=:@%/-]{0,200}", (_, word) => `/${word()}/*`],
  ["^[!-9;-~]{1,64}:", (_, word) => `${word()}:$scrypt$ln=10,r=8,p=1$${"A".repeat(22)}$${"A".repeat(43)}`],
  ["^/", (_, word) => `/${word()}?q=${word()}`],
  ["^https?://", (_, word) => `https://${word()}.example/${word()}`],
  ["^https://[a-z0-9.-]{1,253}(?::[0-9]{1,5})?/$", (_, word) => `https://${word()}.example/`],
  ["^(?:tcp|udp)", (random) => `${random.pick(["tcp", "udp"])}/${1 + random.below(65_535)}`],
  ["^https://", (_, word) => `https://${word()}.example/${word()}`],
  ["^[ \\t]*[0-9a-fA-F]{64}", (random) => hex(random, 64)],
  ["^[a-z0-9_]+(?:,", (_, word) => `${word()},${word()}`],
  ["^[a-z][a-z0-9/_-]", (_, word) => `${word()}/${word()}`],
  [
    "^(?:\\*\\.[A-Za-z0-9]",
    (random, word) => `${random.pick(["", "*."])}${word()}.${random.pick(["test", "a-b.example"])}`
  ],
  [
    "^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}",
    (random, word) => `${word()}.${random.pick(["Example", "test", "a-b.example"])}`
  ]
]

const hex = (random: Random, digits: number) =>
  Array.from({ length: digits }, () => random.pick([..."0123456789abcdefABCDEF"])).join("")

const between = (random: Random, least: number, most: number) =>
  random.pick([least, most, least + random.below(most - least + 1), Math.min(most, least + random.below(20))])

const setOf = (pattern: string) => /^\^\[([^\]^]+)\][{*]/u.exec(pattern)?.[1]

const textFor = (schema: Described & Bounds, random: Random, isPlain: boolean): string => {
  const { format, maxLength = 40, minLength = 0, pattern } = schema
  const word = () => Array.from({ length: 1 + random.below(12) }, () => random.pick([...letters])).join("")
  if (format === "email") return `${word()}.${word()}@${word()}.example`
  if (pattern !== undefined) {
    const shape = shapes.find(([start]) => pattern.startsWith(start))
    if (shape !== undefined) return shape[1](random, word)
    const set = setOf(pattern)
    if (set?.includes("0-9a-f")) return hex(random, between(random, minLength, maxLength)).toLowerCase()
    if (set !== undefined)
      return word()
        .repeat(maxLength)
        .slice(0, between(random, minLength, maxLength))
  }
  const length = between(random, Math.max(minLength, pattern === undefined ? 0 : 1), Math.min(maxLength, 9000))
  const characters = Array.from({ length }, () => random.pick(isPlain ? ascii : people))
  // At least one that is no blank, and none at the ends of a field, where they do not arrive.
  return [...(length > 0 ? ["x"] : []), ...characters.slice(2), ...(length > 1 ? ["y"] : [])].join("")
}

/** `isPlain` where the value stands in a header field. */
export const valid = (reference: object | undefined, random: Random, isPlain = false, depth = 0): unknown => {
  const schema: Described & Bounds = described(reference)
  const inner = (part: Described | undefined) => valid(part, random, isPlain, depth + 1)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return inner(random.pick(choices))
  if (schema.enum !== undefined) return random.pick(schema.enum)
  if ("const" in schema) return schema.const
  switch (schema.type) {
    case "object": {
      const { maxProperties: most, minProperties: least = 0, required = [] } = schema
      const all = Object.entries(schema.properties ?? {})
      const taken = all.filter(([name]) => required.includes(name) || random.next() > 0.5)
      const members = taken.length < least ? [random.pick(all)] : taken.slice(0, most)
      const isClosed = schema.additionalProperties === false || most !== undefined
      const more = isClosed || random.next() > 0.1 ? [] : [["another", 1]]
      return Object.fromEntries([...members.map(([name, part]) => [name, inner(part)]), ...more])
    }
    case "array": {
      if (schema.prefixItems !== undefined) return schema.prefixItems.map(inner)
      const { maxItems = 3, minItems = 0 } = schema
      const length = random.next() < 0.1 ? Math.min(maxItems, 100) : Math.min(maxItems, minItems + random.below(3))
      return Array.from({ length }, () => inner(schema.items))
    }
    case "integer":
    case "number":
      return between(
        random,
        schema.minimum ?? 0,
        Math.min(schema.maximum ?? Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
      )
    case "boolean":
      return random.next() < 0.5
    case "null":
      return null
    case "string":
      return textFor(schema, random, isPlain)
    default:
      return {}
  }
}
