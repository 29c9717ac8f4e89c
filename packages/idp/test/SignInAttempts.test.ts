import { assert, describe, it } from "vitest"
import type { RealmUser } from "../src/Realm.ts"
import { SignInAttempts, wrongPerAccount } from "../src/SignInAttempts.ts"

const wrongPerMinute = 30

const ada: RealmUser = {
  id: "1",
  username: "ada",
  email: "ada@example.test",
  emailVerified: true,
  name: "Ada",
  managementRoles: []
}

/** A store that reads a password at once, and how often it did. */
const world = () => {
  let reads = 0
  const authenticate = async (_: string, password: string) => {
    reads++
    return password === "right" ? ada : undefined
  }
  return { attempts: new SignInAttempts({ authenticate }), reads: () => reads }
}

describe("attempts to sign in", () => {
  it("are read from one address until 30 in a minute were wrong, and those of another address go on", async () => {
    const { attempts, reads } = world()
    const at = (address: string, password: string) => attempts.authenticate(address, "ada", password)
    for (let count = 0; count < 2 * wrongPerMinute; count++) assert.strictEqual(await at("192.0.2.1", "right"), ada)
    for (let count = 0; count < wrongPerMinute; count++) assert.isUndefined(await at("192.0.2.1", "wrong"))
    const read = reads()
    for (const password of ["wrong", "right"]) assert.property(await at("192.0.2.1", password), "retryAfter")
    assert.strictEqual(reads(), read, "none of them was read")
    assert.strictEqual(await at("192.0.2.2", "right"), ada)
    assert.strictEqual(await at("2001:db8::1", "right"), ada)
  })

  it("for one account are 100 wrong ones in an hour from all networks, and its own network and other accounts go on", async () => {
    const { attempts, reads } = world()
    assert.strictEqual(await attempts.authenticate("192.0.2.1", "ada", "right"), ada)
    for (let count = 0; count < wrongPerAccount; count++)
      assert.isUndefined(await attempts.authenticate(`198.51.100.${count}`, " ADA", "wrong"))
    const read = reads()
    const refused = await attempts.authenticate("203.0.113.1", "ada", "right")
    assert.isAbove(refused !== undefined && "retryAfter" in refused ? refused.retryAfter : 0, 30)
    assert.strictEqual(reads(), read, "it was not read")
    assert.strictEqual(await attempts.authenticate("192.0.2.1", "ada", "right"), ada)
    assert.strictEqual(await attempts.authenticate("203.0.113.1", "bob", "right"), ada)
  })

  it("of one address wait for each other, and for those of no other", async () => {
    const begun: Array<string> = []
    const gates = new Map<string, () => void>()
    const attempts = new SignInAttempts({
      authenticate: (name) =>
        new Promise((resolve) => {
          begun.push(name)
          gates.set(name, () => resolve(ada))
        })
    })
    const first = attempts.authenticate("192.0.2.1", "first", "x")
    const second = attempts.authenticate("192.0.2.1", "second", "x")
    const other = attempts.authenticate("192.0.2.2", "other", "x")
    await Promise.resolve().then(() => Promise.resolve())
    assert.deepStrictEqual(begun, ["first", "other"])
    gates.get("first")?.()
    await first
    gates.get("other")?.()
    await other
    assert.deepStrictEqual(begun, ["first", "other", "second"])
    gates.get("second")?.()
    assert.strictEqual(await second, ada)
  })
})
