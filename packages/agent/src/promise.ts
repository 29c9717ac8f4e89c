/** `Agent.forward` and `Agent.serve` for programs without Effect: promises, an `AbortSignal` and `await using`. */
import { Cause, Effect, Exit, Scope } from "effect"
import type { RequestListener } from "node:http"
import * as Agent from "./Agent.ts"
import type * as HandlerSocket from "./serve/HandlerSocket.ts"

export type { Credentials } from "./Agent.ts"

export interface ForwardOptions extends Agent.ForwardOptions {
  /** Cancels the attempt, or stops serving. */
  readonly signal?: AbortSignal | undefined
}

export interface Forwarding extends AsyncDisposable {
  /** Public address of the service. */
  readonly url: string
  readonly hostname: string
  /** Rejects when the agent gives up; resolves when it was stopped. */
  readonly ended: Promise<void>
  /** Finishes open requests, for at most ten seconds. */
  readonly close: () => Promise<void>
}

const opened = async (
  serving: Effect.Effect<Agent.Forwarding, Agent.ForwardError, Scope.Scope>,
  signal: AbortSignal | undefined
): Promise<Forwarding> => {
  signal?.throwIfAborted()
  const scope = await Effect.runPromise(Scope.make())
  let closing: Promise<void> | undefined
  const close = () => (closing ??= Effect.runPromise(Scope.close(scope, Exit.void)))
  const opened = await Effect.runPromiseExit(Scope.provide(serving, scope), signal ? { signal } : undefined)
  if (Exit.isFailure(opened)) {
    await close()
    signal?.throwIfAborted()
    throw Cause.squash(opened.cause)
  }
  signal?.addEventListener("abort", () => void close(), { once: true })
  const { ended, hostname, url } = opened.value
  const over = Effect.runPromiseExit(ended).then((exit) => {
    if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) throw Cause.squash(exit.cause)
  })
  // A program that does not await it must not end because of it.
  over.catch(() => {})
  return { url, hostname, ended: over, close, [Symbol.asyncDispose]: close }
}

/**
 * Gives a local service a public HTTPS address.
 *
 * ```ts
 * await using tunnel = await forward({ to: 3000, controlPlane: "https://portal.example.net", credentials: { token } })
 * console.log(tunnel.url)
 * ```
 */
export const forward = ({ signal, ...options }: ForwardOptions): Promise<Forwarding> =>
  opened(Agent.forward(options), signal)

export interface ServeOptions extends Agent.ServeOptions {
  /** Cancels the attempt, or stops serving. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Answers the visitors of a public HTTPS address with this handler; the program listens at no port. A function of two or more
 * parameters is a request listener of Node.
 *
 * ```ts
 * await using tunnel = await serve((request) => new Response(`hello, ${request.url}`), { controlPlane, name: "hello" })
 * ```
 */
export const serve: {
  (handler: (request: Request) => Response | Promise<Response>, options: ServeOptions): Promise<Forwarding>
  (handler: RequestListener, options: ServeOptions): Promise<Forwarding>
} = (
  handler: HandlerSocket.FetchHandler | RequestListener,
  { signal, ...options }: ServeOptions
): Promise<Forwarding> => opened(Agent.serve(handler, options), signal)
