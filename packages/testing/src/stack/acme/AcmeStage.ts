/**
 * What an agent needs to order a certificate, on loopback: an authority that issues from a root of its own, a control plane
 * that admits one name, and a front door that answers validations from the agent's state folder.
 */
import type * as CertificateOptions from "@catenet/agent/internal/certificate/CertificateOptions"
import * as CertificateQueueClient from "@catenet/agent/internal/certificate/CertificateQueueClient"
import * as Challenges from "@catenet/agent/internal/certificate/Challenges"
import * as OutgoingHttp from "@catenet/agent/internal/onboard/OutgoingHttp"
import * as Certificate from "@catenet/crypto/x509/Certificate"
import { Hostname } from "@catenet/domain/values/Hostname"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Clock, Effect, Layer, Schema } from "effect"
import { generateKeyPairSync } from "node:crypto"
import type { AddressInfo } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import { listen } from "../../../../stack/src/acme/AcmeListener.ts"
import type { Reply } from "../../../../stack/src/acme/AcmeProblem.ts"
import { AcmeServer, type Options } from "../../../../stack/src/acme/AcmeServer.ts"
import * as DevelopmentAcme from "../../../../stack/src/acme/DevelopmentAcme.ts"
import { temporaryFolder } from "../../edge/TestEdge.ts"
import * as AcmePlane from "./AcmePlane.ts"

export const { hostname, token } = AcmePlane
const hour = 3_600_000

const root = (now: number) => {
  const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
  const validity = { from: now - hour, until: now + 365 * 24 * hour }
  return { key, commonName: "Stage root", root: Certificate.pem(Certificate.mintRoot("Stage root", key, validity)) }
}

/** Answers validations as a serving agent does, from what is pending in its folder. */
const startDoor = Effect.fnUntraced(function* (stateDir: string) {
  const server = createTlsServer({
    ALPNProtocols: ["acme-tls/1"],
    SNICallback: (name, done) =>
      void Effect.runFork(
        Challenges.pending(stateDir, name).pipe(
          Effect.map((context) => done(context === undefined ? new Error("no challenge") : null, context)),
          Effect.provide(NodeFileSystem.layer)
        )
      )
  })
  server.on("tlsClientError", () => {})
  yield* Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
  yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
  return (server.address() as AddressInfo).port
})

export type ServerOptions = Partial<Options>

/** Stands before the authority: it may answer by itself, change an answer, or see that one never arrives. */
export type Meddle = (
  request: { readonly method: string; readonly path: string; readonly body: string },
  /** What the authority answers, to the request or to another body. */
  honest: (body?: string) => Promise<Reply>
) => Promise<Reply>

/** Everything of it, for as long as the scope is open. */
export const start = Effect.fn("AcmeStage.start")(function* (
  options: ServerOptions & { readonly meddle?: Meddle } = {}
) {
  const { meddle = (_, honest) => honest(), ...changed } = options
  const stateDir = yield* temporaryFolder
  const clock = yield* Clock.Clock
  const now = clock.currentTimeMillisUnsafe()
  const issuer = root(now)
  const door = yield* startDoor(stateDir)
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
  const validity = { from: now - hour, until: now + 24 * hour }
  const validated: Array<string> = []
  const listening = yield* Effect.acquireRelease(
    Effect.promise(() =>
      listen({
        host: "127.0.0.1",
        port: 0,
        certificate: Certificate.pem(Certificate.mintLeaf(issuer.commonName, issuer.key, own, ["localhost"], validity)),
        key: own.export({ type: "pkcs8", format: "pem" }).toString(),
        servers: (port) => {
          const server = new AcmeServer({
            base: `https://localhost:${port}`,
            issuer,
            lifetimeMillis: 90 * 24 * hour,
            binding: undefined,
            methods: ["tls-alpn-01", "dns-01"],
            validate: (method, name, proof) => {
              validated.push(method)
              return method === "dns-01"
                ? DevelopmentAcme.byDns("127.0.0.1:9", name, proof)
                : DevelopmentAcme.byTls({ host: "127.0.0.1", port: door }, name, proof)
            },
            now: () => clock.currentTimeMillisUnsafe(),
            ...changed
          })
          return [
            {
              path: "",
              server: {
                answer: (method, path, body) =>
                  meddle({ method, path, body }, (instead) => server.answer(method, path, instead ?? body))
              }
            }
          ]
        }
      })
    ),
    ({ close }) => Effect.promise(close)
  )
  const { plane, url } = yield* AcmePlane.start(`https://localhost:${listening.port}/directory`, () =>
    clock.currentTimeMillisUnsafe()
  )
  const folder = `${stateDir}/certificate`
  const certificates: CertificateOptions.Options = {
    hostname: Hostname.make(hostname),
    token: Schema.decodeSync(RoutingToken)(token),
    places: { folder, accountKey: `${folder}/acme-account-key.der` },
    stateDir,
    roots: issuer.root,
    methods: ["tls-alpn-01", "dns-01"],
    authority: undefined,
    reload: undefined
  }
  const layer = Layer.merge(
    CertificateQueueClient.CertificateQueueClient.layer(url).pipe(Layer.provide(OutgoingHttp.layer)),
    NodeFileSystem.layer
  )
  return { certificates, folder, issuer, layer, plane, stateDir, url, validated }
})
