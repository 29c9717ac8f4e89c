/**
 * The agent as a library for Effect programs: `forward` gives a local service a public address while a scope is open, `serve` a
 * handler of the program itself; `layer` serves a tunnel whose tokens the program has. Neither installs signal handlers or writes to the terminal; logs go to the
 * program's loggers. `promise.ts` offers the first two as promises.
 */
import type { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { ConfigProvider, Deferred, Effect, Fiber, Layer, Redacted, Schedule, type Scope } from "effect"
import type { RequestListener } from "node:http"
import { homedir } from "node:os"
import { join } from "node:path"
import * as Exposure from "./account/Exposure.ts"
import type { Refused, StateUnusable, Unreachable, UsageWrong } from "./Failure.ts"
import { AgentMetrics } from "./observe/AgentMetrics.ts"
import * as OutgoingHttp from "./onboard/OutgoingHttp.ts"
import * as HandlerSocket from "./serve/HandlerSocket.ts"
import * as TunnelService from "./serve/TunnelService.ts"
import type { BearerSource } from "./settings/LoginVariables.ts"
import * as Settings from "./settings/Settings.ts"

/**
 * The account that owns the tunnels. `token` is an access token of the identity provider, `tokenFile` a file with one that is
 * read at every use. Without either, the login stored by `ct-agent login` is used.
 */
export interface Credentials {
  readonly token?: string | Redacted.Redacted | undefined
  readonly tokenFile?: string | undefined
}

export interface ForwardOptions {
  /** The local service: a port of this machine, `host:port`, or an address such as `https://host:port` or `unix:/path`. */
  readonly to: number | string
  /** Base URL of the control plane. */
  readonly controlPlane: string
  readonly credentials?: Credentials | undefined
  /** Name of the tunnel, which is reused or created; by default one for each machine and port. */
  readonly name?: string | undefined
  /** Folder of keys and tokens, mode 0700; by default `~/.ct-agent`. */
  readonly stateDir?: string | undefined
}

/** `UsageWrong`: an option cannot be used. `Refused`: asking again does not help. `Unreachable`: it may. */
export type ForwardError = UsageWrong | ConfigurationInvalid | Refused | Unreachable | StateUnusable

export interface Forwarding {
  /** Public address of the service. */
  readonly url: string
  readonly hostname: string
  /** Fails when the agent gives up; never succeeds. Reconnecting does not end it. */
  readonly ended: Effect.Effect<never, ForwardError>
}

const sourceOf = ({ token, tokenFile }: Credentials, stateDir: string | undefined): BearerSource => ({
  token: typeof token === "string" ? Redacted.make(token) : token,
  tokenFile,
  stored: join(stateDir ?? join(homedir(), ".ct-agent"), "oidc-token.json")
})

const registered = Effect.flatMap(AgentMetrics, ({ session }) =>
  Effect.repeat(
    Effect.sync(() => session.live > 0),
    { schedule: Schedule.spaced("50 millis"), until: (isLive) => isLive }
  )
)

const platform = Layer.mergeAll(NodeFileSystem.layer, OutgoingHttp.layerForLists)

/**
 * Gives a local service a public HTTPS address, and succeeds once visitors can reach the edge by it. The agent serves until the
 * scope closes; it then finishes open requests, for at most ten seconds. Tunnel and name are kept for the next time.
 */
export const forward: (options: ForwardOptions) => Effect.Effect<Forwarding, ForwardError, Scope.Scope> = Effect.fn(
  "Agent.forward"
)(function* ({ controlPlane, credentials = {}, name, stateDir, to }) {
  const exposure: Exposure.Exposure = {
    account: { controlPlane: controlPlane.replace(/\/+$/u, ""), source: sourceOf(credentials, stateDir) },
    origin: yield* Exposure.originOf(String(to)),
    name,
    stateDir,
    variables: {}
  }
  const ready = yield* Deferred.make<Omit<Forwarding, "ended">, ForwardError>()
  const serving = Effect.provide(
    Exposure.serve(exposure, ({ hostname, url }) =>
      Effect.andThen(registered, Effect.asVoid(Deferred.succeed(ready, { url, hostname: hostname ?? "" })))
    ),
    platform
  )
  const fiber = yield* serving.pipe(
    Effect.onExit((exit) => (exit._tag === "Failure" ? Deferred.failCause(ready, exit.cause) : Effect.void)),
    Effect.scoped,
    Effect.forkScoped
  )
  return { ...(yield* Deferred.await(ready)), ended: Effect.andThen(Fiber.join(fiber), Effect.never) }
})

export type ServeOptions = Omit<ForwardOptions, "to">

interface Serve {
  (
    handler: (request: Request) => Response | Promise<Response>,
    options: ServeOptions
  ): Effect.Effect<Forwarding, ForwardError, Scope.Scope>
  (handler: RequestListener, options: ServeOptions): Effect.Effect<Forwarding, ForwardError, Scope.Scope>
  <E, R>(
    handler: HandlerSocket.Handler<E, R>,
    options: ServeOptions
  ): Effect.Effect<Forwarding, ForwardError, HandlerSocket.Needs<R> | Scope.Scope>
}

/**
 * Answers the visitors of a public HTTPS address with a handler of this program, which listens at no port. A function of two or
 * more parameters is a request listener of Node, one of a single parameter takes a `Request` and returns a `Response`. Otherwise
 * as `forward`; by default all programs of a machine share one tunnel name, so give each a `name`.
 */
export const serve: Serve = <E, R>(handler: HandlerSocket.Handler<E, R>, options: ServeOptions) =>
  HandlerSocket.open(handler).pipe(
    Effect.provide(platform),
    Effect.flatMap((to) => forward({ ...options, to })),
    Effect.withSpan("Agent.serve")
  )

/**
 * Serves a tunnel while the layer is in use. `variables` are those of the agent's guide (`CT_AGENT_CP_URL`, `CT_AGENT_HOSTNAME`,
 * `CT_AGENT_TOKEN` ...); nothing is read from the environment. The layer is built once the tunnel is registered.
 */
export const layer = (variables: Readonly<Record<string, string>>): Layer.Layer<never, ForwardError> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const settings = yield* Settings.readFrom(ConfigProvider.fromUnknown(variables))
      const ready = yield* Deferred.make<void, ForwardError>()
      const beside = Effect.andThen(registered, Effect.asVoid(Deferred.succeed(ready, undefined)))
      yield* Effect.scoped(TunnelService.serve(settings, { mustEnroll: false, beside })).pipe(
        Effect.provide(TunnelService.services(settings).pipe(Layer.provideMerge(AgentMetrics.layer))),
        Effect.onExit((exit) => (exit._tag === "Failure" ? Deferred.failCause(ready, exit.cause) : Effect.void)),
        Effect.tapCause((cause) => Effect.logError("the tunnel is no longer served", cause)),
        Effect.forkScoped
      )
      yield* Deferred.await(ready)
    })
  ).pipe(Layer.provide(platform))
