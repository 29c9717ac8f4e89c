/** The login gate of the hosts of this tunnel, where this agent ends their TLS: by the policy, and by the control plane for sessions. */
import { Hostname } from "@catenet/domain/values/Hostname"
import { Scheduler } from "@catenet/platform/Scheduler"
import { VisitorGate, type VisitorIdentity } from "@catenet/proxy/internal/gate/VisitorGate"
import type { AskGate, GateVerdict } from "@catenet/proxy/internal/GateVerdict"
import type { Visitor } from "@catenet/proxy/internal/http1/RequestHead"
import type { Http2Options } from "@catenet/proxy/internal/http2/Http2Connections"
import { closedPage } from "@catenet/proxy/internal/ProxyPages"
import { factsOfHead, factsOfHeaders, RuleGate } from "@catenet/proxy/internal/rules/RuleGate"
import { Clock, Effect, FiberSet, Redacted, Schema } from "effect"
import { hash } from "node:crypto"
import type { AgentMetrics } from "../observe/AgentMetrics.ts"
import type { KeptPolicy } from "./KeptPolicy.ts"
import type { PolicyClient } from "./PolicyClient.ts"

const checkMillis = 5_000
const firstLimit = "3 seconds"
/** All hosts that reach this agent are of one tunnel. */
const tunnel = "tunnel"

const readHost = Schema.decodeUnknownEffect(Hostname)

/** What an agent enforces of its tunnel's policy. */
export interface Enforcement {
  readonly policy: KeptPolicy
  readonly gate: VisitorGate
  readonly rules: RuleGate
}

/** What is answered in the place of the origin, if the owner has closed access now. */
export const refusalOf = ({ policy: { closed } }: Enforcement) =>
  closed === undefined ? undefined : closedPage(closed.window, closed.now)

type Asked = Promise<GateVerdict> | undefined

/** What answers requests that login and rules have let in, in the place of the origin. */
type Then = (method: string, target: string) => Asked

/** What the login gate and the rules say, and then `then`. Requests wait until the policy is known. */
const judge = (
  { policy, rules }: Enforcement,
  facts: () => ReturnType<typeof factsOfHead>,
  gate: () => Asked,
  then: () => Asked
): Asked => {
  const ask = () => {
    const asked = rules.judge(tunnel, policy.rules, facts, gate)
    if (asked === undefined) return then()
    return asked.then((verdict) => (verdict._tag === "Responds" ? verdict : (then() ?? verdict)))
  }
  if (!policy.isAwaited) return ask()
  return policy.first.then(async () => (await ask()) ?? { _tag: "Passes", identity: undefined })
}

/** How the requests of a connection are asked about; `gate` is what the login gate says. */
export const overHttp1 =
  (enforcement: Enforcement | undefined, gate: AskGate | undefined, { address }: Visitor, then: Then): AskGate =>
  (request) => {
    const next = () => then(request.method, request.target)
    if (enforcement === undefined) return next()
    return judge(
      enforcement,
      () => factsOfHead(request, address),
      () => gate?.(request),
      next
    )
  }

export const overHttp2 =
  (enforcement: Enforcement | undefined, { address, hostname = "" }: Visitor, then: Then): Http2Options["ask"] =>
  (stream, headers) => {
    const { ":method": method = "GET", ":path": path = "/" } = headers
    const next = () => then(method, path)
    if (enforcement === undefined) return next()
    return judge(
      enforcement,
      () => factsOfHeaders(headers, address),
      () => enforcement.gate.request(stream, headers, hostname, address),
      next
    )
  }

/** A visit that cannot be asked about: it ends when visitors have to log in. Returns how it ends by itself. */
export const enterUnasked = ({ gate }: Enforcement, host: string, end: () => void): (() => void) =>
  gate.enter(tunnel, { host, session: undefined, until: null, open: true, end })

/** `seed` is the key of the agent, from which the key follows by which it recognizes its visitors' sessions. */
export const make = Effect.fnUntraced(function* (
  policy: KeptPolicy,
  client: PolicyClient,
  seed: Redacted.Redacted<Uint8Array>,
  metrics: Pick<AgentMetrics["Service"], "fault" | "refusals">
) {
  const clock = yield* Clock.Clock
  const run = yield* FiberSet.makeRuntimePromise()
  const log = yield* FiberSet.makeRuntime()
  const call = <A>(host: string, ask: (host: Hostname) => Effect.Effect<A, Error>) =>
    run(Effect.flatMap(readHost(host), ask))
  const idOf = (session: Redacted.Redacted) => hash("sha256", Redacted.value(session), "hex")

  const visitors: VisitorIdentity = {
    check: async (host, session) => {
      // An agent that has just started learns the policy while its first visitors wait.
      await run(
        Effect.timeoutOption(
          Effect.promise(() => policy.first),
          firstLimit
        )
      )
      const known = policy.policy
      if (known === undefined || !policy.isCurrent)
        throw new Error("the policy of this tunnel is not known, or too old")
      if (!policy.isGated) return { identity: "", until: null, signIn: null }
      if (session === undefined) return { identity: null, until: null, signIn: known.sign_in }
      const { expires_at, identity, sign_in, subject } = await call(host, (name) => client.session(name, idOf(session)))
      return { identity, subject, until: expires_at === null ? null : expires_at * 1_000, signIn: sign_in }
    },
    redeem: ({ browser, code, host }) =>
      call(host, (name) =>
        Effect.map(
          client.redeem({ host: name, code, browser }),
          (entry) => entry && { path: entry.path, seconds: entry.seconds, session: Redacted.value(entry.session) }
        )
      ),
    end: (host, session) => call(host, (name) => client.endSession(name, idOf(session))),
    // Agents that were enrolled since the policy changed last are not in what is kept of it.
    keys: () =>
      run(
        Effect.match(client.fetch(policy.stored?.etag), {
          onFailure: () => policy.policy,
          onSuccess: (fetched) => (fetched._tag === "Changed" ? fetched.policy : policy.policy)
        })
      ).then((known) => known?.assertion_keys ?? [])
  }

  const bytes = Redacted.value(seed)
  const key = { bytes }
  const gate = new VisitorGate({
    hosts: { tunnelOf: () => tunnel, isGated: () => policy.isGated },
    visitors,
    keys: { current: key, opening: [key] },
    // The control plane knows the public key of an enrolled agent, and every party of the host gets it from there.
    assertionKeys: { current: bytes, opening: [bytes] },
    now: () => clock.currentTimeMillisUnsafe(),
    onFault: metrics.fault,
    onFailure: (error) => void log(Effect.logWarning("the control plane has not answered about a visitor", error))
  })
  policy.onChange((before) => {
    const { require_login, share_epoch } = policy.policy ?? {}
    const isSame = require_login === before?.require_login && share_epoch === before?.share_epoch
    if (!isSame || require_login !== policy.isGated) gate.recheck(tunnel)
  })
  const tend = () => {
    try {
      gate.tend()
    } catch (error) {
      metrics.fault(error)
    }
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => Scheduler.setInterval(tend, checkMillis)),
    (timer) => Effect.sync(() => Scheduler.clearInterval(timer))
  )
  const rules = new RuleGate({
    now: () => clock.currentTimeMillisUnsafe(),
    onRefused: (_, rule) => void metrics.refusals.set(rule, (metrics.refusals.get(rule) ?? 0) + 1)
  })
  return { policy, gate, rules } satisfies Enforcement
})
