/** What a 401 says of the credentials that would have been taken, by the part of the service that wanted them (RFC 9110). */
import type { HttpServerRequest } from "effect/http"

const others: ReadonlyArray<readonly [prefix: string, challenge: string]> = [
  ["/portal/", 'Cookie cookie-name="__Host-ct_portal_session", form-action="/portal/login"'],
  ["/gate/", 'Cookie cookie-name="ct_gate_session", form-action="/gate/start"'],
  ["/payment/webhook", 'CatenetSignature header="x-ct-webhook-signature"'],
  ["", 'CatenetAdmin header="x-ct-admin-token"']
]

/** A token that does not verify has another challenge than none (RFC 6750); where tokens come from follows RFC 9728. */
const bearer = (given: string | undefined, origin: string) => {
  const refused = given !== undefined && /^bearer\b/iu.test(given) ? 'error="invalid_token", ' : ""
  return `Bearer ${refused}resource_metadata="${origin}/.well-known/oauth-protected-resource"`
}

/** The value of `WWW-Authenticate` for a request that was refused. */
export const challenge = ({ headers, url }: HttpServerRequest.HttpServerRequest, origin: string): string =>
  url.startsWith("/me/")
    ? bearer(headers["authorization"], origin)
    : (others.find(([prefix]) => url.startsWith(prefix))?.[1] ?? "")
