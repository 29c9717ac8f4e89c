/** Reads the file of an agent with many services. Every problem is reported with its line and column. */
import { ServicesFile, jsonSchema } from "@catenet/domain/tunnels/ServicesFile"
import { clause } from "@catenet/domain/values/Sentence"
import { ConfigurationInvalid, type Problem, problem } from "@catenet/platform/ConfigurationInvalid"
import { closestMatch } from "@catenet/platform/VariableReader"
import { Effect, FileSystem, Option, Record, Result, Schema, SchemaIssue } from "effect"
import { extname } from "node:path"
import type * as Yaml from "yaml"
import { printable } from "../terminal/Log.ts"

type Path = ReadonlyArray<PropertyKey>

const extensions = new Set([".yaml", ".yml", ".json"])

/** Whether `--config` names such a file, rather than one of `KEY=VALUE` lines. */
export const isNamed = (path: string | undefined): path is string =>
  path !== undefined && extensions.has(extname(path).toLowerCase())

const longestFile = 4_194_304

/** A file that is well formed. Whether its services can be served is decided by `ServicePlan`. */
export interface Loaded {
  readonly file: ServicesFile
  readonly text: string
  /** Where a value is and what it is called, to begin a sentence: `ct-agent.yaml:4:9: services.shop.to`. */
  readonly at: (path: Path) => string
}

/** Names that people use elsewhere. */
const otherNames = new Map([
  ["hostname", "host"],
  ["domain", "host"],
  ["origin", "to"],
  ["upstream", "to"],
  ["target", "to"],
  ["cp_url", "control_plane"],
  ["portal", "control_plane"]
])

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** The options that the schema knows at this path. */
const optionsAt = (path: Path): ReadonlySet<string> => {
  const whole = jsonSchema()
  const resolved = (schema: unknown): Json => {
    if (!isObject(schema)) return {}
    const { $ref } = schema
    if (typeof $ref !== "string") return schema
    const definitions = isObject(whole["$defs"]) ? whole["$defs"] : {}
    return resolved(Option.getOrUndefined(Record.get(definitions, $ref.split("/").at(-1) ?? "")))
  }
  const properties = (schema: Json): Json => (isObject(schema["properties"]) ? schema["properties"] : {})
  let at = resolved(whole)
  for (const step of path) {
    const alternatives: ReadonlyArray<unknown> = Array.isArray(at["anyOf"]) ? at["anyOf"] : [at]
    const found = alternatives
      .map(resolved)
      .map(
        (each) =>
          Option.getOrUndefined(Record.get(properties(each), String(step))) ??
          each["additionalProperties"] ??
          each["items"]
      )
    at = resolved(found.find(isObject))
  }
  return new Set(Object.keys(properties(at)))
}

/** The node of a path, or of the last part of the path that is there; `key` where the name is meant, not its value. */
const nodeAt = (yaml: typeof Yaml, document: Yaml.Document, path: Path, isKey: boolean): Yaml.Node | undefined => {
  let node: unknown = document.contents
  for (const [index, step] of path.entries()) {
    if (yaml.isAlias(node)) node = node.resolve(document)
    if (yaml.isMap(node)) {
      const pair = node.items.find(({ key }) => String(yaml.isScalar(key) ? key.value : key) === String(step))
      if (pair === undefined) break
      const isLast = index === path.length - 1
      node = (isLast && isKey) || !yaml.isNode(pair.value) ? pair.key : pair.value
    } else if (yaml.isSeq(node)) {
      const item: unknown = node.items[Number(step)]
      if (!yaml.isNode(item)) break
      node = item
    } else break
  }
  return yaml.isNode(node) ? node : undefined
}

const spelled = (path: Path) =>
  path.reduce<string>(
    (text, step) =>
      typeof step === "number" ? `${text}[${step}]` : text === "" ? String(step) : `${text}.${String(step)}`,
    ""
  )

const excess = "Expected no excess property"
const missing = "Missing key"

/** What the schema's messages expect, as an operator would say it. */
const expectations = new Map([
  ["object", "a mapping of options"],
  ["string", "a text"],
  ["number", "a number"],
  ["boolean", "true or false"]
])

const problemOf = (message: string, path: Path, where: (isKey: boolean) => string): Problem => {
  if (message === missing) return problem(where(true), "is missing")
  if (message !== excess) {
    const expected = message.replace(/^Expected /u, "")
    return problem(where(false), `is not ${expectations.get(expected) ?? expected.replaceAll('" | "', '" or "')}`)
  }
  const [parent, name] = [path.slice(0, -1), String(path.at(-1))]
  if (spelled(parent) === "services")
    return problem(
      where(true),
      "is not a service's name",
      "use up to 60 of a-z, 0-9 and hyphens, with no hyphen at an end"
    )
  const options = optionsAt(parent)
  // Such as that of a caller or of a header.
  if (options.size === 0) return problem(where(true), "is not a name that can be used here")
  const other = otherNames.get(name)
  const meant = closestMatch(name, options) ?? (other !== undefined && options.has(other) ? other : undefined)
  return problem(
    where(true),
    "is not an option here",
    meant === undefined ? `the options are ${[...options].join(", ")}` : `write ${meant} if that was meant`
  )
}

/** Also for JSON, which is a part of YAML. `name` is the file's name for messages. */
export const parse = (yaml: typeof Yaml, name: string, text: string): Result.Result<Loaded, ReadonlyArray<Problem>> => {
  const lines: Yaml.LineCounter = new yaml.LineCounter()
  const document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const place = (offset: number) => {
    const { col, line } = lines.linePos(offset)
    return `${name}:${Math.max(1, line)}:${Math.max(1, col)}`
  }
  if (document.errors.length > 0)
    return Result.fail(
      document.errors.map(({ message, pos: [offset] }) =>
        problem(place(offset), `cannot be read: ${clause(printable(message))}`)
      )
    )
  const at = (path: Path, isKey = false) => {
    const offset = nodeAt(yaml, document, path, isKey)?.range?.[0] ?? 0
    return `${place(offset)}: ${path.length === 0 ? "the file" : printable(spelled(path))}`
  }
  const value = Result.try(() => document.toJS({ maxAliasCount: 100 }) as unknown)
  if (Result.isFailure(value))
    return Result.fail([problem(`${name}:1:1`, "has too many aliases", "write the values out")])
  const decoded = Schema.decodeUnknownResult(ServicesFile)(value.success, { errors: "all", onExcessProperty: "error" })
  if (Result.isSuccess(decoded)) return Result.succeed({ file: decoded.success, text, at: (path) => at(path) })
  const { issues } = SchemaIssue.makeFormatterStandardSchemaV1()(decoded.failure.issue)
  return Result.fail(
    issues.map(({ message, path = [] }) => {
      const keys = path.map((step) => (typeof step === "object" ? step.key : step))
      return problemOf(message, keys, (isKey) => at(keys, isKey))
    })
  )
}

const secrets = ["join_token", "token", "bootstrap"] as const

/** The file at this path; fails with all of its problems. */
export const read = Effect.fn("ServicesFile.read")(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const found = yield* Effect.mapError(fs.stat(path), () =>
    ConfigurationInvalid.of(
      `The configuration file ${path}`,
      "cannot be read",
      "correct its name, or make it readable for this user"
    )
  )
  if (found.size > longestFile)
    return yield* ConfigurationInvalid.of(`The configuration file ${path}`, "is larger than 4 MiB", "name another file")
  const text = yield* Effect.mapError(fs.readFileString(path), () =>
    ConfigurationInvalid.of(`The configuration file ${path}`, "cannot be read", "make it readable for this user")
  )
  const yaml = yield* Effect.promise(() => import("yaml"))
  const loaded = yield* Effect.mapError(
    Effect.fromResult(parse(yaml, path, text)),
    (problems) => new ConfigurationInvalid({ problems })
  )
  const holdsSecret = Object.values(loaded.file.services).some((entry) =>
    secrets.some((key) => entry[key] !== undefined)
  )
  if (holdsSecret && (found.mode & 0o077) !== 0)
    yield* Effect.logWarning(`${path} holds secrets and others can read it. Run: chmod 600 ${path}`)
  return loaded
})
