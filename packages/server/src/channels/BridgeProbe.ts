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
const readObject = Schema.decodeUnknownOption(Schema.Record(Schema.String, Schema.Json))
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

/** `bridge/config` answers with its facts side by side; without one of these names an answer says nothing of readiness. */
const isReadiness = (name: string) => /_(?:configured|available|disabled)$/u.test(name) || name === "oidc_credential"

const ownFacts = (answer: Schema.Json) => {
  const own = Object.entries(Option.getOrElse(readObject(answer), () => ({}))).filter(([name]) => name !== "version")
  return own.some(([name]) => isReadiness(name)) ? Object.fromEntries(own) : undefined
}

/**
 * Reads an answer: readiness stands in an object of its own, or beside the version. The agent is a program of its owner, so a version and a fact may be a short line only, a fact also a
 * boolean, and at most 64 facts are stored.
 */
export const of = (answer: Schema.Json): Probe =>
  Option.match(readAnswer(answer), {
    onNone: () => nothing,
    onSome: ({ readiness = ownFacts(answer), version }) => ({
      agentVersion: Option.getOrUndefined(readVersion(version)),
      readiness: readiness && facts(readiness)
    })
  })
