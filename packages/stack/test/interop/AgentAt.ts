/** The agent's certificate at an authority of another maker: the look at it as `ct-agent` does it, and what `openssl` says of it. */
import type * as CertificateOptions from "@catenet/agent/internal/certificate/CertificateOptions"
import * as CertificateQueueClient from "@catenet/agent/internal/certificate/CertificateQueueClient"
import * as Certificates from "@catenet/agent/internal/certificate/Certificates"
import * as OutgoingHttp from "@catenet/agent/internal/onboard/OutgoingHttp"
import { TunnelHostname } from "@catenet/domain/values/Hostname"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import * as AcmePlane from "@catenet/testing/stack/acme/AcmePlane"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Clock, Effect, Layer, Schema } from "effect"
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"

export const host = AcmePlane.hostname

export interface Options extends Pick<CertificateOptions.Options, "methods" | "stateDir"> {
  readonly directory: string
  /** Whether the agent has it in its own settings, and the control plane assigns none. */
  readonly own?: boolean
  readonly hostname?: string
  /** By which the authority's HTTPS is trusted, PEM. */
  readonly roots: string
}

export const start = Effect.fn("AgentAt.start")(function* ({
  directory,
  hostname = host,
  methods,
  own,
  roots,
  stateDir
}: Options) {
  const clock = yield* Clock.Clock
  const { plane, url } = yield* AcmePlane.start(directory, () => clock.currentTimeMillisUnsafe())
  if (own === true) plane.mayIssue = false
  const folder = `${stateDir}/certificate`
  const chain = `${folder}/fullchain.pem`
  const look = Certificates.look({
    hostname: Schema.decodeSync(TunnelHostname)(hostname),
    token: Schema.decodeSync(RoutingToken)(AcmePlane.token),
    places: { folder, accountKey: `${folder}/acme-account-key.der` },
    stateDir,
    roots,
    methods,
    authority: own === true ? { directory, binding: undefined } : undefined,
    reload: undefined
  }).pipe(
    Effect.provide(CertificateQueueClient.CertificateQueueClient.layer(url).pipe(Layer.provide(OutgoingHttp.layer))),
    Effect.provide(NodeFileSystem.layer)
  )
  return {
    chain,
    look,
    plane,
    /** What `openssl verify` says of the chain and its name, by this root. */
    verified: (issuingRoot: string) => {
      const root = `${stateDir}/issuing-root.pem`
      writeFileSync(root, issuingRoot)
      const args = [
        "verify",
        "-CAfile",
        root,
        "-untrusted",
        chain,
        "-verify_hostname",
        hostname.replace("*", "any"),
        chain
      ]
      return execFileSync("openssl", args).toString()
    }
  }
})
