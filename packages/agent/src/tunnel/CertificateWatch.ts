/**
 * Looks what this agent has of the certificate of its host, and says it to the edges: with several agents of one tunnel they give
 * visitors to those that have one, and an authority that validates the name to the one whose order it is.
 */
import type { CertificateState } from "@catenet/wire/frames/MuxCertificate"
import { Effect, FileSystem, Schedule, Semaphore } from "effect"
import * as Challenges from "../certificate/Challenges.ts"
import type { CertificateReport } from "./CertificateReport.ts"

/** Another process may order in this state folder, and its files may be lost. */
const lookEvery = "1 second"

interface Surroundings {
  readonly stateDir: string
  readonly host: string
  readonly report: CertificateReport
  readonly certificate: Effect.Effect<CertificateState["certificate"], never, FileSystem.FileSystem>
}

/** The look to be taken when something has changed; one is taken every second besides, for as long as the scope lives. */
export const make = Effect.fn("CertificateWatch.make")(function* (surroundings: Surroundings) {
  const { certificate, host, report, stateDir } = surroundings
  const fs = yield* FileSystem.FileSystem
  const one = yield* Semaphore.make(1)
  const look = Effect.gen(function* () {
    const isOffered = yield* Challenges.isOffered(stateDir, host)
    yield* report.say({ certificate: yield* certificate, order: isOffered ? "open" : "none" })
  }).pipe(one.withPermits(1), Effect.provideService(FileSystem.FileSystem, fs))
  yield* look
  yield* Effect.forkScoped(Effect.repeat(look, Schedule.spaced(lookEvery)))
  return look
})
