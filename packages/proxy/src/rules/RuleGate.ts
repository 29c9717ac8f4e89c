/**
 * Applies the rules of a tunnel to its visitors' requests, behind the login gate, in the same way at the edge and at the agent. A
 * visitor that is refused gets a page that names no rule. A tunnel without rules pays nothing.
 */
import { type Decision, evaluate, isPreflight, type RequestFacts } from "@catenet/domain/rules/Evaluation"
import type { RuleName, Rules } from "@catenet/domain/rules/Rules"
import { addressBlock } from "@catenet/platform/IpAddress"
import { Option, Record } from "effect"
import type { IncomingHttpHeaders } from "node:http2"
import type { GateVerdict } from "../GateVerdict.ts"
import type { GateIdentity, RequestHead } from "../http1/RequestHead.ts"
import { paged, plainResponse, type ProxyResponse, response } from "../ProxyPages.ts"
import { PasswordChecks } from "./PasswordChecks.ts"
import { RateLimits } from "./RateLimits.ts"

type Asked = Omit<RequestFacts, "identity">

/** Of a request over HTTP/1. */
export const factsOfHead = ({ fields, framing, method, target }: RequestHead, address: string): Asked => ({
  address,
  method,
  target,
  field: (name) => fields.find(({ key }) => key === name)?.value,
  length: framing._tag === "Length" ? framing.bytes : undefined
})

/** Of a request over HTTP/2. */
export const factsOfHeaders = (headers: IncomingHttpHeaders, address: string): Asked => {
  const length = headers["content-length"]
  const fields: Readonly<Record<string, unknown>> = headers
  return {
    address,
    method: headers[":method"] ?? "GET",
    target: headers[":path"] ?? "/",
    field: (name) => {
      const value = Option.getOrUndefined(Record.get(fields, name))
      return typeof value === "string" ? value : undefined
    },
    length: length === undefined ? undefined : Number(length)
  }
}

const refusalPage = (status: number, fields: ProxyResponse["fields"]): ProxyResponse => {
  if (status === 401)
    return { ...plainResponse(401, "sign in first"), fields: { "Cache-Control": "no-store", ...fields } }
  if (status === 429)
    return paged(
      429,
      {
        en: [
          "Too many requests",
          "This service takes no more requests of yours at the moment. Try again in a little while."
        ],
        de: [
          "Zu viele Anfragen",
          "Dieser Dienst nimmt im Moment keine weiteren Anfragen von Ihnen an. Versuchen Sie es in einer Weile noch einmal."
        ]
      },
      fields
    )
  if (status === 413)
    return paged(
      413,
      {
        en: ["Too large", "What was sent is larger than this service accepts."],
        de: ["Zu groß", "Was gesendet wurde, ist größer, als dieser Dienst annimmt."]
      },
      fields
    )
  return paged(
    403,
    {
      en: ["You have no access to this service", "Its owner does not let this request in."],
      de: ["Sie haben keinen Zugang zu diesem Dienst", "Der Inhaber lässt diese Anfrage nicht zu."]
    },
    fields
  )
}

/** What a body gets that turns out to be longer than the rules allow. */
export const tooLarge = (): ProxyResponse => refusalPage(413, {})

export interface RuleGateOptions {
  /** In milliseconds. */
  readonly now: () => number
  readonly onRefused: (tunnel: string, rule: RuleName) => void
}

export class RuleGate {
  readonly #options: RuleGateOptions
  readonly #rates = new RateLimits()
  readonly #passwords = new PasswordChecks()

  constructor(options: RuleGateOptions) {
    this.#options = options
  }

  /**
   * What becomes of a request: what the login gate says, unless a rule says otherwise. A preflight carries no session, so that it is
   * answered without the gate if there is a rule for it. `isCertified` is told of the connection.
   */
  judge(
    tunnel: string,
    rules: Rules | undefined,
    facts: () => Asked,
    gate: () => Promise<GateVerdict> | undefined
  ): Promise<GateVerdict> | undefined {
    if (rules === undefined || rules.length === 0) return gate()
    const asked = facts()
    if (isPreflight(asked) && rules.some(({ cors }) => cors !== undefined)) return this.#ask(tunnel, rules, asked)
    const admitted = gate()
    if (admitted === undefined) return this.#ask(tunnel, rules, asked)
    return admitted.then((verdict) =>
      verdict._tag === "Responds" ? verdict : this.#ask(tunnel, rules, asked, verdict.identity)
    )
  }

  async #ask(tunnel: string, rules: Rules, asked: Asked, identity?: GateIdentity): Promise<GateVerdict> {
    const { now, onRefused } = this.#options
    const around = { now: now(), counters: this.#rates.of(tunnel), block: addressBlock }
    let decision: Decision = evaluate(rules, { ...asked, identity }, around)
    while (decision._tag === "Asks") {
      const isKnown: boolean | undefined = await this.#passwords.isKnown(
        decision.users,
        decision,
        asked.address,
        around.now
      )
      if (isKnown === undefined) {
        onRefused(tunnel, "basic_auth")
        return { _tag: "Responds", answer: refusalPage(429, { "Retry-After": "2" }) }
      }
      decision = decision.then(isKnown)
    }
    if (decision._tag === "Passes") return { _tag: "Passes", identity, edits: decision.edits }
    const { fields, rule, status } = decision
    if (decision._tag === "Answers") return { _tag: "Responds", answer: response(status, "text/plain", "", fields) }
    onRefused(tunnel, rule)
    return { _tag: "Responds", answer: refusalPage(status, fields) }
  }
}
