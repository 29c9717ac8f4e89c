/** `certificate`: orders or renews the certificate of the tunnel's host name once, or with `--watch` for as long as it runs. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect } from "effect"
import { AcmeAdmission } from "../certificate/AcmeAdmission.ts"
import * as CertificateLoop from "../certificate/CertificateLoop.ts"
import * as CertificateOptions from "../certificate/CertificateOptions.ts"
import type { Outcome } from "../certificate/CertificatePace.ts"
import * as Certificates from "../certificate/Certificates.ts"
import * as Progress from "../certificate/Progress.ts"
import { Refused, Unreachable } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as Environment from "../settings/Environment.ts"
import * as OwnAuthority from "../settings/OwnAuthority.ts"
import * as Variables from "../settings/Variables.ts"
import * as Identity from "../state/Identity.ts"
import { Screen } from "../terminal/Screen.ts"
import * as Signals from "../terminal/Signals.ts"

const date = (millis: number) => new Date(millis).toISOString()

/** The end of the command that looks once. */
const end = Effect.fnUntraced(function* (outcome: Outcome | undefined, folder: string) {
  const screen = yield* Screen
  if (outcome === undefined)
    return yield* new Refused({ detail: `Another process orders a certificate in ${folder}. Wait for it, or end it.` })
  switch (outcome._tag) {
    case "Waiting":
      return yield* new Refused({
        detail: `No certificate can be ordered yet: the name is ${outcome.status}; it ${outcome.words}. Run this again later.`
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
    const values = yield* Environment.read(yield* configFile, Variables.certificate, OwnAuthority.rules)
    const { certificateFolder: folder, hostname, stateDir, token } = values
    const options = yield* CertificateOptions.of(
      { ...values, folder, authority: OwnAuthority.of(values) },
      // Whether an agent serves this state folder is not known; DNS needs none.
      { token, hostname, stateDir, methods: ["dns-01", "tls-alpn-01"] }
    )
    const looking = Effect.gen(function* () {
      const said = { ...options, progress: yield* Progress.make(options, options.places) }
      yield* watch
        ? Effect.raceFirst(CertificateLoop.run(said), Signals.first)
        : Effect.flatMap(Certificates.look(said), (outcome) => end(outcome, folder))
    })
    yield* Effect.provide(looking, AcmeAdmission.layer(values.controlPlane, yield* Identity.seedIn(stateDir)))
  }).pipe(Effect.provide(NodeFileSystem.layer), Effect.provide(OutgoingHttp.layer))
