/**
 * What the rules of a tunnel say about one request. Pure: the same rules, facts, time and counters give the same decision, at the
 * edge and at the agent. The rules are asked in their order; the first that refuses or answers decides.
 */
import { lowerAscii } from "../values/AsciiCase.ts"
import { isWithin } from "./AddressRange.ts"
import { bytesOf } from "./Amount.ts"
import type { Cors, RateLimit, Redirect, Rule, RuleName, Rules } from "./Rules.ts"

export interface RequestFacts {
  /** Of the visitor. */
  readonly address: string
  readonly method: string
  /** In origin-form, with its query. */
  readonly target: string
  /** Of a request field by its lower-case name. */
  readonly field: (name: string) => string | undefined
  /** Who the login says the visitor is; undefined without one. */
  readonly identity: { readonly email: string; readonly subject?: string | undefined } | undefined
  /** Bytes of the body where they are known beforehand. */
  readonly length: number | undefined
  /** The visitor has shown a certificate of the authority that is trusted for it. */
  readonly isCertified?: boolean | undefined
}

/** Counts requests; the milliseconds until one more may come, 0 if it is counted. */
export interface RateCounters {
  readonly spend: (limit: RateLimit, key: string, now: number) => number
}

export interface FieldEdit {
  /** In lower case. */
  readonly key: string
  readonly name: string
  /** Undefined: the field is removed. */
  readonly value: string | undefined
  /** Added to what is there instead of replacing it. */
  readonly isAdded?: true
}

/** What a request that passes is changed by. */
export interface Edits {
  readonly request: ReadonlyArray<FieldEdit>
  readonly response: ReadonlyArray<FieldEdit>
  readonly maxBody: number | undefined
}

interface Answer {
  readonly status: number
  readonly fields: Readonly<Record<string, string>>
  readonly rule: RuleName
}

export type Decision =
  | { readonly _tag: "Passes"; readonly edits: Edits | undefined }
  /** A redirect, or a preflight. */
  | ({ readonly _tag: "Answers" } & Answer)
  | ({ readonly _tag: "Refuses" } & Answer)
  /** Whether one of the lines `NAME:HASH` is of this name and password takes time to find out. */
  | {
      readonly _tag: "Asks"
      readonly users: ReadonlyArray<string>
      readonly name: string
      readonly password: string
      readonly then: (isKnown: boolean) => Decision
    }

/** How far the rules have been asked. */
interface Progress {
  readonly request: Array<FieldEdit>
  readonly response: Array<FieldEdit>
  maxBody: number | undefined
}

const edit = (name: string, value: string | undefined): FieldEdit => ({ key: lowerAscii(name), name, value })

const editsOf = ({
  remove = [],
  set = {}
}: {
  readonly set?: Readonly<Record<string, string>>
  readonly remove?: ReadonlyArray<string>
}): ReadonlyArray<FieldEdit> => [
  ...remove.map((name) => edit(name, undefined)),
  ...Object.entries(set).map(([name, value]) => edit(name, value))
]

const pathOf = (target: string) => {
  const at = target.indexOf("?")
  return at < 0 ? { path: target, query: "" } : { path: target.slice(0, at), query: target.slice(at) }
}

const rest = (pattern: string, path: string): string | undefined => {
  if (!pattern.endsWith("*")) return path === pattern ? "" : undefined
  const prefix = pattern.slice(0, -1)
  return path.startsWith(prefix) ? path.slice(prefix.length) : undefined
}

/** Where a redirect leads, if it fits. A path stays one of this host: no rest of a path can make `//elsewhere` of it. */
const locationOf = ({ from, to }: Redirect, target: string): string | undefined => {
  const { path, query } = pathOf(target)
  const carried = rest(from, path)
  if (carried === undefined) return undefined
  const isCarried = to.endsWith("*") && from.endsWith("*")
  const location = isCarried ? to.slice(0, -1) + carried : to
  const onHost = location.startsWith("/") ? location.replace(/^[/\\]+/u, "/") : location
  return query !== "" && !onHost.includes("?") ? onHost + query : onHost
}

/**
 * The request asks what another one may be, and carries no credentials: no login and no password is asked of it.
 *
 * @example
 * ```ts
 * import { isPreflight } from "@catenet/domain/rules/Evaluation"
 *
 * if (isPreflight({ method: "OPTIONS", field: () => undefined })) throw new Error("it names an origin and a method")
 * ```
 */
export const isPreflight = ({ field, method }: Pick<RequestFacts, "field" | "method">): boolean =>
  method === "OPTIONS" && field("origin") !== undefined && field("access-control-request-method") !== undefined

const allowsOrigin = ({ origins }: Cors, origin: string) => origins.includes("*") || origins.includes(origin)

const readable = (cors: Cors, origin: string): ReadonlyArray<FieldEdit> => {
  const isAny = cors.origins.includes("*")
  return [
    edit("Access-Control-Allow-Origin", isAny ? "*" : origin),
    ...(cors.credentials === true ? [edit("Access-Control-Allow-Credentials", "true")] : []),
    ...(cors.expose === undefined ? [] : [edit("Access-Control-Expose-Headers", cors.expose.join(", "))])
  ]
}
const varies: FieldEdit = { ...edit("Vary", "Origin"), isAdded: true }

const usualMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

const preflight = (cors: Cors, { field }: RequestFacts): Answer => {
  const origin = field("origin") ?? ""
  const fields = { Vary: "Origin, Access-Control-Request-Headers" }
  if (!allowsOrigin(cors, origin)) return { status: 200, fields, rule: "cors" }
  const headers = cors.headers?.join(", ") ?? field("access-control-request-headers")
  return {
    status: 200,
    rule: "cors",
    fields: {
      ...fields,
      ...Object.fromEntries(readable(cors, origin).map(({ name, value = "" }) => [name, value])),
      "Access-Control-Allow-Methods": (cors.methods ?? usualMethods).join(", "),
      ...(headers === undefined ? {} : { "Access-Control-Allow-Headers": headers }),
      "Access-Control-Max-Age": `${cors.max_age ?? 600}`
    }
  }
}

type Persons = Extract<NonNullable<Rule["require_login"]>, object>

const isOneOf = ({ domains = [], emails = [] }: Persons, email: string): boolean => {
  const own = lowerAscii(email)
  return (
    emails.some((each) => lowerAscii(each) === own) ||
    domains.some((domain) => own.slice(own.lastIndexOf("@") + 1) === domain && own.includes("@"))
  )
}

/** A name and a password of `Authorization: Basic`. */
const credentialsOf = (field: string | undefined) => {
  const [, encoded] = /^basic +([A-Za-z0-9+/_-]+=*) *$/iu.exec(field ?? "") ?? []
  if (encoded === undefined || encoded.length > 1_024) return undefined
  const text = new TextDecoder().decode(Uint8Array.fromBase64(encoded.replaceAll("-", "+").replaceAll("_", "/")))
  const at = text.indexOf(":")
  return at < 0 ? undefined : { name: text.slice(0, at), password: text.slice(at + 1) }
}

const keyOf = ({ per }: RateLimit, { address, identity }: RequestFacts, block: (address: string) => string) => {
  if (per === "tunnel") return "tunnel"
  const who = identity?.subject ?? identity?.email
  return per === "session" && who !== undefined ? `session ${who}` : `address ${block(address)}`
}

const challenge = { "WWW-Authenticate": 'Basic realm="This service", charset="UTF-8"' }

/** What surrounds the evaluation of one tunnel's rules. */
export interface Surroundings {
  /** In milliseconds. */
  readonly now: number
  readonly counters: RateCounters
  /** What limits count an address by. */
  readonly block: (address: string) => string
}

/** `from` is the first rule that has not been asked. */
const from = (rules: Rules, facts: RequestFacts, around: Surroundings, progress: Progress, start: number): Decision => {
  const asksOnly = isPreflight(facts)
  const refuses = (rule: RuleName, status: number, fields: Answer["fields"] = {}): Decision => {
    const shown = progress.response.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]))
    return { _tag: "Refuses", rule, status, fields: { ...Object.fromEntries(shown), ...fields } }
  }
  for (let at = start; at < rules.length; at++) {
    const rule = rules[at] ?? {}
    if (rule.allow !== undefined && !isWithin(rule.allow, facts.address)) return refuses("allow", 403)
    if (rule.mtls !== undefined && facts.isCertified !== true) return refuses("mtls", 403)
    if (rule.require_login !== undefined && !asksOnly) {
      if (facts.identity === undefined) return refuses("require_login", 401)
      if (rule.require_login !== true && !isOneOf(rule.require_login, facts.identity.email))
        return refuses("require_login", 403)
    }
    if (rule.rate_limit !== undefined) {
      const key = keyOf(rule.rate_limit, facts, around.block)
      const wait = around.counters.spend(rule.rate_limit, key, around.now)
      if (wait > 0) return refuses("rate_limit", 429, { "Retry-After": `${Math.ceil(wait / 1000)}` })
    }
    if (rule.basic_auth !== undefined && !asksOnly) {
      const shown = credentialsOf(facts.field("authorization"))
      const { users } = rule.basic_auth
      if (shown === undefined || users === undefined) return refuses("basic_auth", 401, challenge)
      return {
        _tag: "Asks",
        users,
        ...shown,
        then: (isKnown) => {
          if (!isKnown) return refuses("basic_auth", 401, challenge)
          // The password is the tunnel's, and the origin has no use for it.
          progress.request.push(edit("Authorization", undefined))
          return from(rules, facts, around, progress, at + 1)
        }
      }
    }
    if (rule.redirect !== undefined) {
      const location = locationOf(rule.redirect, facts.target)
      if (location !== undefined)
        return { _tag: "Answers", rule: "redirect", status: rule.redirect.status, fields: { Location: location } }
    }
    if (rule.cors !== undefined) {
      const origin = facts.field("origin")
      if (asksOnly) return { _tag: "Answers", ...preflight(rule.cors, facts) }
      if (origin !== undefined && allowsOrigin(rule.cors, origin))
        progress.response.push(...readable(rule.cors, origin))
      if (!rule.cors.origins.includes("*")) progress.response.push(varies)
    }
    if (rule.max_body !== undefined) {
      const most = bytesOf(rule.max_body)
      if ((facts.length ?? 0) > most) return refuses("max_body", 413)
      progress.maxBody = Math.min(progress.maxBody ?? most, most)
    }
    if (rule.request_headers !== undefined) progress.request.push(...editsOf(rule.request_headers))
    if (rule.response_headers !== undefined) progress.response.push(...editsOf(rule.response_headers))
  }
  const { maxBody, request, response } = progress
  const isChanged = maxBody !== undefined || request.length + response.length > 0
  return { _tag: "Passes", edits: isChanged ? { request, response, maxBody } : undefined }
}

/**
 * Asks the rules about a request.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Schema } from "effect"
 * import { evaluate } from "@catenet/domain/rules/Evaluation"
 * import { Rules } from "@catenet/domain/rules/Rules"
 *
 * const rules = Schema.decodeUnknownSync(Rules)([{ allow: ["10.0.0.0/8"] }])
 * const facts = { method: "GET", target: "/", field: () => undefined, identity: undefined, length: 0 }
 * const around = { now: 0, counters: { spend: () => 0 }, block: (address: string) => address }
 * strictEqual(evaluate(rules, { ...facts, address: "10.1.2.3" }, around)._tag, "Passes")
 * strictEqual(evaluate(rules, { ...facts, address: "192.0.2.1" }, around)._tag, "Refuses")
 * ```
 */
export const evaluate = (rules: Rules, facts: RequestFacts, around: Surroundings): Decision =>
  from(rules, facts, around, { request: [], response: [], maxBody: undefined }, 0)

/**
 * Whether a visitor of a public port may come in. Only address ranges can be asked there: any other rule admits nobody.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Schema } from "effect"
 * import { admits } from "@catenet/domain/rules/Evaluation"
 * import { Rules } from "@catenet/domain/rules/Rules"
 *
 * const rules = Schema.decodeUnknownSync(Rules)([{ allow: ["10.0.0.0/8"] }])
 * strictEqual(admits(rules, "10.1.2.3"), true)
 * strictEqual(admits(rules, "192.0.2.1"), false)
 * ```
 */
export const admits = (rules: Rules, address: string): boolean =>
  rules.every(({ allow }) => allow !== undefined && isWithin(allow, address))
