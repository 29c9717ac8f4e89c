/**
 * Prints the progress of the demo tunnel's certificate: each step of its agent's order until it is issued.
 */
import * as CertificateProgress from "@catenet/agent/internal/certificate/CertificateProgress"
import { CertificateQueueClient } from "@catenet/agent/internal/certificate/CertificateQueueClient"
import * as AgentIdentity from "@catenet/agent/internal/state/AgentIdentity"
import type { CertificateStanding } from "@catenet/domain/certificates/CertificateStanding"
import { Hostname } from "@catenet/domain/values/Hostname"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import * as OutgoingHttp from "@catenet/server/internal/http/OutgoingHttp"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Layer, Schedule, Schema } from "effect"
import { demoHostname } from "./Demo.ts"
import * as Environments from "./Environments.ts"
import type { UpSettings } from "./Settings.ts"
import type { StackFolder } from "./StackFolder.ts"
import * as TunnelFile from "./TunnelFile.ts"

const readToken = Schema.decodeUnknownEffect(RoutingToken)

export const progressText = (standing: CertificateStanding): string => {
  const { claim_deadline, status, step } = standing
  if (status === "gruen")
    return `${demoHostname} is end-to-end (gruen): only its agent has the key of its certificate, and the edge passes TLS through.`
  const does = step === null ? undefined : CertificateProgress.doing[step]
  const waits =
    claim_deadline === null
      ? `The name ${CertificateProgress.waiting(standing)}`
      : "Its agent may order a certificate now"
  const stands = does === undefined ? waits : `A certificate of its own ${does}`
  return `${demoHostname} is ${CertificateProgress.tierText(status)}: the edge terminates TLS. ${stands}.`
}

/** Polls every second while the scope is open, until the name is end-to-end (gruen). `report` is called when the text changes. */
export const follow = Effect.fn("DemoCertificate.follow")(
  function* (settings: UpSettings, folder: StackFolder, report: (text: string) => Effect.Effect<void>) {
    const seed = yield* Effect.provide(AgentIdentity.seedIn(folder.demoAgent), NodeFileSystem.layer)
    const token = yield* readToken(TunnelFile.read(folder.demoTunnel)?.["CT_AGENT_TOKEN"])
    let last = ""
    const look = Effect.gen(function* () {
      const standing = yield* CertificateQueueClient.use(({ standing }) =>
        standing({ token, hostname: Hostname.make(demoHostname) })
      )
      if (standing === undefined) return false
      const text = progressText(standing)
      if (text !== last) yield* report(text)
      last = text
      return standing.status === "gruen"
    })
    yield* look.pipe(
      Effect.repeat({ schedule: Schedule.spaced("1 second"), until: (isGruen) => isGruen }),
      Effect.provide(
        CertificateQueueClient.layer(Environments.url(settings.controlPlane), seed).pipe(
          Layer.provide(OutgoingHttp.layer)
        )
      ),
      Effect.forkScoped
    )
  },
  (following) => Effect.ignore(following)
)
