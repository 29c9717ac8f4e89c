/**
 * JSON bodies with integers above 2^53-1.
 *
 * The HTTP layer's own JSON reading rounds such integers, so these bodies travel as text of type `application/json` that
 * `JsonText` reads and writes. The OpenAPI document would call them strings; `describeLossless` puts their schemas back.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import * as JsonText from "../values/JsonText.ts"
import { members } from "./JsonMembers.ts"

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
