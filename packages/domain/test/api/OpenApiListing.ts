/**
 * An OpenAPI document in few lines, for review: each operation with its credentials, parameters, bodies, answers and error codes,
 * and each schema on a line. Sentences and examples are left out; rules of their own hold those.
 */

interface Shape {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<Shape>
  readonly oneOf?: ReadonlyArray<Shape>
  readonly allOf?: ReadonlyArray<Shape>
  readonly not?: Shape
  readonly items?: Shape | boolean
  readonly prefixItems?: ReadonlyArray<Shape>
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: Shape | boolean
  readonly [rule: string]: unknown
}
type Content = Readonly<Record<string, { readonly schema?: Shape }>>
interface Operation {
  readonly operationId: string
  readonly security?: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly parameters?: ReadonlyArray<{
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly schema: Shape
  }>
  readonly requestBody?: { readonly content: Content; readonly required?: boolean }
  readonly responses: Readonly<Record<string, { readonly content?: Content; readonly headers?: object }>>
}
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Shape>> }
}

const sentences = new Set(["description", "title", "examples", "example", "default", "contentMediaType"])
const shown = new Set(
  "$ref type enum anyOf oneOf allOf not items prefixItems properties required additionalProperties".split(" ")
)
const nameOf = (ref: string) => ref.replace("#/components/schemas/", "").replace(/Encoded$/u, "")

/** The rules of a value beside its type, such as its length. */
const rulesOf = (shape: Shape) => {
  const rules = Object.entries(shape).filter(([name]) => !shown.has(name) && !sentences.has(name))
  const list = rules.map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
  if (shape.not !== undefined) list.push(`not ${oneLine(shape.not)}`)
  return list.length === 0 ? "" : `(${list.join(", ")})`
}

const membersOf = ({ additionalProperties, properties = {}, required = [] }: Shape) => {
  const members = Object.entries(properties).map(
    ([name, member]) => `${name}${required.includes(name) ? "" : "?"}: ${oneLine(member)}`
  )
  if (typeof additionalProperties === "object") members.push(`[name]: ${oneLine(additionalProperties)}`)
  else if (additionalProperties !== false) members.push("...")
  return `{ ${members.join(", ")} }`
}

/** A schema as a type would be written. */
export const oneLine = (shape: Shape): string => {
  if (shape.$ref !== undefined) return nameOf(shape.$ref)
  const parts: Array<string> = []
  if (shape.enum !== undefined) parts.push(shape.enum.map((value) => JSON.stringify(value)).join(" | "))
  else if (shape.type === "object") parts.push(membersOf(shape))
  else if (shape.type === "array") {
    const places = (shape.prefixItems ?? []).map(oneLine)
    if (typeof shape.items === "object") places.push(`...${oneLine(shape.items)}`)
    parts.push(`[${places.join(", ")}]`)
  } else if (shape.type !== undefined) parts.push(shape.type)
  for (const choices of [shape.anyOf, shape.oneOf])
    if (choices !== undefined) parts.push(`(${choices.map(oneLine).join(" | ")})`)
  if (shape.allOf !== undefined) parts.push(shape.allOf.map(oneLine).join(" & "))
  return (parts.join(" & ") || "any") + rulesOf(shape)
}

/** The codes that a refusal of a status may have. */
export const codesOf = (content: Content | undefined): ReadonlyArray<string> => {
  const shape = content?.["application/problem+json"]?.schema
  return shape === undefined ? [] : (shape.anyOf ?? [shape]).map(oneLine)
}

const contents = (content: Content | undefined) =>
  Object.entries(content ?? {}).map(([type, { schema }]) => `${type} ${oneLine(schema ?? {})}`)

const operationLines = (path: string, method: string, operation: Operation): ReadonlyArray<string> => {
  const { operationId, parameters = [], requestBody, responses, security = [] } = operation
  const ways = security.map((way) => Object.keys(way).join("+") || "none")
  const lines = [`${method.toUpperCase()} ${path} = ${operationId}, by ${ways.join(" or ") || "none"}`]
  for (const each of parameters)
    lines.push(`  ${each.in} ${each.name}${each.required === true ? "" : "?"}: ${oneLine(each.schema)}`)
  for (const body of contents(requestBody?.content))
    lines.push(`  body${requestBody?.required === true ? "" : "?"} ${body}`)
  const refusals: Array<string> = []
  for (const [status, { content, headers }] of Object.entries(responses)) {
    const codes = codesOf(content)
    if (codes.length > 0) refusals.push(`${status} ${codes.join(" ")}`)
    else lines.push(`  ${[status, ...Object.keys(headers ?? {}), ...contents(content)].join(" ")}`)
  }
  if (refusals.length > 0) lines.push(`  refuses ${refusals.join("; ")}`)
  return lines
}

export const listing = ({ components, paths }: Document): string => {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => operationLines(path, method, operation))
  )
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `${name.replace(/Encoded$/u, "")} = ${oneLine(schema)}`
  )
  return `${[...operations, "", ...schemas].join("\n")}\n`
}
