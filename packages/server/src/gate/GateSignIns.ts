/**
 * Visitors sign in at the identity provider, for one gate, by a client of the gate's own where one is configured. Whom the
 * gate admits when they are back gets a session for that host.
 */
import type { SignInFailed, SignInRefused } from "@catenet/domain/identity/AuthenticationErrors"
import { GateNotConfigured, type HostNotGated, VisitorNotAllowed } from "@catenet/domain/tunnels/GateErrors"
import type { Hostname } from "@catenet/domain/values/Hostname"
import { Context, Effect, Layer, Option, type Redacted } from "effect"
import * as PendingSignIns from "../identity/PendingSignIns.ts"
import { SignIns } from "../identity/SignIns.ts"
import { Settings } from "../settings/Settings.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import type * as GateCodeStore from "../tunnels/GateCodeStore.ts"
import { GateSessions } from "../tunnels/GateSessions.ts"
import { GateStore } from "../tunnels/GateStore.ts"
import { Gate } from "./Gate.ts"

/** What a sign-in leads to. */
interface Aim {
  readonly host: Hostname
  readonly path: string
  readonly browser: string | null
}

export class GateSignIns extends Context.Service<
  GateSignIns,
  {
    readonly available: boolean
    /** Begins a sign-in that leads to a path of a gated host. Answers what the browser keeps and where it goes. */
    readonly begin: (
      aim: Aim,
      language: string
    ) => Effect.Effect<{ readonly secret: Redacted.Redacted; readonly url: URL }, GateNotConfigured | HostNotGated>
    /** Finishes a sign-in: the gate admits the visitor, or refuses. */
    readonly finish: (
      returned: PendingSignIns.Returned
    ) => Effect.Effect<
      Aim & { readonly visitor: GateCodeStore.Visitor },
      GateNotConfigured | HostNotGated | SignInFailed | SignInRefused | VisitorNotAllowed
    >
  }
>()("server/gate/GateSignIns") {
  static readonly make = Effect.gen(function* () {
    const store = yield* GateStore
    const gate = yield* Gate
    const sessions = yield* GateSessions
    const { forGate } = yield* SignIns
    const { gateCookieDomain, gateRedirectUri, portalBaseUrl } = yield* Settings
    const begun = yield* PendingSignIns.make(gateRedirectUri ?? new URL("/gate/callback", portalBaseUrl), {
      keep: store.begin,
      take: store.take
    })
    const available = gateCookieDomain === undefined ? Option.none() : forGate
    const provider = Effect.mapError(Effect.fromOption(available), () => new GateNotConfigured())

    return {
      available: Option.isSome(available),

      begin: Effect.fn("GateSignIns.begin")(function* (aim: Aim, language: string) {
        const asked = yield* provider
        yield* gate.of(aim.host)
        return yield* begun.begin(asked, aim, { prompt: "login", ui_locales: language })
      }, sqlOrDie),

      finish: Effect.fn("GateSignIns.finish")(function* (returned: PendingSignIns.Returned) {
        const { aim, person } = yield* begun.finish(yield* provider, returned)
        if (!(yield* gate.admits(yield* gate.of(aim.host), person.subject, person.email))) {
          return yield* new VisitorNotAllowed({ host: aim.host })
        }
        return { ...aim, visitor: yield* sessions.signedIn(person) }
      }, sqlOrDie)
    }
  })

  static readonly layer = Layer.effect(GateSignIns, GateSignIns.make).pipe(
    Layer.provide([Gate.layer, GateSessions.layer, GateStore.layer, SignIns.layer])
  )
}
