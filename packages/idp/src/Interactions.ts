/** The pages between an application's request and its answer: who signs in, and whether they agree to an application. */
import { lowerAscii } from "@catenet/domain/values/AsciiCase"
import type { IncomingMessage, ServerResponse } from "node:http"
import type Provider from "oidc-provider"
import * as Applications from "./Applications.ts"
import { EmailCodes } from "./EmailCodes.ts"
import * as HttpBodies from "./HttpBodies.ts"
import { resource, scopes } from "./KeycloakShape.ts"
import * as Pages from "./Pages.ts"
import type { PasskeyChallenges } from "./PasskeyChallenges.ts"
import { PasskeyRefused, used } from "./Passkeys.ts"
import * as ProvedUsers from "./ProvedUsers.ts"
import * as RealmProvider from "./Provider.ts"
import type { RealmUser } from "./Realm.ts"
import type { RealmOptions, Registration } from "./RealmOptions.ts"
import type { RealmStore } from "./RealmStore.ts"
import type { Refused, SignInAttempts } from "./SignInAttempts.ts"
import { type Texts, textsFor } from "./Texts.ts"
import { type UpstreamIdentity, UpstreamRefused, type Upstreams } from "./Upstreams.ts"

type Interaction = Awaited<ReturnType<Provider["interactionDetails"]>>

/** A request for a page, within its sign-in. */
interface Visit {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly provider: Provider
  readonly begun: Interaction
  readonly texts: Texts
  /** Where forms of the page go. */
  readonly action: string
  readonly form: URLSearchParams | undefined
}

/**
 * Ends what another person signed in to in the same browser. The provider would do that by a page that posts itself, which
 * needs a script, and no script runs here.
 */
const makeRoom = async (provider: Provider, interaction: Interaction, accountId: string) => {
  const uid = interaction.session?.uid
  const session = uid === undefined ? undefined : await provider.Session.findByUid(uid)
  if (session?.accountId === undefined || session.accountId === accountId) return
  session.accountId = undefined
  session.authorizations = undefined
  await session.persist()
  // It would be compared with the session.
  interaction.session = undefined
  await interaction.persist()
}

export class Interactions {
  readonly #store: RealmStore
  readonly #attempts: SignInAttempts
  readonly #codes: EmailCodes | undefined
  readonly #challenges: PasskeyChallenges | undefined
  readonly #upstreams: Upstreams
  readonly #registration: Registration

  constructor(
    options: RealmOptions,
    store: RealmStore,
    attempts: SignInAttempts,
    challenges: PasskeyChallenges | undefined,
    upstreams: Upstreams
  ) {
    this.#upstreams = upstreams
    this.#registration = options.registration ?? "closed"
    this.#challenges = challenges
    this.#store = store
    this.#attempts = attempts
    this.#codes = options.mailCode && new EmailCodes(store, options.mailCode, options)
  }

  async answer(provider: Provider, request: IncomingMessage, response: ServerResponse, action: string): Promise<void> {
    response.setHeader("cache-control", "no-store")
    const begun = await provider.interactionDetails(request, response)
    const form = request.method === "POST" ? new URLSearchParams(await HttpBodies.readText(request)) : undefined
    const texts = textsFor(begun.params["ui_locales"], request.headers["accept-language"])
    const visit: Visit = { request, response, provider, begun, texts, action, form }
    if (begun.prompt.name === "consent") return this.#consent(visit)
    const by = form?.get("by") ?? ""
    const { searchParams } = new URL(request.url ?? "/", provider.issuer)
    if (form === undefined && searchParams.has("upstream")) return this.#upstream(visit, searchParams)
    const asked =
      form === undefined ? begun.params["kc_idp_hint"] : by === "upstream" ? form.get("upstream") : undefined
    if (this.#upstreams.has(asked)) return this.#lead(visit, asked)
    if (this.#challenges !== undefined && by === "passkey") return this.#passkey(visit, this.#challenges)
    if (this.#codes !== undefined && by === "mail") return this.#mail(visit, this.#codes)
    if (this.#codes !== undefined && by === "code") return this.#code(visit, this.#codes)
    return this.#password(visit)
  }

  /** Asks a person about an application, or passes on the answer. */
  async #consent({ action, begun, form, provider, request, response, texts }: Visit) {
    const { params, session } = begun
    const clientId = String(params["client_id"])
    const user = await this.#store.user(session?.accountId ?? "")
    if (user === undefined) return
    if (form?.get("answer") === "yes") {
      const grant = new provider.Grant({ clientId, accountId: user.id })
      grant.addOIDCScope(scopes)
      grant.addResourceScope(String(params["resource"] ?? resource), scopes)
      return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
    }
    if (form?.get("answer") === "no") {
      const denied = { error: "access_denied", error_description: "The person did not agree" }
      return provider.interactionFinished(request, response, denied, { mergeWithLastSubmission: false })
    }
    const client = await provider.Client.find(clientId)
    const asked = Applications.requestOf(clientId, client?.clientName, params)
    this.#page(response, 200, Pages.consent(texts, { action, account: user.email, ...asked }))
  }

  async #password(visit: Visit) {
    const { form, request, texts } = visit
    const { remoteAddress } = request.socket
    const user =
      form && (await this.#attempts.authenticate(remoteAddress, form.get("username") ?? "", form.get("password") ?? ""))
    if (user === undefined) return this.#signIn(visit, form === undefined ? 200 : 401, form && texts.refused)
    if ("retryAfter" in user) return this.#refused(visit, user, texts.tooMany)
    return this.#finish(visit, user, "pwd")
  }

  async #mail(visit: Visit, codes: EmailCodes) {
    const { begun, form, provider, request, texts } = visit
    const email = form?.get("username") ?? ""
    const from = { network: request.socket.remoteAddress, signIn: begun.uid }
    const language = texts.language === "de" ? "de" : "en"
    const refused = await codes.begin(from, email, { host: new URL(provider.issuer).host, language })
    return refused === undefined ? this.#askCode(visit, 200) : this.#refused(visit, refused, texts.tooManyMails)
  }

  async #code(visit: Visit, codes: EmailCodes) {
    const { begun, form, request, texts } = visit
    const from = { network: request.socket.remoteAddress, signIn: begun.uid }
    const user = await codes.finish(from, form?.get("code") ?? "")
    if ("retryAfter" in user) return this.#refused(visit, user, texts.tooManyCodes)
    if ("wrong" in user) return this.#askCode(visit, 401, user.wrong === "code" ? texts.codeWrong : texts.codeEnded)
    return this.#finish(visit, user, "otp")
  }

  /** To the provider elsewhere. */
  async #lead(visit: Visit, alias: string) {
    const { begun, response, texts } = visit
    try {
      HttpBodies.redirect(response, await this.#upstreams.begin(alias, begun.uid))
    } catch {
      return this.#signIn(visit, 502, texts.upstreamFailed)
    }
    return undefined
  }

  /** Back from there. An account there is the user's to whom it was linked, or who has its e-mail address, if both have proved it. */
  async #upstream(visit: Visit, answer: URLSearchParams) {
    const { begun, texts } = visit
    const { links } = this.#store.state
    let identity: UpstreamIdentity
    try {
      identity = await this.#upstreams.finish(begun.uid, answer)
    } catch (error) {
      if (error instanceof UpstreamRefused) return this.#signIn(visit, 401, texts.upstreamFailed)
      throw error
    }
    const { email, issuer, subject } = identity
    const linked = await links.find(issuer, subject)
    const known = linked === undefined ? undefined : await this.#store.user(linked)
    if (known !== undefined) return this.#finish(visit, known, "fed")
    const address = email === undefined ? undefined : lowerAscii(email)
    const there = address === undefined ? undefined : await this.#store.userBySignIn(address)
    const mayEnter =
      address !== undefined &&
      (there === undefined ? ProvedUsers.mayRegister(this.#registration, address) : there.email === address)
    if (!mayEnter) return this.#signIn(visit, 403, texts.upstreamUnknown)
    const user = await ProvedUsers.userOf(this.#store, address)
    await links.put(issuer, subject, user.id)
    return this.#finish(visit, user, "fed")
  }

  async #passkey(visit: Visit, challenges: PasskeyChallenges) {
    const { begun, form, texts } = visit
    const { passkeys } = this.#store.state
    if (passkeys === undefined) return this.#signIn(visit, 401, texts.passkeyFailed)
    try {
      const challenge = await challenges.take("get", begun.uid)
      const { userId } = await used(form?.get("passkey") ?? "", challenge, challenges.site, passkeys)
      const user = await this.#store.user(userId)
      return user === undefined ? this.#signIn(visit, 401, texts.passkeyFailed) : this.#finish(visit, user, "hwk")
    } catch (error) {
      if (error instanceof PasskeyRefused) return this.#signIn(visit, 401, texts.passkeyFailed)
      throw error
    }
  }

  #askCode({ action, form, response, texts }: Visit, status: number, problem?: string) {
    this.#page(response, status, Pages.code(texts, { action, name: form?.get("username") ?? "", problem }))
  }

  #refused(visit: Visit, { retryAfter }: Refused, problem: string) {
    visit.response.setHeader("retry-after", String(Math.ceil(retryAfter)))
    return this.#signIn(visit, 429, problem)
  }

  async #signIn(
    { action, begun, form, provider, response, texts }: Visit,
    status: number,
    problem: string | undefined
  ) {
    const hint = begun.params["login_hint"]
    const name = form?.get("username") ?? (typeof hint === "string" ? hint : "")
    const byMail = this.#codes !== undefined
    const options = await this.#challenges?.forSignIn(begun.uid)
    const src = `${new URL(provider.issuer).pathname}/${Pages.scriptPath}`
    const passkey = options && { src, options }
    const body = Pages.signIn(texts, { action, name, problem, byMail, passkey, upstreams: this.#upstreams.buttons })
    const policy = passkey === undefined ? RealmProvider.contentSecurityPolicy : RealmProvider.scriptedPolicy
    HttpBodies.html(response, status, policy, body)
  }

  async #finish({ begun, provider, request, response }: Visit, user: RealmUser, method: string) {
    await makeRoom(provider, begun, user.id)
    const login = { accountId: user.id, remember: true, amr: [method] }
    return provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false })
  }

  #page(response: ServerResponse, status: number, body: string) {
    HttpBodies.html(response, status, RealmProvider.contentSecurityPolicy, body)
  }
}
