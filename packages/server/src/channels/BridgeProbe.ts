/** What the control plane stores of an agent's answer about itself: its version, and what it is ready for. Pure. */
import { line } from "@catenet/domain/values/Text"
import { Option, Schema } from "effect"

/** Tools whose answers are stored for the fleet page. */
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
 * Reads an answer. The agent is a program of its owner, so a version and a fact may be a short line only, a fact also a
 * boolean, and at most 64 facts are stored.
 */
export const of = (answer: Schema.Json): Probe =>
  Option.match(readAnswer(answer), {
    onNone: () => nothing,
    onSome: ({ readiness, version }) => ({
      agentVersion: Option.getOrUndefined(readVersion(version)),
      readiness: readiness && facts(readiness)
    })
  })
