/** A client of the realm in the words of OpenID Connect Dynamic Client Registration 1.0. */
import type { AdapterPayload } from "oidc-provider"
import type { RealmClient } from "./Realm.ts"

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

export const of = (client: RealmClient): AdapterPayload => ({
  client_id: client.clientId,
  ...(client.name === "" ? {} : { client_name: client.name }),
  ...(client.publicClient
    ? { token_endpoint_auth_method: "none" }
    : { client_secret: client.secret ?? "", token_endpoint_auth_method: "client_secret_post" }),
  response_types: client.standardFlowEnabled ? ["code"] : [],
  grant_types: [
    ...(client.standardFlowEnabled ? ["authorization_code"] : []),
    ...(client.directAccessGrantsEnabled ? ["password"] : []),
    ...(client.serviceAccountsEnabled && !client.publicClient ? ["client_credentials"] : []),
    ...(client.deviceGrantEnabled ? [deviceGrant] : []),
    ...(client.standardFlowEnabled || client.directAccessGrantsEnabled || client.deviceGrantEnabled
      ? ["refresh_token"]
      : [])
  ],
  redirect_uris: [...client.redirectUris],
  post_logout_redirect_uris: [...client.postLogoutRedirectUris]
})
