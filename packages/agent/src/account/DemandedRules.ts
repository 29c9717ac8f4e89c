/**
 * Rules that the file of services or a command line demands of a tunnel. They are set at the control plane, so that edges apply them
 * as well as this agent. What others have set stays: the stricter of both holds.
 */
import { type Rule, type Rules, StoredRules } from "@catenet/domain/rules/Rules"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { Effect, Equal, FileSystem, Option, Schema } from "effect"
import { resolve } from "node:path"
import type { Account } from "./AccountClient.ts"
import * as TunnelClient from "./TunnelClient.ts"

const isStorable = Schema.decodeUnknownOption(StoredRules)

/** A rule whose file cannot be used. */
export interface Unusable {
  readonly rule: number
  /** Continues "the rule" or its place: "names ./htpasswd, which cannot be read". */
  readonly problem: string
  readonly remedy: string
}

const remedy = "write lines of NAME:$scrypt$ln=14,r=8,p=1$SALT$HASH, without blanks"

/** The users of a file in the form of htpasswd; a text says why there are none. */
const usersIn = (text: string): ReadonlyArray<string> | string => {
  const lines = text
    .split(/\r?\n/u)
    .map((line, at) => ({ line: line.trim(), at }))
    .filter(({ line }) => line !== "" && !line.startsWith("#"))
  if (lines.length === 0) return "holds no name and password"
  const isWrong = (users: ReadonlyArray<string>) => Option.isNone(isStorable([{ basic_auth: { users } }]))
  const wrong = lines.find(({ line }) => isWrong([line]))
  if (wrong !== undefined) return `has no name with a scrypt hash in line ${wrong.at + 1}`
  const users = lines.map(({ line }) => line)
  return isWrong(users) ? "holds more than 64 names" : users
}

/** The rules as the control plane stores them: with the users of password files, whose paths are relative to `base`. */
export const stored = Effect.fnUntraced(function* (rules: Rules, base: string) {
  const fs = yield* FileSystem.FileSystem
  const whole: Array<Rule> = []
  for (const [rule, each] of rules.entries()) {
    const file = each.basic_auth?.file
    if (file === undefined) whole.push(each)
    else {
      const text = yield* Effect.mapError(fs.readFileString(resolve(base, file)), (): Unusable => ({
        rule,
        problem: `names ${file}, which cannot be read`,
        remedy: "correct the path"
      }))
      const users = usersIn(text)
      if (typeof users === "string")
        return yield* Effect.fail<Unusable>({ rule, problem: `names ${file}, which ${users}`, remedy })
      whole.push({ basic_auth: { users } })
    }
  }
  return whole as StoredRules
})

/** `now` in the place of those of `before`, in front of those that neither has. */
export const replaced = (known: Rules, before: Rules, now: Rules): Rules => {
  const isIn = (rules: Rules) => (rule: Rule) => rules.some((each) => Equal.equals(each, rule))
  return [...now, ...known.filter((rule) => !isIn(before)(rule) && !isIn(now)(rule))]
}

/**
 * Has the tunnel apply these rules in the place of those that were demanded of it `before`. A rule that demands a login switches the
 * login of the tunnel on.
 */
export const demand = Effect.fn("DemandedRules.demand")(function* (
  account: Account,
  tunnel: Tunnel,
  before: Rules,
  now: Rules
) {
  if (now.some(({ require_login }) => require_login !== undefined) && !tunnel.require_login)
    yield* TunnelClient.requireLogin(account, tunnel)
  const known = yield* TunnelClient.rules(account, tunnel)
  const next = replaced(known, before, now)
  if (Equal.equals(next, known)) return
  yield* TunnelClient.setRules(account, tunnel, next)
  yield* Effect.logInfo(`the tunnel ${tunnel.name} has ${next.length} rule${next.length === 1 ? "" : "s"} now`)
})
