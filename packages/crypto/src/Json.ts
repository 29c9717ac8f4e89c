/**
 * JSON for signed records: integers of any size without loss, one meaning for each text, and a canonical form.
 *
 * It refuses what would let two readers disagree: a repeated key, half a surrogate pair, nesting deeper than 128. The
 * parser is our own because the runtime's rounds integers above 2^53 and keeps the last of two equal keys.
 */
import { Data, Result } from "effect"
import * as Bytes from "./Bytes.ts"

/**
 * A JSON value. An integer is a `bigint`; a `number` is one that was written with a fraction or an exponent, or with
 * more than 20 digits.
 */
export type Json = null | boolean | bigint | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** The text is not JSON as above, from this character on. */
export class NotJson extends Data.TaggedError("NotJson")<{ readonly at: number; readonly why: string }> {
  override get message() {
    return `not JSON at character ${this.at}: ${this.why}`
  }
}

/** The value has no canonical form: it holds a number that is no integer, or half a surrogate pair. */
export class NotCanonical extends Data.TaggedError("NotCanonical")<{ readonly why: string }> {
  override get message() {
    return `no canonical JSON: ${this.why}`
  }
}

const maxDepth = 128
const numberToken = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y
const literals: ReadonlyArray<readonly [string, Json]> = [
  ["true", true],
  ["false", false],
  ["null", null]
]

/** A cursor over one text. Throws `NotJson`; `parse` is the only caller and catches it. */
class Parser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  document(): Json {
    const value = this.#value(0)
    this.#blank()
    if (this.#at < this.#text.length) this.#fail("more text behind the value")
    return value
  }

  #fail(why: string): never {
    throw new NotJson({ at: this.#at, why })
  }

  #blank(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.#at++
    }
  }

  #take(character: string): boolean {
    this.#blank()
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #value(depth: number): Json {
    if (depth > maxDepth) this.#fail(`nested deeper than ${maxDepth}`)
    if (this.#take("{")) return this.#object(depth)
    if (this.#take("[")) return this.#array(depth)
    if (this.#text[this.#at] === '"') return this.#string()
    const literal = literals.find(([word]) => this.#text.startsWith(word, this.#at))
    if (literal === undefined) return this.#number()
    this.#at += literal[0].length
    return literal[1]
  }

  #object(depth: number): Json {
    const object: { [key: string]: Json } = Object.create(null)
    if (this.#take("}")) return object
    do {
      this.#blank()
      const key = this.#string()
      if (key in object) this.#fail("a key appears twice")
      if (!this.#take(":")) this.#fail("no colon behind a key")
      object[key] = this.#value(depth + 1)
    } while (this.#take(","))
    if (!this.#take("}")) this.#fail("an object does not end")
    return object
  }

  #array(depth: number): Json {
    const array: Array<Json> = []
    if (this.#take("]")) return array
    do array.push(this.#value(depth + 1))
    while (this.#take(","))
    if (!this.#take("]")) this.#fail("an array does not end")
    return array
  }

  #string(): string {
    const start = this.#at
    if (this.#text[start] !== '"') this.#fail("no text where one is wanted")
    let end = start + 1
    for (let code = this.#text.charCodeAt(end); code !== 0x22; code = this.#text.charCodeAt(end)) {
      if (Number.isNaN(code)) this.#fail("a text does not end")
      end += code === 0x5c ? 2 : 1
    }
    try {
      const text: unknown = JSON.parse(this.#text.slice(start, end + 1))
      if (typeof text === "string" && text.isWellFormed()) {
        this.#at = end + 1
        return text
      }
    } catch {
      this.#fail("a text with a control character or an unknown escape")
    }
    return this.#fail("half a surrogate pair")
  }

  #number(): bigint | number {
    numberToken.lastIndex = this.#at
    const [token, fraction, exponent] = numberToken.exec(this.#text) ?? this.#fail("no value where one is wanted")
    this.#at += token.length
    const isInteger = fraction === undefined && exponent === undefined && token !== "-0" && token.length <= 20
    if (isInteger) return BigInt(token)
    const value = Number(token)
    return Number.isFinite(value) ? value : this.#fail("a number out of range")
  }
}

/**
 * The value of a JSON text.
 *
 * ```ts
 * import { ok, strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Json from "@catenet/crypto/Json"
 *
 * strictEqual(Result.getOrThrow(Json.parse("18446744073709551615")), 18446744073709551615n)
 * for (const bad of ["", "[1,]", '{"a":1,"a":2}', '"\\ud800"', "01"]) ok(Result.isFailure(Json.parse(bad)))
 * ```
 */
export const parse = (text: string): Result.Result<Json, NotJson> => {
  try {
    return Result.succeed(new Parser(text).document())
  } catch (error) {
    return Result.fail(error instanceof NotJson ? error : new NotJson({ at: 0, why: "unreadable" }))
  }
}

const isArray = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)

/** So that it is read as a `number` again: never an integer's form. */
const printNumber = (value: number): string => {
  if (!Number.isFinite(value)) throw new RangeError(`${value} has no JSON`)
  const text = Object.is(value, -0) ? "-0" : value.toString()
  return /^-?\d+$/.test(text) ? `${text}.0` : text
}

const print = (value: Json, keysOf: (object: { readonly [key: string]: Json }) => ReadonlyArray<string>): string => {
  if (typeof value === "bigint") return value.toString()
  if (typeof value === "number") return printNumber(value)
  if (value === null || typeof value !== "object") return JSON.stringify(value)
  if (isArray(value)) return `[${value.map((item) => print(item, keysOf)).join(",")}]`
  return `{${keysOf(value)
    .map((key) => `${JSON.stringify(key)}:${print(value[key] ?? null, keysOf)}`)
    .join(",")}}`
}

/**
 * Compact JSON, keys in the order of the value (the runtime puts keys that are array indices first).
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Json from "@catenet/crypto/Json"
 *
 * strictEqual(Json.write({ b: 18446744073709551615n, a: ["é"] }), '{"b":18446744073709551615,"a":["é"]}')
 * ```
 */
export const write = (value: Json): string => print(value, Object.keys)

const inUtf8Order = (object: { readonly [key: string]: Json }): ReadonlyArray<string> =>
  Object.keys(object).sort((a, b) => Bytes.compare(Bytes.fromText(a), Bytes.fromText(b)))

const obstacle = (value: Json): string | undefined => {
  if (typeof value === "number") return "a number is no integer"
  if (typeof value === "string") return value.isWellFormed() ? undefined : "half a surrogate pair"
  if (value === null || typeof value !== "object") return undefined
  if (isArray(value)) return value.map(obstacle).find((found) => found !== undefined)
  return [...Object.keys(value), ...Object.values(value)].map(obstacle).find((found) => found !== undefined)
}

/**
 * Canonical JSON (section 14.2): keys in ascending UTF-8 byte order at every level, no white space, minimal escapes,
 * integers in decimal.
 *
 * ```ts
 * import { ok, strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Json from "@catenet/crypto/Json"
 *
 * strictEqual(Result.getOrThrow(Json.canonical({ z: 1n, a: "\n" })), '{"a":"\\n","z":1}')
 * ok(Result.isFailure(Json.canonical({ a: 1.5 })))
 * ```
 */
export const canonical = (value: Json): Result.Result<string, NotCanonical> => {
  const why = obstacle(value)
  return why === undefined ? Result.succeed(print(value, inUtf8Order)) : Result.fail(new NotCanonical({ why }))
}
