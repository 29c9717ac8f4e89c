/** `certificate`: orders or renews the tunnel's certificate once, or continuously with `--watch`. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect } from "effect"
import * as CertificateLoop from "../certificate/CertificateLoop.ts"
import * as CertificateOptions from "../certificate/CertificateOptions.ts"
import * as CertificateProgress from "../certificate/CertificateProgress.ts"
import { CertificateQueueClient } from "../certificate/CertificateQueueClient.ts"
import * as Certificates from "../certificate/Certificates.ts"
import type { Outcome } from "../certificate/RenewalSchedule.ts"
import { Refused, Unreachable } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as CustomCa from "../settings/CustomCa.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import * as Variables from "../settings/Variables.ts"
import * as AgentIdentity from "../state/AgentIdentity.ts"
import { Screen } from "../terminal/Screen.ts"
import * as Signals from "../terminal/Signals.ts"

const date = (millis: number) => new Date(millis).toISOString()

/** How the one-time command ends. */
const end = Effect.fnUntraced(function* (outcome: Outcome | undefined, folder: string) {
  const screen = yield* Screen
  if (outcome === undefined)
    return yield* new Refused({ detail: `Another process orders a certificate in ${folder}. Wait for it, or end it.` })
  switch (outcome._tag) {
    case "Waiting":
      return yield* new Refused({
        detail: `No certificate can be ordered yet: the name is ${CertificateProgress.tierText(outcome.status)}; it ${outcome.note}. Run this again later.`
      })
    case "Failed":
      return yield* outcome.isUnreachable
        ? new Unreachable({ detail: outcome.sentence })
        : new Refused({ detail: outcome.sentence })
    case "Current":
      return screen.result(`The certificate in ${folder} is not due: it is renewed from ${date(outcome.dueAt)} on.`)
    case "Issued":
      return screen.result(`The certificate is in ${folder}; it is renewed from ${date(outcome.dueAt)} on.`)
  }
})

export const certificate = ({ watch }: { readonly watch: boolean }) =>
  Effect.gen(function* () {
    const values = yield* EnvironmentFile.read(yield* configFile, Variables.certificate, CustomCa.rules)
    const { certificateFolder: folder, hostname, stateDir, token } = values
    const options = yield* CertificateOptions.of(
      { ...values, folder, authority: CustomCa.of(values) },
      // It is unknown whether an agent serves this state folder; DNS proofs do not need one.
      { token, hostname, stateDir, methods: ["dns-01", "tls-alpn-01"] }
    )
    const looking = Effect.gen(function* () {
      const reporting = { ...options, progress: yield* CertificateProgress.make(options, options.places) }
      yield* watch
        ? Effect.raceFirst(CertificateLoop.run(reporting), Signals.first)
        : Effect.flatMap(Certificates.look(reporting), (outcome) => end(outcome, folder))
    })
    yield* Effect.provide(
      looking,
      CertificateQueueClient.layer(values.controlPlane, yield* AgentIdentity.seedIn(stateDir))
    )
  }).pipe(Effect.provide(NodeFileSystem.layer), Effect.provide(OutgoingHttp.layer))
