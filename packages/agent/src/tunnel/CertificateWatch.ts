/**
 * Reports the agent's certificate status to the edges: among several agents of a tunnel, they send visitors to one that has a
 * certificate, and a validating CA to the one that placed the order.
 */
import { Scheduler } from "@catenet/platform/Scheduler"
import type { CertificateState } from "@catenet/wire/frames/MuxCertificate"
import { Effect, FileSystem, Semaphore } from "effect"
import type { SecureContext } from "node:tls"
import * as CertificateFolder from "../certificate/CertificateFolder.ts"
import * as CertificateOptions from "../certificate/CertificateOptions.ts"
import * as Challenges from "../certificate/Challenges.ts"
import type { Settings } from "../settings/Settings.ts"
import * as FileWatcher from "../state/FileWatcher.ts"
import type { CertificateReport } from "./CertificatePair.ts"

/** Whether this agent, or the origin behind it, has the host's certificate, and the files on which this depends. */
type Held = "held" | "none" | "unknown"

interface CertificateProbe {
  readonly certificate: Effect.Effect<Held, never, FileSystem.FileSystem>
  readonly files: ReadonlyArray<string>
}

const stateOf = (isHeld: boolean): Held => (isHeld ? "held" : "none")

/**
 * `pair` returns the one with which this agent terminates TLS; without it the origin may have the certificate that is ordered
 * here.
 */
export const of = (
  { certificate, origin }: Settings,
  pair: Effect.Effect<SecureContext | undefined> | undefined
): CertificateProbe => {
  const { terminate } = origin
  if (pair !== undefined && terminate !== undefined)
    return {
      certificate: Effect.map(pair, (context) => stateOf(context !== undefined)),
      files: [terminate.certificate, terminate.key]
    }
  if (certificate === undefined) return { certificate: Effect.succeed("unknown"), files: [] }
  const places = CertificateOptions.placesOf(certificate)
  const served = Effect.map(CertificateFolder.isServed(places), stateOf)
  return { certificate: Effect.orElseSucceed(served, () => "unknown"), files: CertificateFolder.filesOf(places) }
}

/** After a change of the files, which may be half of it; another process may order in this state folder. */
const looksAfterChange = 60
const soonMillis = 1_000
/** Not visible in files: that a challenge has expired. */
const seldomMillis = 30_000

interface Surroundings {
  readonly stateDir: string
  readonly host: string
  readonly report: CertificateReport
  readonly certificate: Effect.Effect<CertificateState["certificate"], never, FileSystem.FileSystem>
  /** Values that change the result of `certificate`. */
  readonly files: ReadonlyArray<string>
}

/**
 * The function to call after a change; files are also checked soon after a change, while the scope is open. By plain timers, since a
 * fiber for each service that waits is dear.
 */
export const make = Effect.fnUntraced(function* (surroundings: Surroundings) {
  const { certificate, files, host, report, stateDir } = surroundings
  const fs = yield* FileSystem.FileSystem
  const one = yield* Semaphore.make(1)
  let isOffered = false
  const look = Effect.gen(function* () {
    isOffered = yield* Challenges.isOffered(stateDir, host)
    yield* report.report({ certificate: yield* certificate, order: isOffered ? "open" : "none" })
  }).pipe(one.withPermits(1), Effect.provideService(FileSystem.FileSystem, fs))
  let left = 0
  let timer: ReturnType<typeof Scheduler.setTimeout> | undefined
  const rest = () => {
    Scheduler.clearTimeout(timer)
    if (left === 0 && !isOffered) return
    timer = Scheduler.setTimeout(again, left > 0 ? soonMillis : seldomMillis)
    left = Math.max(left - 1, 0)
  }
  yield* Effect.addFinalizer(() => Effect.sync(() => Scheduler.clearTimeout(timer)))
  const scope = yield* Effect.scope
  const run = Effect.runForkWith(yield* Effect.context())
  const looked = Effect.ensuring(look, Effect.sync(rest))
  const again = () => void run(Effect.forkIn(looked, scope))
  yield* FileWatcher.watch([Challenges.pathOf(stateDir, host), ...files], () => {
    left = looksAfterChange
    again()
  })
  yield* looked
  return looked
})
