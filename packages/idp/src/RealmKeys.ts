/**
 * The keys that sign tokens and cookies. The newest signs; one that was replaced goes on to verify for as long as
 * something that it signed may come back, such as the id token with which a portal's session is ended.
 */
import { Entropy } from "@catenet/platform/Entropy"
import { Scheduler } from "@catenet/platform/Scheduler"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import { exportJWK, generateKeyPair, type JWK } from "jose"
import type { RealmKey, RealmState } from "./RealmState.ts"

const day = 86_400
/** Seconds for which a key signs, and for which it verifies after that. */
const signsFor = 30 * day
const verifiesFor = 40 * day

export interface RealmKeys {
  /** The first signs. */
  readonly signing: ReadonlyArray<JWK>
  readonly cookies: ReadonlyArray<string>
}

const newSigningKey = async (at: number): Promise<RealmKey> => {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true })
  const id = Entropy.randomBytes(12).toString("base64url")
  const jwk = { ...(await exportJWK(privateKey)), use: "sig", alg: "RS256", kid: id }
  return { id, purpose: "signing", secret: JSON.stringify(jwk), at }
}

const newCookieKey = (at: number): RealmKey => ({
  id: Entropy.randomBytes(12).toString("base64url"),
  purpose: "cookie",
  secret: Entropy.randomBytes(32).toString("base64url"),
  at
})

/** Makes keys where none is young enough to sign, drops those that verify nothing any more, and answers the rest. */
export const rotate = async (
  { keys }: Pick<RealmState, "keys">,
  now: number = toUnixSeconds(Scheduler.wallMillis())
): Promise<RealmKeys> => {
  const found = await keys.all()
  const signs = (purpose: RealmKey["purpose"]) =>
    found.some((key) => key.purpose === purpose && key.at > now - signsFor)
  if (!signs("signing")) await keys.put(await newSigningKey(now))
  if (!signs("cookie")) await keys.put(newCookieKey(now))
  for (const { at, id } of found) if (at <= now - signsFor - verifiesFor) await keys.remove(id)
  const current = await keys.all()
  const secretsOf = (purpose: RealmKey["purpose"]) =>
    current.flatMap((key) => (key.purpose === purpose ? [key.secret] : []))
  return { signing: secretsOf("signing").map((secret) => JSON.parse(secret) as JWK), cookies: secretsOf("cookie") }
}
