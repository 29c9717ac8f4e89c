/**
 * Additional links to an edge with several processes, one for each. The kernel there assigns connections to any process, so the
 * agent connects repeatedly, ever more rarely, until it is linked with each; duplicates are closed. The links save a hop between
 * processes and are optional.
 */
import type { EdgeProcess } from "@catenet/wire/frames/MuxHello"
import { Effect, Exit, FiberHandle, Queue, Scope } from "effect"
import type { AgentMetrics } from "../observe/AgentMetrics.ts"
import { ConnectionInfo } from "../onboard/ConnectionInfo.ts"
import { parseHostPort } from "../settings/HostPort.ts"
import { additionalLink } from "./EdgeConnection.ts"
import { discard, type EdgeLink } from "./EdgeLink.ts"
import type { Serve } from "./MuxSession.ts"
import type { Registration } from "./Registration.ts"

const triesPerProcess = 4
/** Pause between attempts, so that a thousand agents that reconnect together do not open several thousand connections. */
const pause = "100 millis"
/** Milliseconds between two rounds of tries, growing; a process that has ended is being started. */
const firstRestMillis = 500
const longestRestMillis = 300_000

const keyOf = ({ edge, process }: EdgeProcess) => `${Buffer.from(edge).toString("hex")} ${process}`
const isSame = (a: EdgeProcess, b: EdgeProcess) => Buffer.from(a.edge).equals(b.edge)

interface Held {
  readonly link: EdgeLink
  readonly edgeProcess: EdgeProcess
  readonly scope: Scope.Closeable
}

export interface MultiProcessLinks {
  /** The agent is registered by this link; `undefined` when it no longer is. */
  readonly follow: (first: EdgeLink | undefined) => Effect.Effect<void, never, AgentMetrics>
  readonly links: () => ReadonlyArray<EdgeLink>
}

export const make = Effect.fnUntraced(function* (registration: Registration, serve: Serve) {
  const outer = yield* Effect.scope
  const connecting = yield* FiberHandle.make<never>()
  const lost = yield* Queue.sliding<undefined>(1)
  const info = yield* ConnectionInfo
  const held = new Map<string, Held>()
  let first: { readonly link: EdgeLink; readonly edgeProcess: EdgeProcess } | undefined

  const letGo = (key: string, one: Held) =>
    Effect.suspend(() => {
      if (held.get(key) === one) held.delete(key)
      return discard(one.link, one.scope)
    })

  const isWanted = (edgeProcess: EdgeProcess | undefined) =>
    first !== undefined &&
    edgeProcess !== undefined &&
    isSame(edgeProcess, first.edgeProcess) &&
    edgeProcess.process !== first.edgeProcess.process &&
    !held.has(keyOf(edgeProcess))

  const tryOnce = Effect.fnUntraced(function* (edge: string) {
    const address = parseHostPort(edge)
    if (address === undefined) return
    const scope = yield* Scope.fork(outer)
    const link = yield* additionalLink(info, edge, address, registration, serve, isWanted).pipe(
      Scope.provide(scope),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
    const { edgeProcess } = link
    if (edgeProcess === undefined) return yield* Scope.close(scope, Exit.void)
    const key = keyOf(edgeProcess)
    const one = { link, edgeProcess, scope }
    const another = held.get(key)
    held.set(key, one)
    if (another !== undefined) yield* Effect.forkIn(letGo(key, another), outer)
    const ended = Effect.andThen(link.ended, Effect.andThen(letGo(key, one), Queue.offer(lost, undefined)))
    yield* Effect.forkIn(ended, outer)
  })

  /** Never ends: tries to link with the missing processes in rounds, ever more rarely, and soon again after a link has ended. */
  const connectMissing = Effect.fnUntraced(function* (edge: string, edgeProcess: EdgeProcess) {
    const missing = () => held.size < edgeProcess.processes - 1
    let rest = firstRestMillis
    for (;;) {
      for (let tries = triesPerProcess * edgeProcess.processes; tries > 0 && missing(); tries--) {
        yield* Effect.sleep(pause)
        yield* Effect.ignore(tryOnce(edge))
      }
      yield* Effect.logDebug(`connected to ${held.size + 1} of the edge's ${edgeProcess.processes} processes`)
      const found = !missing()
      if (found) yield* Queue.take(lost)
      yield* Queue.clear(lost)
      rest = found ? firstRestMillis : Math.min(rest * 2, longestRestMillis)
      yield* Effect.raceFirst(Effect.sleep(rest), Effect.andThen(Queue.take(lost), Effect.sleep(firstRestMillis)))
    }
  })

  const result: MultiProcessLinks = {
    links: () => Array.from(held.values(), ({ link }) => link),
    follow: Effect.fnUntraced(function* (link) {
      yield* FiberHandle.clear(connecting)
      const edgeProcess = link?.edgeProcess
      first = link === undefined || edgeProcess === undefined ? undefined : { link, edgeProcess }
      if (link === undefined) return
      for (const [key, one] of Array.from(held))
        if (
          edgeProcess === undefined ||
          !isSame(one.edgeProcess, edgeProcess) ||
          one.edgeProcess.process === edgeProcess.process
        )
          yield* Effect.forkIn(letGo(key, one), outer)
      if (edgeProcess !== undefined && edgeProcess.processes > 1)
        yield* FiberHandle.run(connecting, connectMissing(link.edge, edgeProcess))
    })
  }
  return result
})
