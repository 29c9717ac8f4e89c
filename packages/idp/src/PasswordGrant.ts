/** The resource owner password grant (RFC 6749 section 4.3), which Keycloak still offers and command lines still use. */
import { type Provider, errors } from "oidc-provider"
import { resource, resourceServer } from "./KeycloakShape.ts"
import type { RealmOptions } from "./RealmOptions.ts"
import type { RealmStore } from "./RealmStore.ts"
import type { SignInAttempts } from "./SignInAttempts.ts"

interface Parameters {
  readonly username?: string
  readonly password?: string
  readonly scope?: string
}

/** Keycloak answers a wrong name or password with 401 (RFC 6749 has 400), and its clients tell the two apart. */
class BadCredentials extends errors.OIDCProviderError {
  override readonly error_description = "Invalid user credentials"
  constructor() {
    super(401, "invalid_grant")
  }
}

/** As RFC 8628 calls it where a client asks too often. */
class TooManyAttempts extends errors.OIDCProviderError {
  override readonly error_description = "Too many wrong passwords"
  constructor() {
    super(429, "slow_down")
  }
}

const defaultScope = "openid profile email"

export const register = (
  provider: Provider,
  options: RealmOptions,
  store: RealmStore,
  attempts: SignInAttempts
): void =>
  provider.registerGrantType<Parameters>(
    "password",
    async (ctx) => {
      const { client, params } = ctx.oidc
      const user = await attempts.authenticate(
        ctx.req.socket.remoteAddress,
        params.username ?? "",
        params.password ?? ""
      )
      if (user === undefined) throw new BadCredentials()
      if ("retryAfter" in user) {
        ctx.set("retry-after", String(user.retryAfter))
        throw new TooManyAttempts()
      }
      const scope = params.scope === undefined || params.scope === "" ? defaultScope : params.scope
      const grant = new provider.Grant({ clientId: client.clientId, accountId: user.id })
      grant.addOIDCScope(scope)
      grant.addResourceScope(resource, scope)
      const grantId = await grant.save()
      const shared = { client, accountId: user.id, grantId, gty: "password", scope, expiresWithSession: false }
      const accessToken = new provider.AccessToken({
        ...shared,
        resourceServer: new provider.ResourceServer(resource, resourceServer(options, store, client.clientId))
      })
      const refreshToken = new provider.RefreshToken({ ...shared, resource })
      ctx.body = {
        access_token: await accessToken.save(),
        expires_in: accessToken.expiration,
        refresh_token: await refreshToken.save(),
        token_type: "Bearer",
        scope
      }
    },
    ["username", "password", "scope"]
  )
