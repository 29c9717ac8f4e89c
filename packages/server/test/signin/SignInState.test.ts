/** The platform's own sign-in over its database: what it keeps survives a restart, and is worth nothing to who copies it. */
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { createHash, randomBytes } from "node:crypto"
import { ada, callback, codeOf, mailTo, platform, publicUrl } from "./Platform.ts"

interface Page {
  readonly url: string
  readonly status: number
  readonly text: string
}

/** A browser without scripts. */
const browser = (origin: () => string) => {
  const jar = new Map<string, string>()
  const visit = async (url: string, form?: Record<string, string>): Promise<Page> => {
    const response = await fetch(url.replace(publicUrl, origin()), {
      redirect: "manual",
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) })
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      jar.set(name, value)
    }
    const location = response.headers.get("location")
    if (location === null) return { url, status: response.status, text: await response.text() }
    const next = new URL(location, url).href
    return next.startsWith(callback) ? { url: next, status: 302, text: "" } : visit(next)
  }
  return { jar, visit }
}

const base = `${publicUrl}/realms/demo/protocol/openid-connect`
const verifier = randomBytes(32).toString("base64url")
const challenge = createHash("sha256").update(verifier).digest("base64url")
const address = (more: Readonly<Record<string, string>> = {}) =>
  `${base}/auth?${new URLSearchParams({
    client_id: "app",
    response_type: "code",
    scope: "openid email",
    redirect_uri: callback,
    code_challenge: challenge,
    code_challenge_method: "S256",
    ...more
  })}`
const actionOf = ({ text, url }: Page) => new URL(/action="([^"]+)"/.exec(text)?.[1] ?? "", url).href
const codeIn = (url: string) => new URL(url).searchParams.get("code") ?? ""

const token = async (origin: string, form: Record<string, string>) => {
  const response = await fetch(`${base.replace(publicUrl, origin)}/token`, {
    method: "POST",
    body: new URLSearchParams({ client_id: "app", ...form })
  })
  return { status: response.status, body: (await response.json()) as Readonly<Record<string, string>> }
}
const redeem = (origin: string, code: string) =>
  token(origin, { grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: callback })
const renew = (origin: string, refresh: string | undefined) =>
  token(origin, { grant_type: "refresh_token", refresh_token: refresh ?? "" })

const claimsOf = (idToken = "") =>
  JSON.parse(Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString()) as Record<string, unknown>

/** Opens the page and asks for a code. */
const askCode = async ({ visit }: ReturnType<typeof browser>, email: string) => {
  const page = await visit(address({ prompt: "login" }))
  return visit(actionOf(page), { username: email, by: "mail" })
}

layer(TestDatabase.layer, { excludeTestServices: true, timeout: "60 seconds" })("sign-in over the database", (it) => {
  it.effect("goes on after a restart at any step, and stands in no row as it is", () =>
    Effect.gen(function* () {
      const { arrived, origin, restart } = yield* platform
      const first = yield* restart()
      const person = browser(origin)
      const asked = yield* Effect.promise(() => askCode(person, "Ada@Example.test"))
      assert.include(asked.text, "a code is on its way")
      const code = codeOf(yield* mailTo(arrived, ada))
      assert.match(code, /^\d{8}$/u)
      yield* restart()
      const back = yield* Effect.promise(() => person.visit(actionOf(asked), { code, by: "code" }))
      assert.include(back.url, `${callback}?code=`)
      yield* restart()
      const { body } = yield* Effect.promise(() => redeem(origin(), codeIn(back.url)))
      assert.strictEqual(claimsOf(body["id_token"])["email"], ada)
      const registered = yield* Effect.promise(() =>
        fetch(`${origin()}/realms/demo/clients-registrations/openid-connect`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({
            redirect_uris: ["http://127.0.0.1:9/cb"],
            token_endpoint_auth_method: "none",
            client_name: "Kept"
          })
        }).then((response) => response.json() as Promise<{ client_id: string }>)
      )
      const { url } = yield* TestDatabase
      const rows = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tables = ["keys", "clients", "users", "records", "codes", "mails"]
        const all = yield* Effect.forEach(tables, (name) =>
          sql.unsafe<{ row: string }>(`select to_jsonb(t)::text as row from sign_in_${name} t`)
        )
        return all.flat().map(({ row }) => row)
      }).pipe(Effect.provide(PgClient.layer({ url, maxConnections: 1 })))
      assert.isNotEmpty(rows)
      const { cookies, signing } = first.store.keys
      const secrets = [
        code,
        codeIn(back.url),
        body["refresh_token"] ?? "",
        cookies[0] ?? "",
        signing[0]?.d ?? "",
        ...person.jar.values()
      ]
      for (const secret of secrets)
        assert.isFalse(secret.length > 0 && rows.some((row) => row.includes(secret)), secret.slice(0, 8))
      const last = yield* restart()
      assert.deepStrictEqual(last.store.keys, first.store.keys)
      const renewed = yield* Effect.promise(() => renew(origin(), body["refresh_token"]))
      assert.strictEqual(renewed.status, 200)
      const again = yield* Effect.promise(() => person.visit(address()))
      assert.include(again.url, `${callback}?code=`, "the session spares the second sign-in")
      const application = address({
        client_id: registered.client_id,
        redirect_uri: "http://127.0.0.1:9/cb",
        resource: "https://hello.example.test"
      })
      assert.include((yield* Effect.promise(() => person.visit(application))).text, "Kept")
      const password = { grant_type: "password", client_id: "cli", username: ada, password: "correct horse" }
      assert.strictEqual((yield* Effect.promise(() => token(origin(), password))).status, 200, "copied from the folder")
    }).pipe(Effect.scoped)
  )

  it.effect("takes a code and a refresh token once, and ends all that came of one that is used again", () =>
    Effect.gen(function* () {
      const { arrived, origin, restart } = yield* platform
      yield* restart()
      const signIn = (count: number) =>
        Effect.gen(function* () {
          const person = browser(origin)
          const asked = yield* Effect.promise(() => askCode(person, ada))
          const code = codeOf(yield* mailTo(arrived, ada, count))
          const pages = yield* Effect.promise(() =>
            Promise.all([1, 2].map(() => browserLike(person).visit(actionOf(asked), { code, by: "code" })))
          )
          const entered = pages.filter(({ url }) => url.startsWith(callback))
          assert.lengthOf(entered, 1, "of two that enter the same mailed code, one signs in")
          return codeIn(entered[0]?.url ?? "")
        })
      const browserLike = (other: ReturnType<typeof browser>) => {
        const copy = browser(origin)
        for (const [name, value] of other.jar) copy.jar.set(name, value)
        return copy
      }
      const code = yield* signIn(1)
      const both = yield* Effect.promise(() => Promise.all([redeem(origin(), code), redeem(origin(), code)]))
      assert.isAtMost(both.filter(({ status }) => status === 200).length, 1)
      for (const { body } of both)
        if (body["refresh_token"] !== undefined)
          assert.strictEqual((yield* Effect.promise(() => renew(origin(), body["refresh_token"]))).status, 400)

      const tokens = yield* Effect.flatMap(signIn(2), (fresh) => Effect.promise(() => redeem(origin(), fresh)))
      const next = yield* Effect.promise(() => renew(origin(), tokens.body["refresh_token"]))
      assert.strictEqual(next.status, 200)
      assert.notStrictEqual(next.body["refresh_token"], tokens.body["refresh_token"])
      yield* restart()
      const reused = yield* Effect.promise(() => renew(origin(), tokens.body["refresh_token"]))
      assert.deepStrictEqual([reused.status, reused.body["error"]], [400, "invalid_grant"])
      assert.strictEqual((yield* Effect.promise(() => renew(origin(), next.body["refresh_token"]))).status, 400)
    }).pipe(Effect.scoped)
  )

  it.effect("says nothing of who has an account, and mails a code to those alone who may enter", () =>
    Effect.gen(function* () {
      const { arrived, origin, restart } = yield* platform
      const idp = yield* restart()
      const people = [ada, "nobody@example.test", "eve@new.test"].map((email) => ({ email, person: browser(origin) }))
      const pages = yield* Effect.promise(() => Promise.all(people.map(({ email, person }) => askCode(person, email))))
      const plain = ({ status, text }: Page, n: number) =>
        `${status} ${text.replaceAll(people[n]?.email ?? "", "X").replaceAll(/interaction\/[^"]+/gu, "I")}`
      assert.lengthOf(new Set(pages.map(plain)), 1)
      const code = codeOf(yield* mailTo(arrived, "eve@new.test"))
      yield* mailTo(arrived, ada)
      assert.deepStrictEqual(arrived.flatMap(({ to }) => to).toSorted(), [ada, "eve@new.test"])

      const [adas, nobodys, eves] = [0, 1, 2].map((n) => ({ page: pages[n], visit: people[n]?.person.visit }))
      const enter = (who: typeof adas, typed: string) =>
        Effect.promise(async () => {
          assert(who?.page !== undefined && who.visit !== undefined)
          return who.visit(actionOf(who.page), { code: typed, by: "code", username: "x" })
        })
      assert.strictEqual((yield* enter(nobodys, code)).status, 401, "a code is good for its own sign-in alone")
      for (const _ of [1, 2, 3, 4, 5]) assert.include((yield* enter(adas, "00000000")).text, "This is not the code")
      const adasCode = codeOf(yield* mailTo(arrived, ada))
      assert.include((yield* enter(adas, adasCode)).text, "no longer works", "after five tries")
      const entered = yield* enter(eves, `${code.slice(0, 4)} ${code.slice(4)}`)
      assert.include(entered.url, `${callback}?code=`)
      const eve = yield* Effect.promise(() => idp.store.userBySignIn("eve@new.test"))
      assert.isTrue(eve?.emailVerified)
      assert.isUndefined(yield* Effect.promise(() => idp.store.userBySignIn("nobody@example.test")))
    }).pipe(Effect.scoped)
  )
})
