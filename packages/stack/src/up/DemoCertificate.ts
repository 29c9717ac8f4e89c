/**
 * Says to those who watch the terminal how the demo tunnel's name turns from gelb to gruen: each step of its agent's order until
 * the certificate is there.
 */
import { AcmeAdmission } from "@catenet/agent/certificate/AcmeAdmission"
import * as Progress from "@catenet/agent/certificate/Progress"
import * as Identity from "@catenet/agent/state/Identity"
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

export const words = (standing: CertificateStanding): string => {
  const { claim_deadline, status, step } = standing
  if (status === "gruen")
    return `${demoHostname} is gruen: its agent alone has the key of its certificate, and the edge passes TLS on unread.`
  const does = step === null ? undefined : Progress.doing[step]
  const waits =
    claim_deadline === null ? `The name ${Progress.waiting(standing)}` : "Its agent may order a certificate now"
  const stands = does === undefined ? waits : `A certificate of its own ${does}`
  return `${demoHostname} is ${status}: the edge ends TLS. ${stands}.`
}

/** Looks every second for as long as the scope lives, until the name is gruen. `say` gets the words whenever they are others. */
export const follow = Effect.fn("DemoCertificate.follow")(
  function* (settings: UpSettings, folder: StackFolder, say: (text: string) => Effect.Effect<void>) {
    const seed = yield* Effect.provide(Identity.seedIn(folder.demoAgent), NodeFileSystem.layer)
    const token = yield* readToken(TunnelFile.read(folder.demoTunnel)?.["CT_AGENT_TOKEN"])
    let said = ""
    const look = Effect.gen(function* () {
      const standing = yield* AcmeAdmission.use(({ standing }) =>
        standing({ token, hostname: Hostname.make(demoHostname) })
      )
      if (standing === undefined) return false
      const text = words(standing)
      if (text !== said) yield* say(text)
      said = text
      return standing.status === "gruen"
    })
    yield* look.pipe(
      Effect.repeat({ schedule: Schedule.spaced("1 second"), until: (isGruen) => isGruen }),
      Effect.provide(
        AcmeAdmission.layer(Environments.url(settings.controlPlane), seed).pipe(Layer.provide(OutgoingHttp.layer))
      ),
      Effect.forkScoped
    )
  },
  (following) => Effect.ignore(following)
)
