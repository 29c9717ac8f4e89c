/**
 * The OpenAPI document with what a request may hold. The server ignores unknown members, so that newer clients can talk
 * to older servers; the schemas alone would forbid them. Operations with an exact body are as the schemas say.
 */
import { Option, Record } from "effect"
import { mapped, members } from "./JsonMembers.ts"
import { exactBodyMark } from "./RequestReading.ts"

const bodiesIn = (paths: unknown): ReadonlyArray<unknown> =>
  Object.values(members(paths)).flatMap((methods) =>
    Object.values(members(methods))
      .map((operation) => members(operation))
      .map((operation) => (operation[exactBodyMark] === true ? undefined : operation["requestBody"]))
  )

const namesIn = (node: unknown): ReadonlyArray<string> =>
  Array.from(JSON.stringify(node ?? null).matchAll(/"#\/components\/schemas\/([^"]+)"/gu), ([, name = ""]) => name)

/** The names of the schemas that a request may be asked to fit. */
const namesOfRequests = (paths: unknown, schemas: Record<string, unknown>): ReadonlySet<string> => {
  const names = new Set(namesIn(bodiesIn(paths)))
  // A set is walked with what is added to it on the way.
  for (const name of names)
    for (const inner of namesIn(Option.getOrUndefined(Record.get(schemas, name)))) names.add(inner)
  return names
}

const opened = (node: unknown): unknown =>
  JSON.parse(
    JSON.stringify(node, (key, value) => (key === "additionalProperties" && value === false ? undefined : value))
  )

/**
 * The same OpenAPI document, where bodies of requests, and every schema that one of them refers to, allow more members; those
 * of operations with an exact body do not.
 *
 * @example
 * ```ts
 * import { allowUnknownMembers } from "@catenet/domain/api/DescribedRequests"
 *
 * const body = { content: { "application/json": { schema: { type: "object", additionalProperties: false } } } }
 * const spec = allowUnknownMembers({ paths: { "/a": { post: { requestBody: body } } } })
 * if (JSON.stringify(spec).includes("additionalProperties")) throw new Error("still strict")
 * ```
 */
export const allowUnknownMembers = (spec: Record<string, unknown>): Record<string, unknown> => {
  const components = members(spec["components"])
  const schemas = members(components["schemas"])
  const asked = namesOfRequests(spec["paths"], schemas)
  return {
    ...spec,
    paths: mapped(spec["paths"], (methods) =>
      mapped(methods, ({ [exactBodyMark]: isExact, ...operation }) =>
        mapped(operation, (part, name) => (name === "requestBody" && isExact !== true ? opened(part) : part))
      )
    ),
    components: {
      ...components,
      schemas: mapped(schemas, (schema, name) => (asked.has(name) ? opened(schema) : schema))
    }
  }
}
