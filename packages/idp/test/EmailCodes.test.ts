import { assert, describe, it } from "vitest"
import {
  EmailCodes,
  mailsOfNetwork,
  mailsOfNetworkToAddress,
  mailsToAddress,
  wrongCodesPerMinute
} from "../src/EmailCodes.ts"
import type { RealmUser } from "../src/Realm.ts"
import type { CodeMail, RealmOptions } from "../src/RealmOptions.ts"
import { RealmStore } from "../src/RealmStore.ts"
import { useFolder } from "./realm.ts"

const folder = useFolder()
const page = { host: "auth.example.test", language: "en" } as const

const world = async (registration: RealmOptions["registration"]) => {
  const store = await RealmStore.open({
    realm: "demo",
    host: "127.0.0.1",
    port: 0,
    folder: folder(),
    audience: "catenet",
    users: [{ email: "ada@example.test", password: "correct horse" }],
    clients: []
  })
  const mails: Array<CodeMail> = []
  const codes = new EmailCodes(store, async (mail) => void mails.push(mail), { registration })
  const ask = (email: string, network = "192.0.2.1", signIn = "1") => codes.begin({ network, signIn }, email, page)
  const enter = (code: string, network = "192.0.2.1", signIn = "1") => codes.finish({ network, signIn }, code)
  return { store, mails, ask, enter }
}

const isUser = (outcome: object): outcome is RealmUser => "email" in outcome

describe("codes by e-mail", () => {
  it("are mailed to an address of a user, and to those that may register", async () => {
    for (const [registration, email, isMailed] of [
      ["closed", "ada@example.test", true],
      ["closed", "eve@example.test", false],
      ["open", "eve@example.test", true],
      ["open", "eve@example.test, bob@example.test", false],
      ["open", "Eve <eve@example.test>", false],
      [{ domains: ["example.test"] }, "eve@example.test", true],
      [{ domains: ["example.test"] }, "eve@sub.example.test", false],
      [{ domains: ["example.test"] }, "eve@example.test@example.org", false]
    ] as const) {
      const { ask, enter, mails } = await world(registration)
      await ask(email)
      assert.strictEqual(mails.length, isMailed ? 1 : 0, `${JSON.stringify(registration)} ${email}`)
      if (isMailed) assert.isTrue(isUser(await enter(mails[0]?.code ?? "")))
    }
  })

  it("are as many as a network and an address may have in an hour, and others have theirs", async () => {
    const { ask, mails } = await world("open")
    for (let n = 0; n < mailsOfNetwork; n++) assert.isUndefined(await ask(`p${n}@example.test`))
    assert.isAbove((await ask("one-more@example.test"))?.retryAfter ?? 0, 60)
    assert.isUndefined(await ask("ada@example.test", "192.0.2.2"))
    assert.lengthOf(mails, mailsOfNetwork + 1)

    const bombed = await world("open")
    for (let n = 0; n < mailsOfNetworkToAddress + 3; n++) assert.isUndefined(await bombed.ask("ada@example.test"))
    assert.lengthOf(bombed.mails, mailsOfNetworkToAddress)
    for (let n = 0; n < 100; n++) await bombed.ask("Ada@example.test", `198.51.100.${n}`)
    assert.lengthOf(bombed.mails, mailsToAddress)
    assert.isUndefined(await bombed.ask("bob@example.test"))
    assert.lengthOf(bombed.mails, mailsToAddress + 1)
  })

  it("that are wrong are as many as a network may try in a minute, whichever sign-in they are for", async () => {
    const { ask, enter, mails } = await world("closed")
    for (let n = 0; n < wrongCodesPerMinute; n++) assert.property(await enter("1", "192.0.2.1", `${n}`), "wrong")
    assert.property(await enter("1"), "retryAfter")
    await ask("ada@example.test", "192.0.2.2", "ada")
    assert.isTrue(isUser(await enter(mails[0]?.code ?? "", "192.0.2.2", "ada")))
  })

  it("take away a password that was set before the address was proved", async () => {
    const { ask, enter, mails, store } = await world("closed")
    const ada = await store.userBySignIn("ada@example.test")
    assert.isDefined(ada?.passwordHash)
    await ask("ada@example.test")
    await enter(mails[0]?.code ?? "")
    assert.isDefined((await store.userBySignIn("ada@example.test"))?.passwordHash, "of one that was proved")
    if (ada !== undefined) await store.putUser({ ...ada, emailVerified: false })
    await ask("ada@example.test")
    const proved = await enter(mails[1]?.code ?? "")
    assert.isTrue(isUser(proved) && proved.emailVerified)
    assert.isUndefined((await store.userBySignIn("ada@example.test"))?.passwordHash)
  })
})
