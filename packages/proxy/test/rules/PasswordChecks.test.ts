import { PasswordChecks } from "@catenet/proxy/internal/rules/PasswordChecks"
import { assert, describe, it } from "@effect/vitest"
import { scryptSync } from "node:crypto"

const text = (bytes: Buffer) => bytes.toString("base64").replaceAll("=", "")
const lineOf = (name: string, password: string, salt = Buffer.from("salt of the line")) => {
  const hash = scryptSync(password, salt, 32, { N: 1024, r: 8, p: 1 })
  return `${name}:$scrypt$ln=10,r=8,p=1$${text(salt)}$${text(hash)}`
}

const users = [lineOf("ada", "one", Buffer.from("another salt..")), lineOf("bob", "two")]
const at = "192.0.2.1"

describe("passwords", () => {
  it("are those of the name, and of no other line", async () => {
    const checks = new PasswordChecks()
    const known = (name: string, password: string) => checks.isKnown(users, { name, password }, at, 0)
    assert.isTrue(await known("ada", "one"))
    assert.isTrue(await known("bob", "two"))
    for (const [name, password] of [
      ["ada", "two"],
      ["bob", "one"],
      ["eve", "one"],
      ["", ""]
    ] as const)
      assert.isFalse(await known(name, password), `${name} ${password}`)
    assert.isFalse(await known("eve", "one"), "also when the first line's password is remembered")
  })

  it("are hashed 30 times a minute for one address, and another address is served", async () => {
    const checks = new PasswordChecks()
    const from = (address: string, name = "eve") => checks.isKnown(users, { name, password: "one" }, address, 0)
    for (let guess = 0; guess < 30; guess++) assert.isFalse(await from(at))
    assert.isUndefined(await from(at))
    assert.isTrue(await from("192.0.2.2", "ada"))
    assert.isTrue(await from(at, "ada"), "who is known needs no hash")
  })

  it("of addresses that wait for many give way to an address that waits for fewer", async () => {
    const checks = new PasswordChecks()
    const guess = (address: string) => checks.isKnown(users, { name: "eve", password: "one" }, address, 0)
    const flood = Array.from({ length: 40 }, (_, n) => guess(n % 2 === 0 ? at : "192.0.2.9"))
    const own = checks.isKnown(users, { name: "ada", password: "one" }, "192.0.2.2", 0)
    assert.isTrue(await own)
    const answers = await Promise.all(flood)
    assert.strictEqual(answers.filter((answer) => answer === undefined).length, 9)
  })
})
