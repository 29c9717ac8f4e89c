/**
 * The ACME servers of a stack: two authorities that issue from its development root and validate at its front door. One of them
 * takes only accounts that are bound to one of the operator's, as public authorities do.
 */
import * as Certificate from "@catenet/crypto/x509/Certificate"
import { Redacted } from "effect"
import { generateKeyPairSync } from "node:crypto"
import { type Listening, listen } from "./AcmeListener.ts"
import { AcmeServer } from "./AcmeServer.ts"
import * as AcmeValidation from "./AcmeValidation.ts"
import type { DevelopmentRoot } from "./DevelopmentRoot.ts"
import { boundAccount, boundPath } from "./ExternalAccount.ts"

const day = 86_400_000

export interface Options extends AcmeValidation.FrontDoor {
  readonly listen: AcmeValidation.FrontDoor
  readonly root: DevelopmentRoot
  readonly lifetimeMillis: number
  /** HMAC key of the external account, base64url. */
  readonly bindingKey: Redacted.Redacted
  /** `host:port` of the name server that is asked for DNS-01; undefined for those of this system. */
  readonly nameServer: string | undefined
  readonly now: () => number
}

export const serve = ({
  bindingKey,
  host,
  lifetimeMillis,
  listen: at,
  nameServer,
  now,
  port,
  root
}: Options): Promise<Listening> => {
  const issuer = { commonName: root.commonName, root: root.pem, key: root.key }
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
  const validity = { from: now() - day, until: now() + 89 * day }
  const server = (base: string, binding: { readonly kid: string; readonly hmac: Uint8Array } | undefined) =>
    new AcmeServer({
      base,
      issuer,
      lifetimeMillis,
      binding,
      methods: ["tls-alpn-01", "dns-01"],
      validate: (method, name, proof) =>
        method === "dns-01"
          ? AcmeValidation.byDns(nameServer, name, proof)
          : AcmeValidation.byTls({ host, port }, name, proof),
      now
    })
  const hmac = Buffer.from(Redacted.value(bindingKey), "base64url")
  return listen({
    ...at,
    certificate: Certificate.pem(Certificate.mintLeaf(issuer.commonName, issuer.key, own, ["localhost"], validity)),
    key: own.export({ type: "pkcs8", format: "pem" }).toString(),
    servers: (bound) => [
      { path: boundPath, server: server(`https://localhost:${bound}${boundPath}`, { kid: boundAccount, hmac }) },
      { path: "", server: server(`https://localhost:${bound}`, undefined) }
    ]
  })
}
