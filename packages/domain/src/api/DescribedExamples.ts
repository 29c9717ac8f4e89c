/** An example of every body that is sent or answered, and of every parameter, made from their schemas. */
import { Option, Record as Records } from "effect"
import { isRecord, mapped, type Members, members } from "./JsonMembers.ts"

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
  const objectFor = ({ properties, required }: Members, depth: number) => {
    const wanted = new Set(Array.isArray(required) ? required : [])
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

/**
 * The same OpenAPI document with examples.
 *
 * @example
 * ```ts
 * import { describeExamples } from "@catenet/domain/api/DescribedExamples"
 *
 * const parameter = { name: "hostname", in: "query", schema: { type: "string" } }
 * const { paths } = describeExamples({ paths: { "/a": { get: { parameters: [parameter] } } } })
 * if (!JSON.stringify(paths).includes('"example":"shop.example.net"')) throw new Error("no example")
 * ```
 */
export const describeExamples = (spec: Record<string, unknown>): Record<string, unknown> => {
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
