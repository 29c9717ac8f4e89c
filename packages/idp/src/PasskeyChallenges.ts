/** Challenges of passkeys: each is made for one page, ends after ten minutes, and is taken once. */
import { Entropy } from "@catenet/platform/Entropy"
import * as Passkeys from "./Passkeys.ts"
import type { RealmUser } from "./Realm.ts"
import type { Records } from "./RealmState.ts"

const lastsFor = 600

type Purpose = "create" | "get"

/** What the page's script needs. */
export type Options = Readonly<Record<string, unknown>>

export class PasskeyChallenges {
  readonly site: Passkeys.RelyingParty
  readonly #records: Records

  constructor(origin: string, records: Records) {
    this.site = { id: new URL(origin).hostname, origin }
    this.#records = records
  }

  async #begin(purpose: Purpose, of: string): Promise<string> {
    const challenge = Entropy.randomBytes(32).toString("base64url")
    await this.#records.put(`passkey ${purpose}`, of, { challenge }, {}, lastsFor)
    return challenge
  }

  /** The challenge of a page, once. Throws `PasskeyRefused` where there is none. */
  async take(purpose: Purpose, of: string): Promise<string> {
    const model = `passkey ${purpose}`
    const found = await this.#records.find(model, of)
    const isFirst = await this.#records.consume(model, of)
    await this.#records.remove(model, of)
    const challenge = found?.["challenge"]
    if (!isFirst || typeof challenge !== "string") throw new Passkeys.PasskeyRefused("challenge")
    return challenge
  }

  async forSignIn(signIn: string): Promise<Options> {
    return { site: this.site.id, challenge: await this.#begin("get", signIn) }
  }

  async forCreation(session: string, user: RealmUser, held: ReadonlyArray<Passkeys.Passkey>): Promise<Options> {
    return {
      site: this.site.id,
      challenge: await this.#begin("create", session),
      user: user.id,
      name: user.email,
      algorithms: Passkeys.algorithms,
      exclude: held.map(({ id }) => id)
    }
  }
}
