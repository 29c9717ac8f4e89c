/**
 * The end of a child process, waited for, described and enforced. Programs are started by `Processes`: `effect/process` gives their
 * pipes as streams, while the callers hand the pipes themselves to a protocol, pass further descriptors, or start a group.
 */
import { type Duration, Effect } from "effect"
import type { ChildProcess } from "node:child_process"

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

/** How a process ended, as a part of a sentence. */
export const describeEnd = ({ code, signal }: Ended): string =>
  signal === null ? `exit code ${code}` : `signal ${signal}`

/** Returns when the process has ended, also if that is long ago; its pipes may still be open. */
export const awaitEnd = (child: ChildProcess): Effect.Effect<Ended> =>
  Effect.callback((resume) => {
    const done = () => resume(Effect.succeed({ code: child.exitCode, signal: child.signalCode }))
    if (hasEnded(child)) return done()
    child.once("exit", done)
    return Effect.sync(() => void child.off("exit", done))
  })

/** Asks the process to end and waits for it; one that has not ended in time gets `force`, and is waited for again. */
export const end = (
  child: ChildProcess,
  {
    ask,
    force = "SIGKILL",
    within
  }: {
    readonly ask: () => void
    readonly within: Duration.Input
    readonly force?: NodeJS.Signals
  }
): Effect.Effect<void> =>
  Effect.suspend(() => {
    // Nothing ends a process that was never started.
    if (hasEnded(child) || child.pid === undefined) return Effect.void
    ask()
    return awaitEnd(child).pipe(
      Effect.timeoutOrElse({
        duration: within,
        orElse: () =>
          Effect.andThen(
            Effect.sync(() => child.kill(force)),
            awaitEnd(child)
          )
      }),
      Effect.asVoid
    )
  })

/** Sends a signal to every process of the group that a detached child leads. The group may be gone already. */
export const signalGroup = ({ pid }: { readonly pid?: number | undefined }, signal: NodeJS.Signals): void => {
  if (pid === undefined) return
  try {
    // A negative id is that of a group.
    process.kill(-pid, signal)
  } catch {
    // There is no such group any more.
  }
}
