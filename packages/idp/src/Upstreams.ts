/**
 * Sign-in by providers elsewhere, over OpenID Connect. An answer is taken for the sign-in, browser and provider that it was
 * asked for alone: state, nonce, PKCE, and the issuer in the answer (RFC 9207) are all checked.
 */
import * as oidc from "openid-client"
import type { Records } from "./RealmState.ts"

export interface UpstreamOptions {
  /** In `kc_idp_hint` and in addresses. */
  readonly alias: string
  /** On its button. */
  readonly name: string
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** Follows no redirect, and bounds what it reads. */
  readonly send: (address: string, request: RequestInit) => Promise<Response>
}

/** Who somebody is at a provider elsewhere. */
export interface UpstreamIdentity {
  readonly issuer: string
  readonly subject: string
  /** Only where the provider has proved it. */
  readonly email: string | undefined
}

export class UpstreamRefused extends Error {}

interface Begun {
  readonly signIn: string
  readonly alias: string
  readonly nonce: string
  readonly verifier: string
}

const lastsFor = 600
const model = "upstream"
const latest = "upstream of sign-in"

const begunOf = (payload: Readonly<Record<string, unknown>> | undefined): Begun | undefined => {
  const { alias, nonce, signIn, verifier } = payload ?? {}
  return typeof alias === "string" &&
    typeof nonce === "string" &&
    typeof signIn === "string" &&
    typeof verifier === "string"
    ? { alias, nonce, signIn, verifier }
    : undefined
}

/** For development, where a provider is on the same machine. */
const isOnThisMachine = ({ hostname, protocol }: URL) =>
  protocol === "http:" && /^(?:localhost|127\.0\.0\.1|\[::1\])$/u.test(hostname)

export class Upstreams {
  readonly #options: ReadonlyMap<string, UpstreamOptions>
  readonly #known = new Map<string, oidc.Configuration>()
  readonly #records: Records
  /** Of the realm that asks. */
  readonly #issuer: string

  constructor(options: ReadonlyArray<UpstreamOptions>, records: Records, issuer: string) {
    this.#options = new Map(options.map((each) => [each.alias, each]))
    this.#records = records
    this.#issuer = issuer
  }

  get buttons(): ReadonlyArray<Pick<UpstreamOptions, "alias" | "name">> {
    return [...this.#options.values()]
  }

  has(alias: unknown): alias is string {
    return typeof alias === "string" && this.#options.has(alias)
  }

  #returnTo(alias: string) {
    return `${this.#issuer}/broker/${alias}/endpoint`
  }

  async #configuration(alias: string): Promise<oidc.Configuration> {
    const options = this.#options.get(alias)
    if (options === undefined) throw new UpstreamRefused(`${alias} is not configured`)
    const known = this.#known.get(alias)
    if (known !== undefined) return known
    const { clientId, clientSecret, issuer, send } = options
    const customFetch: oidc.CustomFetch = (url, { body = null, ...request }) => send(url, { ...request, body })
    const address = new URL(issuer)
    const found = await oidc.discovery(address, clientId, {}, oidc.ClientSecretPost(clientSecret), {
      [oidc.customFetch]: customFetch,
      ...(isOnThisMachine(address) ? { execute: [oidc.allowInsecureRequests] } : {})
    })
    found[oidc.customFetch] = customFetch
    this.#known.set(alias, found)
    return found
  }

  /** Where the browser goes to sign in there. */
  async begin(alias: string, signIn: string): Promise<string> {
    const configuration = await this.#configuration(alias)
    const state = oidc.randomState()
    const begun: Begun = { signIn, alias, nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() }
    // One for each sign-in, however often it is led there.
    const before = await this.#records.find(latest, signIn)
    if (typeof before?.["state"] === "string") await this.#records.remove(model, before["state"])
    await this.#records.put(latest, signIn, { state }, {}, lastsFor)
    await this.#records.put(model, state, { ...begun }, {}, lastsFor)
    return oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#returnTo(alias),
      scope: "openid email profile",
      state,
      nonce: begun.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(begun.verifier),
      code_challenge_method: "S256"
    }).href
  }

  /** The page of the sign-in that an answer is for: there, and not here, the browser shows that it has begun it. */
  async pageOf(alias: string, answer: URLSearchParams): Promise<string | undefined> {
    const begun = begunOf(await this.#records.find(model, answer.get("state") ?? ""))
    if (begun?.alias !== alias) return undefined
    const query = new URLSearchParams(answer)
    query.set("upstream", alias)
    return `${this.#issuer}/interaction/${begun.signIn}?${query}`
  }

  /** Who has signed in there. Throws `UpstreamRefused`. */
  async finish(signIn: string, query: URLSearchParams): Promise<UpstreamIdentity> {
    const answer = new URLSearchParams(query)
    const alias = answer.get("upstream") ?? ""
    answer.delete("upstream")
    const state = answer.get("state") ?? ""
    const begun = begunOf(await this.#records.find(model, state))
    const isFirst = await this.#records.consume(model, state)
    await this.#records.remove(model, state)
    if (begun === undefined || !isFirst || begun.signIn !== signIn || begun.alias !== alias)
      throw new UpstreamRefused("the answer is for another sign-in")
    const configuration = await this.#configuration(alias)
    try {
      const tokens = await oidc.authorizationCodeGrant(configuration, new URL(`${this.#returnTo(alias)}?${answer}`), {
        expectedState: state,
        expectedNonce: begun.nonce,
        pkceCodeVerifier: begun.verifier,
        idTokenExpected: true
      })
      const claims = tokens.claims()
      if (claims === undefined) throw new UpstreamRefused("it answered no id token")
      const { email, email_verified: isVerified, iss, sub } = claims
      return { issuer: iss, subject: sub, email: isVerified === true && typeof email === "string" ? email : undefined }
    } catch (cause) {
      throw new UpstreamRefused("the answer is not valid", { cause })
    }
  }
}
