/** Which identity provider a control plane takes tokens of: the first that its protected-resource metadata names (RFC 9728). */
import { clause } from "@catenet/domain/values/Sentence"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Effect, Schema } from "effect"
import { HttpClient } from "effect/http"
import { Unreachable } from "../Failure.ts"
import { describe } from "../onboard/HttpErrors.ts"
import { baseUrl } from "../settings/HostPort.ts"

const bound = "10 seconds"
const decode = Schema.decodeUnknownEffect(
  Schema.fromJsonString(Schema.Struct({ authorization_servers: Schema.NonEmptyArray(Schema.String) }))
)

const unnamed = (controlPlane: string) =>
  ConfigurationInvalid.of(
    "CT_OIDC_ISSUER",
    `is not set, and the control plane at ${controlPlane} names no identity provider`,
    "set it to the address of the realm"
  )

export const issuerOf = Effect.fn("IssuerDiscovery.issuerOf")(function* (controlPlane: string) {
  const client = yield* HttpClient.HttpClient
  const away = (why: string) =>
    new Unreachable({
      detail: `The control plane at ${controlPlane} does not say who its identity provider is: ${clause(why)}. Check the address, or set CT_OIDC_ISSUER.`
    })
  const { status, text } = yield* Effect.gen(function* () {
    const response = yield* client.get(`${controlPlane}/.well-known/oauth-protected-resource`)
    return { status: response.status, text: yield* response.text }
  }).pipe(
    Effect.mapError((error) => away(describe(error))),
    Effect.timeoutOrElse({ duration: bound, orElse: () => Effect.fail(away(`no answer within ${bound}`)) })
  )
  if (status === 404) return yield* unnamed(controlPlane)
  if (status !== 200) return yield* away(`it answered ${status}`)
  const { authorization_servers: issuers } = yield* Effect.mapError(decode(text), () => unnamed(controlPlane))
  const issuer = baseUrl.parse(issuers[0])
  return issuer === undefined ? yield* unnamed(controlPlane) : issuer
})
