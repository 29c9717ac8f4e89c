import * as Keycloak from "@catenet/testing/server/Keycloak"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ended, home, running } from "./AccountStack.ts"
import { visitor } from "./CookieVisits.ts"

const kim = { username: "kim@people.example", password: "correct horse" }

const json = async (url: string, form: Readonly<Record<string, string>>) =>
  (await (await fetch(url, { method: "POST", body: new URLSearchParams(form) })).json()) as Record<string, string>

/** A person of the realm. */
const person = async (origin: string) => {
  const admin = await json(`${origin}/realms/master/protocol/openid-connect/token`, {
    grant_type: "password",
    client_id: "admin-cli",
    username: "admin",
    password: "admin"
  })
  const body = {
    username: kim.username,
    email: kim.username,
    emailVerified: true,
    enabled: true,
    firstName: "Kim",
    lastName: "Kim",
    credentials: [{ type: "password", value: kim.password }]
  }
  await fetch(`${origin}/admin/realms/catenet/users`, {
    method: "POST",
    headers: { authorization: `Bearer ${admin["access_token"]}`, "content-type": "application/json" },
    body: JSON.stringify(body)
  })
}

const unescaped = (text: string) => text.replaceAll("&amp;", "&")

/** Follows the pages from the address of the code to the one that says that the device is connected. */
const confirm = async (address: string) => {
  const visit = visitor()
  let page = await visit(address)
  for (let step = 0; step < 4; step++) {
    const [, action] = /<form[^>]*action="([^"]+)"/u.exec(page.text) ?? []
    if (action === undefined) break
    const isSignIn = page.text.includes('name="password"')
    const code = /name="code" value="([^"]*)"/u.exec(page.text)?.[1]
    const form = isSignIn ? kim : { accept: "Yes", ...(code === undefined ? {} : { code }) }
    page = await visit(new URL(unescaped(action), page.url).href, form)
  }
  assert.match(page.text, /Device Login Successful/u)
}

describe.skipIf(!Keycloak.isInstalled)("a login at Keycloak 26 (needs CATENET_KEYCLOAK_DIR)", () => {
  it.live(
    "goes by its device pages, is refreshed, and ends there at the logout",
    () =>
      Effect.gen(function* () {
        const origin = yield* Keycloak.start
        yield* Effect.promise(() => person(origin))
        const at = yield* home
        const env = { CT_OIDC_ISSUER: `${origin}/realms/catenet` }
        const agent = yield* running(at, ["login"], env)
        const line = yield* Effect.promise(() => agent.said("or open "))
        yield* Effect.promise(() => confirm(line.split("or open ")[1] ?? ""))
        assert.strictEqual(yield* Effect.promise(() => agent.exited), 0, agent.lines.join("\n"))
        const file = join(at.path, ".ct-agent", "oidc-token.json")
        const stored = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>
        assert.isNumber(stored["access_expires_at"])
        assert.isString(stored["refresh_token"])

        const expire = (login: Readonly<Record<string, unknown>>) =>
          writeFileSync(file, JSON.stringify({ ...login, access_expires_at: 1 }), { mode: 0o600 })
        expire(stored)
        const self = yield* ended(at, ["whoami", "--json"])
        assert.strictEqual(self.code, 0, self.stderr)
        assert.include(JSON.parse(self.stdout), { issuer: env.CT_OIDC_ISSUER, credential: "stored" })
        const renewed = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>
        assert.notStrictEqual(renewed["access_token"], stored["access_token"])

        const left = yield* ended(at, ["logout"])
        assert.strictEqual(left.code, 0)
        assert.notInclude(left.stderr, "was not informed")
        assert.isFalse(existsSync(file))
        expire(renewed)
        assert.strictEqual((yield* ended(at, ["whoami"])).code, 4)
      }).pipe(Effect.scoped),
    400_000
  )
})
