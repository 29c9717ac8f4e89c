/**
 * Looks what this agent has of the certificate of its host, and says it to the edges: with several agents of one tunnel they give
 * visitors to those that have one, and an authority that validates the name to the one whose order it is.
 */
import type { CertificateState } from "@catenet/wire/frames/MuxCertificate"
import { Effect, FileSystem, Semaphore } from "effect"
import type { SecureContext } from "node:tls"
import * as CertificateFolder from "../certificate/CertificateFolder.ts"
import * as CertificateOptions from "../certificate/CertificateOptions.ts"
import * as Challenges from "../certificate/Challenges.ts"
import type { Settings } from "../settings/Settings.ts"
import * as FileWatcher from "../state/FileWatcher.ts"
import type { CertificateReport } from "./CertificatePair.ts"

/** Whether this agent, or the origin behind it, has the certificate of the host, and by which files that changes. */
type Held = "held" | "none" | "unknown"

interface CertificateProbe {
  readonly certificate: Effect.Effect<Held, never, FileSystem.FileSystem>
  readonly files: ReadonlyArray<string>
}

const stateOf = (isHeld: boolean): Held => (isHeld ? "held" : "none")

/** `pair` gives the one with which this agent ends TLS; without it the origin may have the certificate that is ordered here. */
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
const soon = "1 second"
/** What no file shows: that a challenge has become old. */
const seldom = "30 seconds"

interface Surroundings {
  readonly stateDir: string
  readonly host: string
  readonly report: CertificateReport
  readonly certificate: Effect.Effect<CertificateState["certificate"], never, FileSystem.FileSystem>
  /** By which the answer of `certificate` changes. */
  readonly files: ReadonlyArray<string>
}

/** The look to be taken when something has changed; one is taken within a second of a change of the files besides, for as long as the scope lives. */
export const make = Effect.fn("CertificateWatch.make")(function* (surroundings: Surroundings) {
  const { certificate, files, host, report, stateDir } = surroundings
  const fs = yield* FileSystem.FileSystem
  const one = yield* Semaphore.make(1)
  const look = Effect.gen(function* () {
    const isOffered = yield* Challenges.isOffered(stateDir, host)
    yield* report.report({ certificate: yield* certificate, order: isOffered ? "open" : "none" })
  }).pipe(one.withPermits(1), Effect.provideService(FileSystem.FileSystem, fs))
  const change = yield* FileWatcher.make([Challenges.pathOf(stateDir, host), ...files])
  yield* look
  let left = 0
  const changed = Effect.map(change, () => looksAfterChange)
  const again = Effect.suspend(() =>
    Effect.raceFirst(changed, Effect.as(Effect.sleep(left > 0 ? soon : seldom), Math.max(left - 1, 0)))
  )
  const looks = Effect.flatMap(again, (next) => {
    left = next
    return look
  })
  yield* Effect.forkScoped(Effect.forever(looks))
  return look
})
