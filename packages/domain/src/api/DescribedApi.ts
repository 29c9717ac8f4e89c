/**
 * Completes the OpenAPI documents of control plane, edge and agent: descriptions, examples, servers, and schemas that
 * client generators can read.
 */
import { flow, Option, Record, Record as Records } from "effect"
import { integerText } from "../values/Numbers.ts"
import { describeAnswers, describeServers } from "./DescribedAnswers.ts"
import { describeOperations, describeParameters } from "./DescribedOperations.ts"
import { isRecord, mapped, members, type Members } from "./LosslessJson.ts"
import { exactBodyMark } from "./RequestReading.ts"

/** An example of every body that is sent or answered, and of every parameter, made from their schemas. */
const digits = "4f9a1c7e2b80d635"

/** What a member of this name holds in an example. */
const byName: Readonly<Record<string, unknown>> = {
  name: "shop",
  label: "kitchen",
  hostname: "shop.example.net",
  host: "shop.example.net",
  email: "ann@example.net",
  tenant: "ann",
  subject: "ann",
  resource: "https://shop.example.net/",
  webhook_url: "https://alerts.example.net/catenet",
  card_url: "https://shop.example.net/.well-known/agent-card.json",
  currency_id: "eur",
  model: "small",
  threshold_minutes: 5,
  sealed: digits.repeat(6)
}

/** A text of this form. Hexadecimal digits are no key of anybody. */
const textFor = ({ format, maxLength, minLength, pattern }: Members): string => {
  const length = Number(minLength ?? 1)
  if (format === "email") return "ann@example.net"
  if (format === "uri") return "https://shop.example.net/"
  if (typeof pattern === "string" && pattern.startsWith("^sa-")) return `sa-${digits.repeat(2)}`
  if (typeof pattern === "string" && pattern.startsWith("^(?:tcp|udp)/")) return "tcp/20022"
  if (typeof pattern === "string" && pattern.startsWith("^/")) return "/"
  if (typeof pattern === "string" && pattern.startsWith("^https")) return "http://10.0.0.2:9443"
  if (typeof pattern === "string" && pattern.startsWith("^[ \\t]*[0-9a-fA-F]{64}")) return digits.repeat(4)
  if (length > 1 && length === maxLength) return digits.repeat(Math.ceil(length / digits.length)).slice(0, length)
  return String(pattern).includes("0-9a-f-") ? digits : "a"
}

/** Makes examples of schemas, with those that they refer to. */
const maker = (schemas: Members) => {
  const make = (schema: unknown, name: string, depth: number): unknown => {
    const node = members(schema)
    const { $ref } = node
    if (typeof $ref === "string")
      return make(Option.getOrUndefined(Records.get(schemas, $ref.split("/").at(-1) ?? "")), name, depth + 1)
    const choices = [node["anyOf"], node["oneOf"]].find(Array.isArray)
    if (choices !== undefined) return depth > 8 ? null : make(choices[0], name, depth + 1)
    if (Array.isArray(node["enum"])) return node["enum"][0]
    if ("const" in node) return node["const"]
    if (node["type"] === "object") return objectFor(node, depth)
    if (node["type"] === "array") return listFor(node, name, depth)
    return Option.getOrElse(Records.get(byName, name), () => plainFor(node))
  }
  const listFor = ({ items, maxItems, minItems, prefixItems }: Members, name: string, depth: number) => {
    if (Array.isArray(prefixItems)) return prefixItems.map((item) => make(item, name, depth + 1))
    if (depth > 6 || !isRecord(items) || maxItems === 0) return []
    return Array.from({ length: Math.max(1, Number(minItems ?? 1)) }, () =>
      make(items, name.replace(/s$/u, ""), depth + 1)
    )
  }
  const objectFor = ({ minProperties = 0, properties, required }: Members, depth: number) => {
    const wanted = new Set<unknown>(Array.isArray(required) ? required : [])
    for (const name of Object.keys(members(properties))) if (wanted.size < Number(minProperties)) wanted.add(name)
    return Object.fromEntries(
      Object.entries(members(properties))
        .filter(([name]) => wanted.has(name))
        .map(([name, each]) => [name, make(each, name, depth + 1)])
    )
  }
  const plainFor = (node: Members) => {
    if (node["type"] === "boolean") return true
    if (node["type"] === "null") return null
    if (node["type"] === "integer" || node["type"] === "number") return Math.max(1, Number(node["minimum"] ?? 1))
    return node["type"] === "string" ? textFor(node) : {}
  }
  return (schema: unknown, name: string) => make(schema, name, 0)
}

/** The same OpenAPI document with examples. */
const describeExamples = (spec: Record<string, unknown>): Record<string, unknown> => {
  const example = maker(members(members(spec["components"])["schemas"]))
  const body = (content: unknown) =>
    mapped(content, (media, type) =>
      type === "application/json" ? { ...media, example: example(media["schema"], "") } : media
    )
  const parameter = (each: Members) => ({ ...each, example: example(each["schema"], String(each["name"])) })
  const answer = (each: Members, status: string) =>
    status.startsWith("2") && isRecord(each["content"]) ? { ...each, content: body(each["content"]) } : each
  const operation = ({ parameters, requestBody, responses, ...rest }: Members) => ({
    ...rest,
    ...(Array.isArray(parameters) && { parameters: parameters.filter(isRecord).map(parameter) }),
    ...(isRecord(requestBody) && { requestBody: { ...requestBody, content: body(requestBody["content"]) } }),
    responses: mapped(responses, answer)
  })
  return { ...spec, paths: mapped(spec["paths"], (methods) => mapped(methods, operation)) }
}

// The schemas of the document as generators of clients read them best: one object of keywords, and numbers as numbers.

/** The document's text of 2^64, whose shortest form as a double stands for another integer. */
const twoTo64 = { shortest: "18446744073709552000", exact: "18446744073709551616" }

const isPart = (part: unknown): part is Members => isRecord(part) && !("$ref" in part)

/** The keywords of all parts beside those of the schema, where no two say the same keyword. */
const flat = ({ allOf, ...own }: Members): Members => {
  if (!Array.isArray(allOf) || !allOf.every(isPart)) return allOf === undefined ? own : { ...own, allOf }
  const keys = [own, ...allOf].flatMap((part) => Object.keys(part))
  return new Set(keys).size === keys.length ? Object.assign({}, own, ...allOf) : { ...own, allOf }
}

const asInteger = ({ maximum, minimum }: Members) => ({ type: "integer", minimum, maximum })

/** A list with a meaning for each place; not every generator reads `items: false`, which says the same. */
const places = (list: Members, count: number) => ({ ...list, minItems: count, maxItems: count })

const changed = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(changed)
  if (!isRecord(node)) return node
  const whole: Members = Object.fromEntries(Object.entries(node).map(([name, each]) => [name, changed(each)]))
  if (Array.isArray(whole["prefixItems"])) return places(whole, whole["prefixItems"].length)
  return whole["format"] === integerText ? asInteger(whole) : flat(whole)
}

/** The same OpenAPI document with schemas that are not nested without need. */
const flattenSchemas = (spec: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(spec).map(([name, part]) => [name, changed(part)]))

/**
 * The text of a document, with the bound of 64-bit integers as it is.
 *
 * @example
 * ```ts
 * import { textOf } from "@catenet/domain/api/DescribedApi"
 *
 * if (textOf({ below: 2 ** 64 }) !== '{"below":18446744073709551616}') throw new Error("every digit")
 * ```
 */
export const textOf = (document: object, indent?: number): string =>
  JSON.stringify(document, null, indent).replaceAll(twoTo64.shortest, twoTo64.exact)

/**
 * The OpenAPI document with what a request may hold. The server ignores unknown members, so that newer clients can talk
 * to older servers; the schemas alone would forbid them.
 */
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
 * import { allowUnknownMembers } from "@catenet/domain/api/DescribedApi"
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

/** What stands in the head of each document. */
export const documentHead = {
  version: "0.1.0",
  license: { name: "Apache-2.0", identifier: "Apache-2.0" }
}

/**
 * The same OpenAPI document with descriptions, examples and servers.
 *
 * @example
 * ```ts
 * import { describeApi } from "@catenet/domain/api/DescribedApi"
 *
 * if (JSON.stringify(describeApi({})["servers"]) === undefined) throw new Error("where it is served")
 * ```
 */
export const describeApi: (spec: Record<string, unknown>) => Record<string, unknown> = flow(
  flattenSchemas,
  describeAnswers,
  describeParameters,
  describeOperations,
  allowUnknownMembers,
  describeExamples,
  describeServers
)
