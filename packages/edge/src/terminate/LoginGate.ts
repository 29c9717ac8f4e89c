/** The login gate of the hosts whose TLS this edge ends, and of which hosts it has to keep closed: the control plane knows who visitors are. */
import { native } from "@catenet/crypto/native"
import { assertionSeed } from "@catenet/crypto/TicketKeyRequest"
import { BrowserHash } from "@catenet/domain/tunnels/GateVisit"
import { Hostname } from "@catenet/domain/values/Hostname"
import { retryForever } from "@catenet/platform/RetryForever"
import { VisitorGate, type VisitorIdentity } from "@catenet/proxy/internal/gate/VisitorGate"
import { Clock, Context, Effect, FiberSet, Layer, Redacted, Schedule, Schema } from "effect"
import { ControlPlane } from "../control/ControlPlane.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Routes } from "../routes/Routes.ts"
import { SessionTickets } from "../tls/SessionTickets.ts"
import type { TicketKey, TicketKeyRing } from "../tls/TicketKeyRing.ts"

/** A control plane that does not answer soon keeps visitors waiting for nothing. */
const callLimit = "5 seconds"
const checkEvery = "5 seconds"

/** All edges that have the same ticket keys sign alike, and publish all of them. */
const assertionKeysOf = (ring: TicketKeyRing) => {
  const seeds = new WeakMap<TicketKey, Uint8Array>()
  const seedOf = (key: TicketKey) => {
    const seed = seeds.get(key) ?? assertionSeed(native, key.bytes)
    seeds.set(key, seed)
    return seed
  }
  return {
    get current() {
      return seedOf(ring.current)
    },
    get opening() {
      return ring.opening.map(seedOf)
    }
  }
}

const readHost = Schema.decodeUnknownEffect(Hostname)

export class LoginGate extends Context.Service<LoginGate, VisitorGate>()("edge/terminate/LoginGate") {
  static readonly make = Effect.gen(function* () {
    const { client } = yield* ControlPlane
    const routes = yield* Routes
    const keys = yield* SessionTickets
    const clock = yield* Clock.Clock
    const { report } = yield* ConnectionFaults
    const run = yield* FiberSet.makeRuntimePromise()
    const log = yield* FiberSet.makeRuntime()

    const call = <A, E>(
      ask: (plane: NonNullable<typeof client>, host: Hostname) => Effect.Effect<A, E>,
      host: string
    ) =>
      Effect.flatMap(readHost(host), (name) =>
        client === undefined ? Effect.die(new Error("no control plane is configured")) : ask(client, name)
      ).pipe(Effect.timeout(callLimit))

    const visitors: VisitorIdentity = {
      check: async (host, session) => {
        const asked = call(
          (plane, name) =>
            plane.checkVisitor({ payload: { host: name, ...(session === undefined ? {} : { session }) } }),
          host
        )
        const { expires_at, identity, sign_in, subject } = await run(asked)
        return { identity, subject, until: expires_at === null ? null : expires_at * 1_000, signIn: sign_in }
      },
      redeem: ({ browser, code, host }) => {
        const payload = { code, browser: BrowserHash.make(browser) }
        return run(
          call((plane, host) => plane.redeemGateCode({ payload: { ...payload, host } }), host).pipe(
            Effect.map(({ path, seconds, session }) => ({ path, seconds, session: Redacted.value(session) })),
            Effect.catchTag("GateCodeRefused", () => Effect.undefined)
          )
        )
      },
      end: (host, session) => run(call((plane, host) => plane.endVisit({ payload: { host, session } }), host)),
      keys: async (host) => {
        const { assertion_keys: keys = [] } = await run(
          call((plane, host) => plane.checkVisitor({ payload: { host } }), host)
        )
        return keys
      }
    }

    const gate = new VisitorGate({
      hosts: { tunnelOf: (host) => routes.find(host)?.token, isGated: routes.requiresLogin },
      visitors,
      keys,
      assertionKeys: assertionKeysOf(keys),
      now: () => clock.currentTimeMillisUnsafe(),
      onFault: report,
      onFailure: (error) => void log(Effect.logWarning("the control plane has not answered about a visitor", error))
    })
    yield* Effect.forkScoped(
      Effect.sync(() => gate.tend()).pipe(
        Effect.repeat(Schedule.spaced(checkEvery)),
        retryForever("ending the visits that are over")
      )
    )
    return gate
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(Layer.provide([ConnectionFaults.layer, Routes.layer]))
}
