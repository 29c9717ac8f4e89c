/**
 * Requests for a route of the OpenAPI document: mostly what the document asks for, now and then what it does not ask for.
 * The same seed gives the same requests.
 */

import { prototypeNames } from "@catenet/testing/edge/fuzz/PrototypeNames"
import { type Described, described } from "./Document.ts"

export interface Random {
  /** From 0 up to and without 1. */
  readonly next: () => number
  readonly below: (n: number) => number
  readonly pick: <A>(items: ReadonlyArray<A>) => A
}

/** Mulberry32. */
export const random = (seed: number): Random => {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const below = (n: number) => Math.floor(next() * n)
  return { next, below, pick: (items) => items[below(items.length)]! }
}

const deep = (levels: number): unknown => (levels === 0 ? [] : [deep(levels - 1)])

const hostile: ReadonlyArray<unknown> = [
  null,
  true,
  "",
  " ",
  "0",
  -1,
  0,
  1.5,
  1e308,
  2 ** 53,
  -(2 ** 53),
  2 ** 63,
  [],
  {},
  [[]],
  "\u0000",
  "\ud800",
  "a\nb",
  "é",
  "🤖".repeat(20),
  "x".repeat(5000),
  "';drop table tunnels;--",
  "${7*7}",
  "../../etc/passwd",
  "<script>alert(1)</script>",
  ...prototypeNames,
  ...prototypeNames.map((name) => Object.fromEntries([[name, { [name]: 1 }]])),
  deep(200),
  "ff".repeat(32).toUpperCase()
]

const words = [
  "ada",
  "bob",
  "a.example.test",
  "x@example.test",
  "hello",
  "https://card.example/agent.json",
  "primary",
  "DELETE",
  "smart-route"
]

export interface Pool {
  /** Hex values that have been seen, by their length. */
  readonly hex: Map<number, Array<string>>
}

const hexOf = (random: Random, pool: Pool, digits: number) => {
  const seen = pool.hex.get(digits)
  if (seen !== undefined && seen.length > 0 && random.next() < 0.7) return random.pick(seen)
  let text = ""
  while (text.length < digits) text += random.below(16).toString(16)
  return text
}

const stringOf = (schema: Described, random: Random, pool: Pool): string => {
  const pattern = schema.pattern ?? schema.allOf?.find((part) => part.pattern)?.pattern ?? ""
  const digits = /\[0-9a-f(?:A-F)?\]\{(\d+)\}/.exec(pattern)?.[1]
  if (digits !== undefined) return hexOf(random, pool, Number(digits))
  if (/A-Za-z0-9_-\]\{43\}/.test(pattern)) return "A".repeat(43)
  return random.pick(words) + (random.next() < 0.5 ? "" : random.below(50))
}

/** A value for a schema of the document. */
export const value = (reference: object | undefined, random: Random, pool: Pool, depth = 0): unknown => {
  if (random.next() < 0.04) return random.pick(hostile)
  if (reference === undefined || depth > 8) return random.pick(words)
  const schema = described(reference)
  const inner = (part: Described | undefined) => value(part, random, pool, depth + 1)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return inner(random.pick(choices))
  if (schema.enum !== undefined) return random.pick(schema.enum)
  if ("const" in schema) return schema.const
  switch (schema.type) {
    case "object": {
      const required = schema.required ?? []
      const members = Object.entries(schema.properties ?? {}).filter(([name]) =>
        required.includes(name) ? random.next() > 0.02 : random.next() > 0.5
      )
      const unknown = random.next() < 0.03 ? [[random.pick(prototypeNames), random.pick(hostile)]] : []
      return Object.fromEntries([...members.map(([name, part]) => [name, inner(part)]), ...unknown])
    }
    case "array":
      return Array.from({ length: random.below(4) }, () => inner(schema.items))
    case "integer":
    case "number":
      return random.below(random.pick([2, 10, 20_000]))
    case "boolean":
      return random.next() < 0.5
    case "null":
      return null
    case "string":
      return stringOf(schema, random, pool)
    default:
      return schema.allOf === undefined ? random.pick(words) : inner(schema.allOf[0])
  }
}

/** A text for one segment of a path, a query or a header. */
export const text = (schema: object, random: Random, pool: Pool): string => {
  const made = value(schema, random, pool)
  return typeof made === "string" ? made : (JSON.stringify(made) ?? "undefined")
}
