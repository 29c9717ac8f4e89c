/**
 * Signing people in at the identity provider (OpenID Connect Core, section 3.1): authorization code with PKCE, state and
 * nonce. All three follow from one secret that the browser alone keeps, so nothing of a sign-in that is under way is worth
 * stealing here. That a secret is used once is for the caller to see to.
 */
import * as Base64 from "@catenet/crypto/Base64"
import * as Bytes from "@catenet/crypto/Bytes"
import { native } from "@catenet/crypto/native"
import { SignInFailed } from "@catenet/domain/identity/AuthenticationErrors"
import { Email } from "@catenet/domain/values/Email"
import { Subject } from "@catenet/domain/values/Ids"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import * as OpenId from "openid-client"
import * as OutgoingHttp from "../http/OutgoingHttp.ts"
import { Settings } from "../settings/Settings.ts"

/** Who has signed in. */
export interface Person {
  readonly subject: Subject
  /** Only an address that the provider says it has verified. */
  readonly email: Email | null
  /** Handed back to the provider at sign-out. */
  readonly idToken: string
}

/**
 * What a sign-in may ask of the provider: credentials although it knows the browser, an address filled in, a shortcut, the
 * language of its pages.
 */
export type Wishes = Readonly<Partial<Record<"prompt" | "login_hint" | "kc_idp_hint" | "ui_locales", string>>>

const digest = (text: string) => Base64.encodeUrl(native.sha256(Bytes.fromText(text)))
const derive = (secret: Redacted.Redacted, use: string) => digest(`catenet sign-in ${use}\0${Redacted.value(secret)}`)

/** What the provider has to hand back with its answer for this secret. */
export const stateOf = (secret: Redacted.Redacted): string => derive(secret, "state")

const readSubject = Schema.decodeUnknownEffect(Subject)
const readEmail = Schema.decodeUnknownOption(Email)

interface Client {
  readonly id: string
  readonly secret: Redacted.Redacted | undefined
}

/** The identity provider, to which people are sent to sign in, for one of our clients at it. */
export interface Provider {
  /** Where to send the browser, with the further parameters for the provider. */
  readonly begin: (secret: Redacted.Redacted, redirectUri: URL, wishes?: Wishes) => URL
  /** Where to send the browser to be signed out at the provider too, and from there on. */
  readonly end: (idToken: string, back: URL, language: string) => URL
  /** Exchanges the code in the provider's answer, which came to the redirect address with this query. */
  readonly finish: (
    secret: Redacted.Redacted,
    options: { readonly redirectUri: URL; readonly query: URLSearchParams }
  ) => Effect.Effect<Person, SignInFailed>
}

const makeProvider = Effect.fnUntraced(function* ({ id, secret }: Client) {
  const { oidcAuthorizeUrl, oidcIssuer, oidcKeysUrl, oidcTokenUrl } = yield* Settings
  if (oidcIssuer === undefined) return Option.none()
  const protocol = `${oidcIssuer}/protocol/openid-connect`
  const called = { token: oidcTokenUrl?.href ?? `${protocol}/token`, keys: oidcKeysUrl?.href ?? `${protocol}/certs` }
  const client = new OpenId.Configuration(
    {
      issuer: oidcIssuer,
      authorization_endpoint: oidcAuthorizeUrl?.href ?? `${protocol}/auth`,
      token_endpoint: called.token,
      end_session_endpoint: `${protocol}/logout`,
      jwks_uri: called.keys
    },
    id,
    { id_token_signed_response_alg: "RS256", [OpenId.clockTolerance]: 60 },
    secret === undefined ? OpenId.None() : OpenId.ClientSecretPost(Redacted.value(secret))
  )
  client.timeout = 10
  const send = OutgoingHttp.fetchOf(OutgoingHttp.longestAnswer)
  client[OpenId.customFetch] = (url, { body = null, ...options }) => send(url, { ...options, body })
  OpenId.enableNonRepudiationChecks(client)
  if (Object.values(called).some((url) => url.startsWith("http:"))) OpenId.allowInsecureRequests(client)

  return Option.some<Provider>({
    begin: (secret: Redacted.Redacted, redirectUri: URL, wishes: Wishes = {}): URL =>
      OpenId.buildAuthorizationUrl(client, {
        ...wishes,
        redirect_uri: redirectUri.href,
        scope: "openid email",
        state: stateOf(secret),
        nonce: derive(secret, "nonce"),
        code_challenge: digest(derive(secret, "verifier")),
        code_challenge_method: "S256"
      }),

    end: (idToken: string, back: URL, language: string): URL =>
      OpenId.buildEndSessionUrl(client, {
        id_token_hint: idToken,
        post_logout_redirect_uri: back.href,
        ui_locales: language
      }),

    finish: Effect.fn("SignIns.finish")(
      function* (secret: Redacted.Redacted, options: { readonly redirectUri: URL; readonly query: URLSearchParams }) {
        const answer = new URL(options.redirectUri)
        answer.search = options.query.toString()
        const tokens = yield* Effect.tryPromise(() =>
          OpenId.authorizationCodeGrant(client, answer, {
            expectedState: stateOf(secret),
            expectedNonce: derive(secret, "nonce"),
            pkceCodeVerifier: derive(secret, "verifier"),
            idTokenExpected: true
          })
        )
        const claims: Readonly<Record<string, unknown>> = tokens.claims() ?? {}
        const person: Person = {
          subject: yield* readSubject(claims["sub"]),
          email: claims["email_verified"] === true ? Option.getOrNull(readEmail(claims["email"])) : null,
          idToken: tokens.id_token ?? ""
        }
        return person
      },
      // The cause may quote what the provider sent; its name is enough to look for the reason there.
      Effect.tapError(({ cause }) =>
        Effect.logWarning("A sign-in was not completed.", { why: cause instanceof Error ? cause.message : "unknown" })
      ),
      Effect.mapError(() => new SignInFailed())
    )
  })
})

/** Nothing where no client at a provider is configured. Visitors of gates may come by a client of their own. */
export class SignIns extends Context.Service<
  SignIns,
  {
    readonly forPortal: Option.Option<Provider>
    readonly forGate: Option.Option<Provider>
  }
>()("server/identity/SignIns") {
  static readonly make = Effect.gen(function* () {
    const { gateClientId, gateClientSecret, oidcClientId, oidcClientSecret } = yield* Settings
    const portal = oidcClientId === undefined ? undefined : { id: oidcClientId, secret: oidcClientSecret }
    const gate = gateClientId === undefined ? portal : { id: gateClientId, secret: gateClientSecret }
    const provider = (client: Client | undefined): Effect.Effect<Option.Option<Provider>, never, Settings> =>
      client === undefined ? Effect.succeedNone : makeProvider(client)
    return { forPortal: yield* provider(portal), forGate: yield* provider(gate) }
  })

  static readonly layer = Layer.effect(SignIns, SignIns.make)
}
