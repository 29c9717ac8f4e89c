/**
 * JSON bodies with integers above 2^53-1.
 *
 * The HTTP layer's own JSON reading rounds such integers, so these bodies travel as text of type `application/json` that
 * `JsonText` reads and writes. The OpenAPI document would call them strings; `describeLossless` puts their schemas back.
 */
import { Predicate, Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import * as JsonText from "../values/JsonText.ts"

/** Reads members of JSON objects of unknown shape, for the transformations of an OpenAPI document. */
export type Members = Readonly<Record<string, unknown>>

/**
 * Whether this is an object, and no list.
 *
 * @example
 * ```ts
 * import { isRecord } from "@catenet/domain/api/LosslessJson"
 *
 * if (!isRecord({}) || isRecord([]) || isRecord(null)) throw new Error("only objects have members")
 * ```
 */
export const isRecord = (value: unknown): value is Members => Predicate.isObject(value)

/**
 * A copy of the members; none of what is not an object.
 *
 * @example
 * ```ts
 * import { members } from "@catenet/domain/api/LosslessJson"
 *
 * if (members({ a: 1 })["a"] !== 1 || Object.keys(members("text")).length > 0) throw new Error("a text has none")
 * ```
 */
export const members = (value: unknown): Record<string, unknown> => ({ ...(isRecord(value) ? value : {}) })

/**
 * A copy in which every member that is an object is changed, by its name.
 *
 * @example
 * ```ts
 * import { mapped } from "@catenet/domain/api/LosslessJson"
 *
 * const copy = mapped({ get: {}, summary: "s" }, (each, name) => ({ ...each, name }))
 * if (JSON.stringify(copy) !== '{"get":{"name":"get"},"summary":"s"}') throw new Error("only the object changes")
 * ```
 */
export const mapped = (value: unknown, change: (each: Members, name: string) => unknown): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members(value)).map(([name, each]) => [name, isRecord(each) ? change(each, name) : each])
  )

/**
 * A body of this schema, read and written without loss.
 *
 * @example
 * ```ts
 * import { Schema } from "effect"
 * import { lossless } from "@catenet/domain/api/LosslessJson"
 * import { Uint64 } from "@catenet/domain/values/Numbers"
 *
 * const body = lossless(Schema.Struct({ units: Uint64 }))
 * const text = Schema.encodeSync(body)({ units: 2n ** 64n - 1n })
 * if (text !== `{"units":18446744073709551615}`) throw new Error("every digit is there")
 * ```
 */
export const lossless = <S extends Schema.Top>(schema: S) =>
  JsonText.codec(schema).pipe(HttpApiSchema.asText({ contentType: "application/json" }))

const components = "#/components/schemas/"

/** Definitions of a JSON Schema document, with references as an OpenAPI document has them. */
const definitions = (body: Schema.Top): Record<string, unknown> =>
  JSON.parse(JSON.stringify(Schema.toJsonSchemaDocument(body).definitions).replaceAll("#/$defs/", components))

/**
 * A transformation of an OpenAPI document that names these classes' JSON for what it is.
 *
 * @example
 * ```ts
 * import { Schema } from "effect"
 * import { HttpApi, HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
 * import { describeLossless, lossless } from "@catenet/domain/api/LosslessJson"
 * import { Uint64 } from "@catenet/domain/values/Numbers"
 *
 * class Load extends Schema.Class<Load>("Load")({ units: Uint64 }) {}
 * const group = HttpApiGroup.make("loads").add(HttpApiEndpoint.get("load", "/load", { success: lossless(Load) }))
 * const api = HttpApi.make("sample")
 *   .add(group)
 *   .annotateMerge(OpenApi.annotations({ transform: describeLossless([Load]) }))
 * const { components } = OpenApi.fromApi(api)
 * if (components.schemas["LoadEncoded"]?.["type"] !== "object") throw new Error("an object, not a string")
 * ```
 */
export const describeLossless = (bodies: ReadonlyArray<Schema.Top>) => {
  const described: Record<string, unknown> = Object.assign({}, ...bodies.map(definitions))
  const isDescribed = (ref: unknown) =>
    typeof ref === "string" && Object.hasOwn(described, ref.slice(components.length))
  const replacer = (_key: string, node: unknown): unknown =>
    typeof node === "object" && node !== null && "$ref" in node && isDescribed(node.$ref) ? { $ref: node.$ref } : node
  return (spec: Record<string, unknown>): Record<string, unknown> => {
    const known = members(spec["components"])
    const schemas = { ...members(known["schemas"]), ...described }
    return JSON.parse(JSON.stringify({ ...spec, components: { ...known, schemas } }, replacer))
  }
}
