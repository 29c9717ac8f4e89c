/**
 * Who may call an MCP server at a public address: whoever shows an access token that is made for this address, of an account that may
 * visit the tunnel. The control plane verifies tokens; what it has answered holds for a minute, and until a token ends while the
 * control plane is away.
 */
import { BoundedMap } from "@catenet/platform/BoundedMap"
import { addressBlock } from "@catenet/platform/IpAddress"
import { Scheduler } from "@catenet/platform/Scheduler"
import { TokenBuckets } from "@catenet/platform/TokenBuckets"
import { hash } from "node:crypto"
import type { IncomingMessage } from "node:http"
import type { ToolFilter } from "./ToolFilter.ts"

export interface Caller {
  /** Callers with the same key share places; a session is only its caller's. */
  readonly key: string
  /** For the log and for lists of tools. */
  readonly name: string
  readonly tools: ToolFilter | undefined
}

export interface Refusal {
  readonly status: 401 | 403 | 429 | 503
  /** The error of RFC 6750; none where there was no token. */
  readonly error?: "invalid_token"
  readonly why: string
  readonly retryAfter?: number
}

/** What the control plane says of a token. */
export type Verdict =
  | {
      readonly _tag: "Admitted"
      readonly subject: string
      readonly email: string | null
      readonly client: string | null
      /** Unix seconds. */
      readonly expiresAt: number
    }
  | { readonly _tag: "Invalid" }
  /** The account may not visit the tunnel. */
  | { readonly _tag: "Forbidden" }

export interface Rules {
  /** Anyone may call. */
  readonly isPublic: boolean
  /** Tools by who may call them, an e-mail address, a subject or a client id; `*` for everybody else. */
  readonly tools: ReadonlyMap<string, ToolFilter>
  /** Rejects when the control plane does not answer. */
  readonly ask: (token: string) => Promise<Verdict>
}

const invalid: Verdict = { _tag: "Invalid" }

const holdsMillis = 60_000
const maxTokens = 10_000
/** Tokens of one address that are refused. */
const wrongPerMinute = 30

/** The address of the visitor, which the proxy in front of the endpoint has written. */
const addressOf = ({ headers }: IncomingMessage): string =>
  addressBlock(headers["x-forwarded-for"]?.toString().split(",").at(-1)?.trim() ?? "")

const bearer = /^Bearer +([\w.~+/-]+=*)$/iu
const longestToken = 16_384

interface Known {
  readonly verdict: Promise<Verdict>
  readonly at: number
}

export class Callers {
  readonly #rules: Rules
  readonly #known = new BoundedMap<string, Known>(maxTokens)
  readonly #wrong = new TokenBuckets(wrongPerMinute)

  constructor(rules: Rules) {
    this.#rules = rules
  }

  async admit(request: IncomingMessage): Promise<Caller | Refusal> {
    const address = addressOf(request)
    const { isPublic } = this.#rules
    if (isPublic) return { key: `address ${address}`, name: "anyone", tools: this.#toolsOf(["anyone"]) }
    const { authorization } = request.headers
    if (authorization === undefined) return { status: 401, why: "This MCP server needs an access token." }
    const [, token] = bearer.exec(authorization) ?? []
    const now = Scheduler.monotonicMillis()
    const { allowed, retryAfter } = this.#wrong.take(address, now, 0)
    if (!allowed) return { status: 429, why: "Too many refused tokens came from this network.", retryAfter }
    const verdict = token === undefined || token.length > longestToken ? invalid : await this.#verdict(token, now)
    if (verdict === undefined)
      return { status: 503, why: "The access token cannot be checked now. Try again later.", retryAfter: 5 }
    if (verdict._tag === "Admitted") {
      const { client, email, subject } = verdict
      const names = [email, client, subject].filter((name) => name !== null)
      return { key: `account ${subject}`, name: names[0] ?? subject, tools: this.#toolsOf(names) }
    }
    this.#wrong.take(address, now)
    if (verdict._tag === "Forbidden")
      return {
        status: 403,
        why: "This account may not call this MCP server. Its owner adds people to the tunnel's list."
      }
    return {
      status: 401,
      error: "invalid_token",
      why: "The access token is not valid, has expired, or is for another resource."
    }
  }

  #toolsOf(names: ReadonlyArray<string>) {
    const { tools } = this.#rules
    return names.map((name) => tools.get(name.toLowerCase())).find((filter) => filter !== undefined) ?? tools.get("*")
  }

  /** Undefined where it cannot be known now. */
  async #verdict(token: string, now: number): Promise<Verdict | undefined> {
    const id = hash("sha256", token, "base64")
    const before = this.#known.get(id)
    const old = await before?.verdict.catch(() => undefined)
    if (old?._tag === "Admitted" && old.expiresAt * 1000 <= Scheduler.wallMillis()) {
      this.#known.delete(id)
      return invalid
    }
    if (before !== undefined && old !== undefined && now - before.at < holdsMillis) return old
    const asked = this.#rules.ask(token)
    this.#known.set(id, { verdict: asked, at: now })
    try {
      const verdict = await asked
      if (verdict._tag !== "Admitted") this.#known.delete(id)
      return verdict
    } catch {
      // The control plane is away: what it said of this token holds until the token ends.
      if (before === undefined || old?._tag !== "Admitted") this.#known.delete(id)
      else this.#known.set(id, before)
      return old?._tag === "Admitted" ? old : undefined
    }
  }
}
