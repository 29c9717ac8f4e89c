/** The rules that flags demand: `--allow`, `--basic-auth` and `--rule`. */
import { DemandedRules as Demanded, type Rule } from "@catenet/domain/rules/Rules"
import { ended } from "@catenet/domain/values/Sentence"
import { lineOf } from "@catenet/proxy/internal/rules/PasswordChecks"
import { Effect, Option, Result, Schema, SchemaIssue } from "effect"
import * as DemandedRules from "../account/DemandedRules.ts"
import { UsageWrong } from "../Failure.ts"
import { printable } from "../terminal/Log.ts"
import { Prompts } from "../terminal/Prompts.ts"

export interface RuleFlags {
  readonly allow: ReadonlyArray<string>
  readonly basicAuth: ReadonlyArray<string>
  readonly rule: ReadonlyArray<string>
}

/** Of a command without these flags. */
export const noRules: RuleFlags = { allow: [], basicAuth: [], rule: [] }

const excess = "Expected no excess property"
const decode = Schema.decodeUnknownResult(Demanded)
const wrong = (flag: string, why: string) => new UsageWrong({ detail: printable(ended(`--${flag} ${why}`)) })

/** The rule that a flag writes. */
const ruleOf = (flag: string, written: unknown): Effect.Effect<Rule, UsageWrong> => {
  const decoded = decode([written], { onExcessProperty: "error" })
  const [rule] = Result.getOrElse(decoded, () => [])
  if (rule !== undefined) return Effect.succeed(rule)
  const issues = Result.isFailure(decoded)
    ? SchemaIssue.makeFormatterStandardSchemaV1()(decoded.failure.issue).issues
    : []
  const [{ message, path = [] } = { message: "Expected a rule" }] = issues
  const names = path.slice(1).map((step) => String(typeof step === "object" ? step.key : step))
  if (message === excess) return Effect.fail(wrong(flag, `has ${names.join(".")}, which no rule has`))
  const expected = message.replace(/^Expected /u, "")
  return Effect.fail(wrong(flag, `needs ${expected}${names.length === 0 ? "" : ` in ${names.join(".")}`}`))
}

/** `NAME`, whose password is asked for, or `NAME:HASH`. */
const userOf = Effect.fnUntraced(function* (text: string) {
  if (text.includes(":")) {
    if (text.includes(":$scrypt$")) return text
    return yield* wrong(
      "basic-auth",
      "takes no password, because others on this machine could read it there: give the name alone, and type the password"
    )
  }
  const prompts = yield* Prompts
  const answer = Option.getOrElse(yield* prompts.ask(`Password of ${printable(text)} for visitors: `, true), () => "")
  if (answer === "") return yield* wrong("basic-auth", `got no password for ${text}: type it, or write a line to stdin`)
  return yield* Effect.promise(() => lineOf(text, answer))
})

/** Undefined where no flag demands any. */
export const demanded = Effect.fn("rules.demanded")(function* ({ allow, basicAuth, rule }: RuleFlags) {
  const rules: Array<Rule> = []
  if (allow.length > 0)
    rules.push(yield* ruleOf("allow", { allow: allow.flatMap((text) => text.split(",")).map((text) => text.trim()) }))
  if (basicAuth.length > 0) {
    for (const text of basicAuth)
      if (!/^[!-9;-~]{1,64}(?::|$)/u.test(text))
        return yield* wrong("basic-auth", "needs a name of at most 64 printable characters without blanks")
    const asked = Effect.scoped(Effect.provide(Effect.forEach(basicAuth, userOf), Prompts.layer))
    rules.push(yield* ruleOf("basic-auth", { basic_auth: { users: yield* asked } }))
  }
  if (rule.length > 0) {
    const { parse } = yield* Effect.promise(() => import("yaml"))
    for (const text of rule) {
      const written = Result.try((): unknown => parse(text))
      if (Result.isFailure(written)) return yield* wrong("rule", `cannot be read: ${text}`)
      rules.push(yield* ruleOf("rule", written.success))
    }
  }
  if (rules.length === 0) return undefined
  return yield* Effect.mapError(DemandedRules.stored(rules, "."), ({ problem, remedy }) =>
    wrong("rule", `${problem}; ${remedy}`)
  )
})
