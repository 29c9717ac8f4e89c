/** What is remembered of an agent's answer about itself: its version, and what it is ready for. Pure. */
import { line } from "@catenet/domain/values/Text"
import { Option, Schema } from "effect"

/** Tools whose answers the fleet page remembers. */
export const tools: ReadonlySet<string> = new Set(["bridge/status", "bridge/config"])

const Fact = Schema.Union([Schema.Boolean, line(64)])
const factsKept = 64

const readAnswer = Schema.decodeUnknownOption(
  Schema.Struct({
    version: Schema.optionalKey(Schema.Json),
    readiness: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
  })
)
const readVersion = Schema.decodeUnknownOption(line(64))
const isName = Schema.is(line(64))
const isFact = Schema.is(Fact)

export interface Probe {
  readonly agentVersion: string | undefined
  readonly readiness: { readonly [name: string]: typeof Fact.Type } | undefined
}

const nothing: Probe = { agentVersion: undefined, readiness: undefined }

const facts = (readiness: { readonly [name: string]: Schema.Json }) => {
  const kept: Array<readonly [string, typeof Fact.Type]> = []
  for (const [name, value] of Object.entries(readiness)) {
    if (kept.length < factsKept && isName(name) && isFact(value)) kept.push([name, value])
  }
  return Object.fromEntries(kept)
}

/**
 * The agent is somebody else's program: of a version and of each fact only a short line is kept, of facts also yes and
 * no, and at most 64 of them.
 */
export const of = (answer: Schema.Json): Probe =>
  Option.match(readAnswer(answer), {
    onNone: () => nothing,
    onSome: ({ readiness, version }) => ({
      agentVersion: Option.getOrUndefined(readVersion(version)),
      readiness: readiness && facts(readiness)
    })
  })
