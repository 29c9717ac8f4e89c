/**
 * The page on which people look after their own sign-in: passkeys, where they are signed in, and signing out everywhere.
 * What makes a way in is changed only soon after a sign-in.
 */
import { Scheduler } from "@catenet/platform/Scheduler"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import { createHash, timingSafeEqual } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import type Provider from "oidc-provider"
import * as HttpBodies from "./HttpBodies.ts"
import { protocol } from "./KeycloakShape.ts"
import * as Pages from "./Pages.ts"
import type { PasskeyChallenges } from "./PasskeyChallenges.ts"
import * as Passkeys from "./Passkeys.ts"
import * as RealmProvider from "./Provider.ts"
import type { RealmUser } from "./Realm.ts"
import type { RealmStore } from "./RealmStore.ts"
import { textsFor } from "./Texts.ts"

/** The client by which the page signs people in. */
const clientId = "account"

/** Seconds after a sign-in in which passkeys may be added and removed. */
const freshFor = 900

export const client = (issuer: string) => ({
  clientId,
  name: "Account",
  publicClient: true,
  standardFlowEnabled: true,
  redirectUris: [`${issuer}/account/in`]
})

type Session = Awaited<ReturnType<Provider["Session"]["get"]>>

interface Visit {
  readonly provider: Provider
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** Stands in the forms of a session: a tunnel is of the same site as the provider, so that its cookies come with forms from there. */
const proofOf = ({ jti }: Session) => createHash("sha256").update(`account ${jti}`).digest("base64url")

const isForeign = (form: URLSearchParams, session: Session) => {
  const [given, expected] = [Buffer.from(form.get("proof") ?? ""), Buffer.from(proofOf(session))]
  return given.length !== expected.length || !timingSafeEqual(given, expected)
}

export class AccountPages {
  readonly #store: RealmStore
  readonly #challenges: PasskeyChallenges | undefined

  constructor(store: RealmStore, challenges: PasskeyChallenges | undefined) {
    this.#store = store
    this.#challenges = challenges
  }

  async answer({ provider, request, response }: Visit, path: string): Promise<void> {
    const home = `${provider.issuer}/account`
    // What came of the sign-in is the session; the code is let go.
    if (path === "/in") return HttpBodies.redirect(response, home)
    const session = await provider.Session.get(provider.createContext(request, response))
    const user = session.accountId === undefined ? undefined : await this.#store.user(session.accountId)
    if (user === undefined) return this.#signIn(provider, response, {})
    if (request.method !== "POST") return this.#show({ provider, request, response }, session, user)
    const form = new URLSearchParams(await HttpBodies.readText(request))
    if (isForeign(form, session)) return this.#show({ provider, request, response }, session, user)
    if (form.get("do") === "everywhere") {
      await this.#endEverything(user.id)
      return HttpBodies.redirect(response, home)
    }
    if (!this.#isFresh(session) || form.get("do") === "again")
      return this.#signIn(provider, response, { prompt: "login" })
    const problem = await this.#change(form, session, user)
    return problem === undefined
      ? HttpBodies.redirect(response, home)
      : this.#show({ provider, request, response }, session, user, problem)
  }

  async #change(form: URLSearchParams, session: Session, user: RealmUser): Promise<"passkey" | undefined> {
    const { passkeys } = this.#store.state
    if (passkeys === undefined || this.#challenges === undefined) return undefined
    if (form.get("do") === "remove") {
      await passkeys.remove(user.id, form.get("id") ?? "")
      return undefined
    }
    try {
      const challenge = await this.#challenges.take("create", session.uid)
      const made = Passkeys.created(form.get("passkey") ?? "", challenge, this.#challenges.site)
      const at = toUnixSeconds(Scheduler.wallMillis())
      return (await passkeys.add({ ...made, userId: user.id, at })) ? undefined : "passkey"
    } catch (error) {
      if (error instanceof Passkeys.PasskeyRefused) return "passkey"
      throw error
    }
  }

  /** All sessions of the provider and all that was granted: browsers, devices, command lines, applications. */
  async #endEverything(userId: string) {
    const { endSessions, records } = this.#store.state
    for (const { jti } of await records.ofAccount("Session", userId)) await records.remove("Session", String(jti))
    for (const { jti } of await records.ofAccount("Grant", userId)) {
      await records.remove("Grant", String(jti))
      await records.removeByGrant(String(jti))
    }
    await endSessions?.(userId)
  }

  #isFresh({ loginTs = 0 }: Session) {
    return loginTs > toUnixSeconds(Scheduler.wallMillis()) - freshFor
  }

  #signIn(provider: Provider, response: ServerResponse, more: Readonly<Record<string, string>>) {
    const { issuer } = provider
    const asked = { client_id: clientId, response_type: "code", scope: "openid", redirect_uri: `${issuer}/account/in` }
    HttpBodies.redirect(response, `${issuer}${protocol}/auth?${new URLSearchParams({ ...asked, ...more })}`)
  }

  async #show({ provider, request, response }: Visit, session: Session, user: RealmUser, problem?: "passkey") {
    const { passkeys, records } = this.#store.state
    const base = new URL(provider.issuer).pathname
    const texts = textsFor(undefined, request.headers["accept-language"])
    const sessions = await records.ofAccount("Session", user.id)
    const held = (await passkeys?.ofUser(user.id)) ?? []
    const options =
      this.#challenges && this.#isFresh(session)
        ? await this.#challenges.forCreation(session.uid, user, held)
        : undefined
    const body = Pages.account(texts, {
      action: `${base}/account`,
      proof: proofOf(session),
      email: user.email,
      passkeys: held,
      canChange: this.#isFresh(session),
      passkey: options && { src: `${base}/${Pages.scriptPath}`, options },
      problem: problem && texts.passkeyFailed,
      sessions: sessions.map(({ jti, loginTs }) => ({ at: Number(loginTs), isThis: jti === session.jti }))
    })
    HttpBodies.html(response, problem === undefined ? 200 : 400, RealmProvider.scriptedPolicy, body)
  }
}
