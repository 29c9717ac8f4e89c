/** `Agent.forward` for programs without Effect: a promise, an `AbortSignal` and `await using`. */
import { Cause, Effect, Exit, Scope } from "effect"
import * as Agent from "./Agent.ts"

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

/**
 * Gives a local service a public HTTPS address.
 *
 * ```ts
 * await using tunnel = await forward({ to: 3000, controlPlane: "https://portal.example.net", credentials: { token } })
 * console.log(tunnel.url)
 * ```
 */
export const forward = async ({ signal, ...options }: ForwardOptions): Promise<Forwarding> => {
  signal?.throwIfAborted()
  const scope = await Effect.runPromise(Scope.make())
  let closing: Promise<void> | undefined
  const close = () => (closing ??= Effect.runPromise(Scope.close(scope, Exit.void)))
  const opened = await Effect.runPromiseExit(
    Scope.provide(Agent.forward(options), scope),
    signal ? { signal } : undefined
  )
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
