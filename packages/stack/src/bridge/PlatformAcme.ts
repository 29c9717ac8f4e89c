/** The ACME client of the agent, as the one with which the control plane orders certificates of the platform itself. */
import * as CertificateId from "@catenet/crypto/x509/CertificateId"
import { Entropy } from "@catenet/platform/Entropy"
import {
  type AcmeClient,
  CertificateOrders,
  OrderFailed
} from "@catenet/server/internal/certificates/CertificateOrders"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Layer, Option } from "effect"
import { createPrivateKey, X509Certificate } from "node:crypto"

const parts = Effect.promise(() =>
  Promise.all([
    import("@catenet/agent/internal/certificate/AcmeAccount"),
    import("@catenet/agent/internal/certificate/AcmeOrder"),
    import("@catenet/agent/internal/certificate/AcmeTransport"),
    import("@catenet/agent/internal/certificate/AcmeFailed"),
    import("@catenet/agent/internal/certificate/Certificates")
  ])
)

const order: AcmeClient["order"] = Effect.fn("PlatformAcme.order")(
  function* ({ account, host, method, prove, replaces }) {
    const [AcmeAccount, AcmeOrder, AcmeTransport, { AcmeFailed }] = yield* parts
    const { binding, directory, roots, url } = account
    const transport = AcmeTransport.make(directory, roots)
    const key = createPrivateKey(account.key)
    const at = { directory, key, binding }
    const place = Effect.fnUntraced(function* (known: string | undefined) {
      const acme = yield* AcmeAccount.open(transport, { ...at, known })
      const id =
        replaces === undefined
          ? undefined
          : Option.getOrUndefined(CertificateId.certificateId(new X509Certificate(replaces).raw))
      const placed = yield* Effect.catchIf(
        AcmeOrder.place(acme, host, id),
        ({ type }) => type === "alreadyReplaced",
        () => AcmeOrder.place(acme, host, undefined)
      )
      return { acme, placed }
    })
    const { acme, placed } = yield* Effect.catchIf(
      place(url),
      ({ type }) => type === "accountDoesNotExist",
      () => place(undefined)
    )
    const own = Entropy.newEcKey()
    const chain = yield* AcmeOrder.fulfil(acme, placed, host, own, method, (keyAuthorization) =>
      prove(keyAuthorization).pipe(
        Effect.mapError(({ why }) => new AcmeFailed({ reason: "connection", detail: why, type: "notPublished" }))
      )
    )
    return { chain, key: own.export({ type: "pkcs8", format: "pem" }).toString(), url: acme.url }
  },
  Effect.mapError(
    (error) =>
      new OrderFailed({
        why: error.message,
        ...("retryAfter" in error && error.retryAfter !== undefined ? { retryAfter: error.retryAfter } : {})
      })
  ),
  Effect.provide(NodeFileSystem.layer)
)

const dueAt: AcmeClient["dueAt"] = Effect.fn("PlatformAcme.dueAt")(function* (chain, { directory, roots }) {
  const [, , , , Certificates] = yield* parts
  return Math.floor((yield* Certificates.suggestedTime(new X509Certificate(chain), directory, roots)) / 1_000)
})

export const layer = Layer.succeed(CertificateOrders, { order, dueAt })
