/**
 * Says to those who watch the terminal how the demo tunnel's name turns from gelb to gruen: each step of its agent's order until
 * the certificate is there.
 */
import * as CertificateProgress from "@catenet/agent/certificate/CertificateProgress"
import { CertificateQueueClient } from "@catenet/agent/certificate/CertificateQueueClient"
import * as AgentIdentity from "@catenet/agent/state/AgentIdentity"
import type { CertificateStanding } from "@catenet/domain/certificates/CertificateStanding"
import { Hostname } from "@catenet/domain/values/Hostname"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import * as OutgoingHttp from "@catenet/server/http/OutgoingHttp"
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
    return `${demoHostname} is gruen: its agent alone has the key of its certificate, and the edge passes TLS on unread.`
  const does = step === null ? undefined : CertificateProgress.doing[step]
  const waits =
    claim_deadline === null
      ? `The name ${CertificateProgress.waiting(standing)}`
      : "Its agent may order a certificate now"
  const stands = does === undefined ? waits : `A certificate of its own ${does}`
  return `${demoHostname} is ${status}: the edge ends TLS. ${stands}.`
}

/** Looks every second for as long as the scope lives, until the name is gruen. `say` gets the words whenever they are others. */
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
