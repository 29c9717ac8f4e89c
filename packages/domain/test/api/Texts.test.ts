/**
 * No request brings in a text that cannot be kept: half a surrogate pair has no UTF-8 form, and PostgreSQL stores no
 * NUL. Every text of a body that a route accepts is replaced by such a one.
 */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result, Schema } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"

interface Body {
  readonly name: string
  readonly schema: Schema.Codec<unknown, unknown>
}

const bodies: Array<Body> = []
HttpApi.reflect(ControlPlaneApi as never, {
  onGroup: () => {},
  onEndpoint: ({ endpoint }: { endpoint: HttpApiEndpoint.Top }) => {
    for (const { encoding, schemas } of endpoint.payload.values())
      for (const schema of schemas)
        bodies.push({
          name: `${endpoint.method} ${endpoint.path}`,
          schema: (encoding._tag === "Json" ? Schema.toCodecJson(schema as never) : schema) as never
        })
  }
})

/** A value once for each of its texts, with `text` in its place. */
const replacing = (value: unknown, text: string): ReadonlyArray<unknown> => {
  if (typeof value === "string") return [text]
  if (Array.isArray(value))
    return value.flatMap((item, n) => replacing(item, text).map((other) => value.with(n, other)))
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, member]) =>
    replacing(member, text).map((other) => Object.assign({}, value, { [key]: other }))
  )
}

const textsOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  if (Redacted.isRedacted(value)) return textsOf(Redacted.value(value))
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : []
}

const isUnkept = (text: string) => !text.isWellFormed() || text.includes("\u0000")

/** Texts that are not kept as they are: sealed as UTF-8, hashed, read by a rule of its own, handed on as JSON. */
const isTakenBy: Readonly<Record<string, (text: string) => boolean>> = {
  "POST /bootstrap/mint": (text) => text.isWellFormed(),
  "POST /me/channels/:channel/join-links": (text) => text.isWellFormed(),
  "POST /portal/claims/confirm": () => true,
  "PUT /me/tunnels/:id/alert": () => true,
  "POST /me/tunnels/:id/agent-bridge/call": () => true
}

const unkept = [
  "\u0000",
  "a\u0000",
  "\ud800",
  "a\udfff",
  "x@example.org\u0000",
  "x\ud800@example.org",
  "a\u0000.example.org"
]

describe("a text that the database cannot store", () => {
  it("is tried in every body that a request may have", () => assert.isAbove(bodies.length, 45))

  for (const { name, schema } of bodies) {
    const decode = Schema.decodeUnknownResult(schema)
    const isTaken = isTakenBy[name] ?? ((text: string) => !isUnkept(text))
    it.prop(
      `comes in by ${name}`,
      [schema],
      ([body]) => {
        const encoded = Schema.encodeSync(schema)(body)
        for (const hostile of unkept.flatMap((text) => replacing(encoded, text))) {
          const read = decode(hostile)
          if (Result.isSuccess(read)) assert.isTrue(textsOf(read.success).every(isTaken), JSON.stringify(hostile))
        }
      },
      { arbitrary: { runs: 20 } }
    )
  }
})
