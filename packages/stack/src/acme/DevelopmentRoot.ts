/** The root that the development authorities issue from, read before anything listens: what is wrong with it is a sentence. */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Files } from "@catenet/platform/Files"
import { Clock, Effect } from "effect"
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto"

export interface DevelopmentRoot {
  readonly pem: string
  readonly commonName: string
  readonly key: KeyObject
}

const variables = { certificate: "CT_ACME_SERVER_ROOT", key: "CT_ACME_SERVER_ROOT_KEY" } as const

const contentOf = (variable: string, path: string) =>
  Effect.tryPromise({
    try: () => Files.readFile(path, "utf8"),
    catch: (error) =>
      ConfigurationInvalid.of(
        variable,
        `names ${path}, which cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`,
        "correct the path, or make the file readable for this user"
      )
  })

/** The certificate and its key out of their files: PEM, of one pair, and valid now. */
export const read = Effect.fn("DevelopmentRoot.read")(function* (certificatePath: string, keyPath: string) {
  const pem = yield* contentOf(variables.certificate, certificatePath)
  const certificate = yield* Effect.try({
    try: () => new X509Certificate(pem),
    catch: () =>
      ConfigurationInvalid.of(
        variables.certificate,
        `names ${certificatePath}, which holds no certificate`,
        "name the PEM file of a root certificate"
      )
  })
  const keyText = yield* contentOf(variables.key, keyPath)
  const key = yield* Effect.try({
    try: () => createPrivateKey(keyText),
    catch: () =>
      ConfigurationInvalid.of(
        variables.key,
        `names ${keyPath}, which holds no private key`,
        "name the PEM file of the root's key, without a passphrase"
      )
  })
  if (!certificate.checkPrivateKey(key))
    return yield* ConfigurationInvalid.of(
      variables.key,
      `names ${keyPath}, which is not the key of ${certificatePath}`,
      "name the key of that certificate"
    )
  if (Date.parse(certificate.validTo) <= (yield* Clock.currentTimeMillis))
    return yield* ConfigurationInvalid.of(
      variables.certificate,
      `names ${certificatePath}, which ended on ${certificate.validTo}`,
      "make a new root and name it"
    )
  return { pem, commonName: certificate.subject.replace(/^CN=/, ""), key } satisfies DevelopmentRoot
})
