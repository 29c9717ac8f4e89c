/** A service account as the admin REST creates it, in Keycloak's words. */
import type { ClientId } from "@catenet/domain/identity/ServiceAccount"

/** Tokens that a client gets for itself carry no useful audience unless a mapper puts it there. */
const audienceMapper = (audience: string) => ({
  name: "audience",
  protocol: "openid-connect",
  protocolMapper: "oidc-audience-mapper",
  config: { "included.custom.audience": audience, "access.token.claim": "true", "id.token.claim": "false" }
})

/** A confidential client that can get tokens for itself and nothing else: no browser flow, no passwords, no roles. */
export const representation = (clientId: ClientId, name: string, audience: string | undefined) => ({
  clientId,
  name,
  protocol: "openid-connect",
  enabled: true,
  publicClient: false,
  standardFlowEnabled: false,
  implicitFlowEnabled: false,
  directAccessGrantsEnabled: false,
  serviceAccountsEnabled: true,
  authorizationServicesEnabled: false,
  fullScopeAllowed: false,
  clientAuthenticatorType: "client-secret",
  protocolMappers: audience === undefined ? [] : [audienceMapper(audience)]
})
