/**
 * The login gate of hosts whose TLS ends here: whose a visitor's session is and who may pass is asked of the control plane, and who
 * may not is sent to sign in. It refuses a visitor whose session it could not check. A visitor comes back with a code at a
 * path of the host that is answered here. Each connection of HTTP/1.1 and each request of HTTP/2 is noted until it ends, so that
 * a visit ends with the right to it.
 */
import { GateToken } from "@catenet/domain/values/Tokens"
import { BoundedMap } from "@catenet/platform/BoundedMap"
import { Entropy } from "@catenet/platform/Entropy"
import { addressBlock } from "@catenet/platform/IpAddress"
import { guarded, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { browserCookie, cookieOf, sessionCookie } from "@catenet/wire/transport/GateCookies"
import { TornStream } from "@catenet/wire/transport/Http2Stream"
import { cutUnfinished } from "@catenet/wire/transport/LingeringClose"
import { Option, Redacted, Schema } from "effect"
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2"
import type { TLSSocket } from "node:tls"
import type { AskGate, GateVerdict } from "../GateVerdict.ts"
import type { GateIdentity } from "../http1/RequestHead.ts"
import type { ProxyResponse } from "../ProxyPages.ts"
import * as Assertions from "./Assertions.ts"
import { AuthenticatedConnections, type Visit } from "./AuthenticatedConnections.ts"
import * as GatePages from "./GatePages.ts"
import * as SignedSession from "./SignedSession.ts"
import { type Known, VisitorAuthCache } from "./VisitorAuthCache.ts"

/** Who visitors are. Each call fails when there is no answer soon. */
export interface VisitorIdentity {
  /** Whose a session is; without one, where its visitor signs in. */
  readonly check: (host: string, session: GateToken | undefined) => Promise<Known>
  /** Exchanges the code of a sign-in; undefined where it is not accepted. `browser` is the hash of what the browser keeps. */
  readonly redeem: (shown: {
    readonly host: string
    readonly code: GateToken
    readonly browser: string
  }) => Promise<{ readonly session: string; readonly seconds: number; readonly path: string } | undefined>
  readonly end: (host: string, session: GateToken) => Promise<unknown>
  /** The public keys, in hex, of all parties that sign assertions for the host. */
  readonly keys: (host: string) => Promise<ReadonlyArray<string>>
}

/** Which hosts have a gate now. */
export interface GatedHosts {
  /** A name of the tunnel that the host leads to. */
  readonly tunnelOf: (host: string) => string | undefined
  readonly isGated: (tunnel: string) => boolean
}

export interface VisitorGateOptions {
  readonly hosts: GatedHosts
  readonly visitors: VisitorIdentity
  readonly keys: SignedSession.MacKeys
  readonly assertionKeys: Assertions.AssertionKeys
  /** In milliseconds. */
  readonly now: () => number
  /** Called with what a callback threw. */
  readonly onFault: OnFault
  /** Called when a visitor who comes or leaves could not be asked about. */
  readonly onFailure: (error: unknown) => void
}

/** A request as far as the gate is concerned. */
export interface GatedRequest {
  readonly host: string
  readonly method: string
  readonly target: string
  /** All Cookie fields, as one. */
  readonly cookie: string
  readonly upgrade: boolean
  /** Of the visitor. */
  readonly address: string
}

const entryPath = "/.catenet/gate"
const exitPath = "/.catenet/gate/logout"

/** How long the keys of other parties are kept, of so many tunnels; visitors cannot have them asked for more often. */
const keysMillis = 5_000
const maxKeySets = 1_000

const readToken = Schema.decodeUnknownOption(GateToken)

const answered = (answer: ProxyResponse): GateVerdict => ({ _tag: "Responds", answer })

const signInFrom = (signIn: string, { cookie, host, target }: GatedRequest) => {
  const kept = cookieOf(cookie, browserCookie)
  const browser =
    Option.isSome(readToken(kept)) && kept !== undefined ? kept : Entropy.randomBytes(32).toString("base64url")
  return GatePages.signIn({ signIn, host, target, browser })
}

export class VisitorGate {
  readonly #options: VisitorGateOptions
  readonly #visits = new AuthenticatedConnections()
  readonly #answers: VisitorAuthCache
  /** What is known of a visitor leaves within a minute, and the assertion with it: one signature for all requests until then. */
  readonly #assertions = new WeakMap<Known, string>()
  readonly #keySets = new BoundedMap<string, { readonly until: number; readonly keys: Promise<ReadonlyArray<string>> }>(
    maxKeySets
  )

  constructor(options: VisitorGateOptions) {
    this.#options = options
    const { now, visitors } = options
    this.#answers = new VisitorAuthCache(
      (host, session) => visitors.check(host, Option.getOrUndefined(readToken(session))),
      now
    )
  }

  /** Whether visitors of the host have to log in. */
  closes(host: string): boolean {
    const { isGated, tunnelOf } = this.#options.hosts
    const tunnel = tunnelOf(host)
    return tunnel !== undefined && isGated(tunnel)
  }

  /** A visit begins that an order may have to cut. Returns how it ends. */
  enter(tunnel: string, visit: Visit): () => void {
    return this.#visits.enter(tunnel, visit)
  }

  /** What was known of the tunnel's visitors holds no longer, and those who are here are asked about. */
  recheck(tunnel: string): void {
    this.#answers.forget(tunnel)
    if (!this.#options.hosts.isGated(tunnel)) return
    for (const visit of this.#visits.of(tunnel)) void this.#recheckOne(tunnel, visit)
  }

  /** To be called every few seconds: ends the visits whose session is over. */
  tend(): void {
    for (const { end } of this.#visits.over(this.#options.now())) end()
  }

  /** How the requests of a connection are asked about, whenever the gate is closed. `end` ends it. */
  connection(socket: TLSSocket, host: string, address: string, end: () => void): AskGate {
    const visit: Visit = { host, session: undefined, until: null, open: !this.closes(host), end }
    socket.once("close", this.#enter(visit))
    return ({ cookie, method, target, upgrade }) => {
      if (this.closes(host)) return this.#judge({ host, method, target, cookie, upgrade, address }, visit)
      visit.open = true
      return undefined
    }
  }

  /** The verdict about a request; nothing where the host has no gate now. */
  request(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    host: string,
    address: string
  ): Promise<GateVerdict> | undefined {
    const closed = this.closes(host)
    const cut = () => void stream.destroy(new TornStream("the visitor may no longer pass"))
    const end = () => cutUnfinished(stream, guarded(this.#options.onFault, cut))
    const visit: Visit = { host, session: undefined, until: null, open: !closed, end }
    stream.once("close", this.#enter(visit))
    if (!closed) return undefined
    const { ":method": method = "GET", ":path": target = "/", ":protocol": protocol, cookie = "" } = headers
    return this.#judge({ host, method, target, cookie, upgrade: protocol !== undefined, address }, visit)
  }

  #enter(visit: Visit) {
    return this.#visits.enter(this.#options.hosts.tunnelOf(visit.host) ?? "", visit)
  }

  /** Whether a request may be forwarded; its identity is noted in its visit. Never fails. */
  #judge(asked: GatedRequest, visit: Visit): Promise<GateVerdict> {
    return this.#decide(asked, visit).catch(() => answered(GatePages.unavailable()))
  }

  /** What cannot be a session is none, so that no visitor has the control plane asked about it. */
  #sessionOf({ cookie, host }: GatedRequest) {
    const value = cookieOf(cookie, sessionCookie)
    const session = value === undefined ? undefined : SignedSession.shown(this.#options.keys, host, value)
    return Option.isSome(readToken(session?.token)) ? session : undefined
  }

  async #entering({ cookie, host }: GatedRequest, query: URLSearchParams): Promise<ProxyResponse> {
    const { keys, visitors } = this.#options
    const code = readToken(query.get("code"))
    const browser = readToken(cookieOf(cookie, browserCookie))
    if (Option.isNone(code) || Option.isNone(browser)) return GatePages.codeRefused()
    const shown = { host, code: code.value, browser: GatePages.browserHash(Redacted.value(browser.value)) }
    const entry = await visitors.redeem(shown)
    if (entry === undefined) return GatePages.codeRefused()
    return GatePages.enter(entry.path, SignedSession.signed(keys, host, entry.session), entry.seconds)
  }

  async #leaving(asked: GatedRequest, query: URLSearchParams): Promise<ProxyResponse> {
    const session = readToken(this.#sessionOf(asked)?.token)
    if (Option.isSome(session)) await this.#options.visitors.end(asked.host, session.value)
    return GatePages.leave(query.get("return") ?? "/")
  }

  /** Where the others cannot be asked about, an origin gets the keys that were known last, and those of this party. */
  async #keySet(host: string): Promise<ProxyResponse> {
    const { assertionKeys, hosts, now, onFailure, visitors } = this.#options
    const tunnel = hosts.tunnelOf(host) ?? ""
    let set = this.#keySets.get(tunnel)
    if (set === undefined || set.until <= now()) {
      const before = set?.keys ?? []
      const keys = visitors.keys(host).catch((error: unknown) => {
        onFailure(error)
        return before
      })
      set = { keys, until: now() + keysMillis }
      this.#keySets.set(tunnel, set)
    }
    return Assertions.keySet(assertionKeys, await set.keys)
  }

  #identityOf(host: string, known: Known, email: string): GateIdentity {
    const { assertionKeys, now } = this.#options
    const identity = { email, subject: known.subject }
    const assertion =
      this.#assertions.get(known) ?? Assertions.assertion(assertionKeys, identity, host, known.until, now())
    this.#assertions.set(known, assertion)
    return { ...identity, assertion }
  }

  /** A failure closes the gate. */
  #orUnavailable(answer: Promise<ProxyResponse>): Promise<GateVerdict> {
    return answer.then(answered, (error: unknown) => {
      this.#options.onFailure(error)
      return answered(GatePages.unavailable())
    })
  }

  async #decide(asked: GatedRequest, visit: Visit): Promise<GateVerdict> {
    const at = asked.target.indexOf("?")
    const path = at < 0 ? asked.target : asked.target.slice(0, at)
    const query = new URLSearchParams(at < 0 ? "" : asked.target.slice(at))
    const asks = asked.method === "GET" && !asked.upgrade
    if (asks && path === entryPath) return this.#orUnavailable(this.#entering(asked, query))
    if (asks && path === exitPath) return this.#orUnavailable(this.#leaving(asked, query))
    if ((asks || asked.method === "HEAD") && path === Assertions.keysPath)
      return answered(await this.#keySet(asked.host))
    const shown = this.#sessionOf(asked)
    const session = shown?.token
    // Noted before it is asked about: an order that comes meanwhile has to find it.
    if (session !== undefined) Object.assign(visit, { session, open: true })
    const known = await this.#answers.of({
      token: this.#options.hosts.tunnelOf(asked.host) ?? "",
      host: asked.host,
      session,
      isSigned: shown?.isSigned === true,
      address: addressBlock(asked.address)
    })
    if (known === undefined) return answered(GatePages.unavailable())
    const { identity, signIn, until } = known
    if (identity !== null) {
      Object.assign(visit, { session, until, open: true })
      return { _tag: "Passes", identity: identity === "" ? undefined : this.#identityOf(asked.host, known, identity) }
    }
    if (signIn === null) return answered(GatePages.noSignIn())
    const mayLead = !asked.upgrade && (asked.method === "GET" || asked.method === "HEAD")
    return answered(mayLead ? signInFrom(signIn, asked) : GatePages.unauthorized())
  }

  async #recheckOne(tunnel: string, { end, host, open, session }: Visit): Promise<void> {
    if (!open) return
    const known = session === undefined ? undefined : await this.#answers.of({ token: tunnel, host, session })
    if (known === undefined || known.identity === null) end()
  }
}
