/** Users by an e-mail address that was just proved to be theirs: by a mailed code, or by a provider elsewhere. */
import { Entropy } from "@catenet/platform/Entropy"
import type { RealmUser } from "./Realm.ts"
import type { Registration } from "./RealmOptions.ts"
import type { RealmStore } from "./RealmStore.ts"

/** Whether somebody with this address may make an account. */
export const mayRegister = (registration: Registration, email: string): boolean =>
  typeof registration === "string"
    ? registration === "open"
    : registration.domains.includes(email.slice(email.lastIndexOf("@") + 1))

/** The user of the address, or a new one. */
export const userOf = async (store: RealmStore, email: string): Promise<RealmUser> => {
  const known = await store.userBySignIn(email)
  if (known?.email === email && known.emailVerified) return known
  // A password that was set before the address was proved may be another person's.
  const { passwordHash: _unproved, ...user } = known ?? {
    id: Entropy.randomUUID(),
    username: email,
    email,
    name: email,
    managementRoles: []
  }
  const proved: RealmUser = { ...user, emailVerified: true }
  await store.putUser(proved)
  return proved
}
