/**
 * The login gate of gelb hosts: who may pass is asked of the control plane, and who may not is sent to sign in. It refuses a
 * visitor whose session it could not check. A visitor comes back with a code at a path of the host that the edge answers.
 */
import { BrowserHash } from "@catenet/domain/tunnels/GateVisit"
import { Hostname } from "@catenet/domain/values/Hostname"
import { GateToken } from "@catenet/domain/values/Tokens"
import { Entropy } from "@catenet/platform/Entropy"
import { addressBlock } from "@catenet/platform/IpAddress"
import { retryForever } from "@catenet/platform/RetryForever"
import type { EdgeResponse } from "@catenet/proxy/internal/EdgePages"
import type { GateVerdict } from "@catenet/proxy/internal/GateVerdict"
import { browserCookie, cookieOf, sessionCookie } from "@catenet/wire/transport/GateCookies"
import { Clock, Context, Effect, FiberSet, Layer, Option, Redacted, Schedule, Schema } from "effect"
import { ControlPlane } from "../control/ControlPlane.ts"
import { Routes } from "../routes/Routes.ts"
import { SessionTickets } from "../tls/SessionTickets.ts"
import { AuthenticatedConnections, type Visit } from "./AuthenticatedConnections.ts"
import * as GatePages from "./GatePages.ts"
import * as SignedSession from "./SignedSession.ts"
import { VisitorAuthCache, type Known } from "./VisitorAuthCache.ts"

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

/** A control plane that does not answer soon keeps visitors waiting for nothing. */
const callLimit = "5 seconds"
const checkEvery = "5 seconds"
const entryPath = "/.catenet/gate"
const exitPath = "/.catenet/gate/logout"

const readHost = Schema.decodeUnknownEffect(Hostname)
const readToken = Schema.decodeUnknownOption(GateToken)

const answered = (answer: EdgeResponse): GateVerdict => ({ _tag: "Responds", answer })

export class LoginGate extends Context.Service<
  LoginGate,
  {
    /** Whether visitors of the host have to log in. */
    readonly closes: (host: string) => boolean
    /** Whether a request may be forwarded; its identity is noted in its visit. Never fails. */
    readonly judge: (asked: GatedRequest, visit: Visit) => Promise<GateVerdict>
    /** A visit begins that an order may have to cut. Returns how it ends. */
    readonly enter: (token: string, visit: Visit) => () => void
    /** An order about the tunnel: what was known of its visitors holds no longer, and those who are here are asked about. */
    readonly recheck: (token: string) => void
  }
>()("edge/terminate/LoginGate") {
  static readonly make = Effect.gen(function* () {
    const { client } = yield* ControlPlane
    const routes = yield* Routes
    const keys = yield* SessionTickets
    const clock = yield* Clock.Clock
    const run = yield* FiberSet.makeRuntimePromise()
    const visits = new AuthenticatedConnections()
    const now = () => clock.currentTimeMillisUnsafe()

    const call = <A, E>(
      ask: (plane: NonNullable<typeof client>, host: Hostname) => Effect.Effect<A, E>,
      host: string
    ) =>
      Effect.flatMap(readHost(host), (name) =>
        client === undefined ? Effect.die(new Error("no control plane is configured")) : ask(client, name)
      ).pipe(Effect.timeout(callLimit))

    const answers = new VisitorAuthCache(async (host, session): Promise<Known> => {
      const token = Option.getOrUndefined(readToken(session))
      const asked = call(
        (plane, name) =>
          plane.checkVisitor({ payload: { host: name, ...(token === undefined ? {} : { session: token }) } }),
        host
      )
      const { expires_at, identity, sign_in } = await run(asked)
      return { identity, until: expires_at === null ? null : expires_at * 1_000, signIn: sign_in }
    }, now)

    /** What cannot be a session is none, so that no visitor has the control plane asked about it. */
    const sessionOf = ({ cookie, host }: GatedRequest) => {
      const value = cookieOf(cookie, sessionCookie)
      const session = value === undefined ? undefined : SignedSession.shown(keys, host, value)
      return Option.isSome(readToken(session?.token)) ? session : undefined
    }

    const signInFrom = (signIn: string, { cookie, host, target }: GatedRequest) => {
      const kept = cookieOf(cookie, browserCookie)
      const browser =
        Option.isSome(readToken(kept)) && kept !== undefined ? kept : Entropy.randomBytes(32).toString("base64url")
      return GatePages.signIn({ signIn, host, target, browser })
    }

    const entering = (asked: GatedRequest, query: URLSearchParams) => {
      const code = readToken(query.get("code"))
      const browser = readToken(cookieOf(asked.cookie, browserCookie))
      if (Option.isNone(code) || Option.isNone(browser)) return Effect.succeed(GatePages.codeRefused())
      const payload = {
        code: code.value,
        browser: BrowserHash.make(GatePages.browserHash(Redacted.value(browser.value)))
      }
      return call((plane, host) => plane.redeemGateCode({ payload: { ...payload, host } }), asked.host).pipe(
        Effect.map(({ path, seconds, session }) =>
          GatePages.enter(path, SignedSession.signed(keys, asked.host, Redacted.value(session)), seconds)
        ),
        Effect.catchTag("GateCodeRefused", () => Effect.succeed(GatePages.codeRefused()))
      )
    }

    const leaving = (asked: GatedRequest, query: URLSearchParams) => {
      const session = readToken(sessionOf(asked)?.token)
      const done = GatePages.leave(query.get("return") ?? "/")
      if (Option.isNone(session)) return Effect.succeed(done)
      const ended = call((plane, host) => plane.endVisit({ payload: { host, session: session.value } }), asked.host)
      return Effect.as(ended, done)
    }

    const closedOnFailure = (answer: Effect.Effect<EdgeResponse, unknown>) =>
      run(
        Effect.catchCause(answer, (cause) =>
          Effect.as(
            Effect.logWarning("the control plane has not answered about a visitor", cause),
            GatePages.unavailable()
          )
        )
      )

    const decide = async (asked: GatedRequest, visit: Visit): Promise<GateVerdict> => {
      const token = routes.find(asked.host)?.token ?? ""
      const at = asked.target.indexOf("?")
      const path = at < 0 ? asked.target : asked.target.slice(0, at)
      const query = new URLSearchParams(at < 0 ? "" : asked.target.slice(at))
      const asks = asked.method === "GET" && !asked.upgrade
      if (asks && path === entryPath) return answered(await closedOnFailure(entering(asked, query)))
      if (asks && path === exitPath) return answered(await closedOnFailure(leaving(asked, query)))
      const shown = sessionOf(asked)
      const session = shown?.token
      // Noted before it is asked about: an order that comes meanwhile has to find it.
      if (session !== undefined) Object.assign(visit, { session, open: true })
      const known = await answers.of({
        token,
        host: asked.host,
        session,
        isSigned: shown?.isSigned === true,
        address: addressBlock(asked.address)
      })
      if (known === undefined) return answered(GatePages.unavailable())
      const { identity, signIn, until } = known
      if (identity !== null) {
        Object.assign(visit, { session, until, open: true })
        return { _tag: "Passes", identity: identity === "" ? undefined : identity }
      }
      if (signIn === null) return answered(GatePages.noSignIn())
      const mayLead = !asked.upgrade && (asked.method === "GET" || asked.method === "HEAD")
      return answered(mayLead ? signInFrom(signIn, asked) : GatePages.unauthorized())
    }

    const judge: LoginGate["Service"]["judge"] = (asked, visit) =>
      decide(asked, visit).catch(() => answered(GatePages.unavailable()))

    const recheckOne = async (token: string, { end, host, open, session }: Visit) => {
      if (!open) return
      const known = session === undefined ? undefined : await answers.of({ token, host, session })
      if (known === undefined || known.identity === null) end()
    }

    yield* Effect.forkScoped(
      Effect.sync(() => {
        for (const { end } of visits.over(now())) end()
      }).pipe(Effect.repeat(Schedule.spaced(checkEvery)), retryForever("ending the visits that are over"))
    )

    return LoginGate.of({
      closes: (host) => {
        const route = routes.find(host)
        return route !== undefined && routes.requiresLogin(route.token)
      },
      judge,
      enter: (token, visit) => visits.enter(token, visit),
      recheck: (token) => {
        answers.forget(token)
        if (!routes.requiresLogin(token)) return
        for (const visit of visits.of(token)) void recheckOne(token, visit)
      }
    })
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(Layer.provide([Routes.layer]))
}
