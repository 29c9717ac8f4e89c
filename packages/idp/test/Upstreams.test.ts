/** Signing in by a provider elsewhere: another realm of the same program plays it. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type IdentityProvider, start } from "../src/IdentityProvider.ts"
import { options, useFolder } from "./realm.ts"

const folder = useFolder()
const redirect = "http://127.0.0.1:9/portal/callback"
const running: { here?: IdentityProvider; elsewhere?: IdentityProvider } = {}
const here = () => running.here ?? assert.fail("The realm is not running")
const elsewhere = () => running.elsewhere ?? assert.fail("The other realm is not running")
const password = "correct horse"

beforeAll(async () => {
  const people = [
    { email: "ada@example.test", password },
    { email: "eve@new.test", password },
    { email: "mallory@new.test", password, emailVerified: false },
    { email: "stranger@example.test", password }
  ]
  running.elsewhere = await start({ ...options(folder()), clients: [], users: people })
  const { issuer } = running.elsewhere
  const upstream = {
    alias: "elsewhere",
    name: "Elsewhere",
    issuer,
    clientId: "broker",
    clientSecret: "b".repeat(32),
    send: fetch
  }
  const gone = { ...upstream, alias: "gone", name: "Gone", issuer: "http://localhost:9" }
  running.here = await start({
    ...options(folder()),
    upstreams: [upstream, gone],
    registration: { domains: ["new.test"] }
  })
  await running.elsewhere.store.declareClient({
    clientId: "broker",
    secret: "b".repeat(32),
    standardFlowEnabled: true,
    redirectUris: [`${running.here.issuer}/broker/elsewhere/endpoint`]
  })
})
afterAll(async () => {
  await running.here?.close()
  await running.elsewhere?.close()
})

interface Page {
  readonly url: string
  readonly status: number
  readonly text: string
}

/** A browser that keeps cookies for each origin. `stop` tells where it goes no further. */
const browser = () => {
  const jars = new Map<string, Map<string, string>>()
  const visit = async (
    url: string,
    form?: Readonly<Record<string, string>>,
    stop: (url: string) => boolean = () => false
  ): Promise<Page> => {
    const { origin } = new URL(url)
    const jar = jars.get(origin) ?? new Map<string, string>()
    jars.set(origin, jar)
    const response = await fetch(url, {
      redirect: "manual",
      headers: { cookie: Array.from(jar, ([name, value]) => `${name}=${value}`).join("; ") },
      ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) })
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/u.exec(cookie) ?? []
      if (value === "") jar.delete(name)
      else jar.set(name, value)
    }
    const location = response.headers.get("location")
    if (location === null) return { url, status: response.status, text: await response.text() }
    const next = new URL(location, url).href
    return next.startsWith(redirect) || stop(next) ? { url: next, status: 303, text: "" } : visit(next, undefined, stop)
  }
  return visit
}

const authorize = (more: Readonly<Record<string, string>> = {}) =>
  `${here().issuer}/protocol/openid-connect/auth?${new URLSearchParams({
    client_id: "portal",
    response_type: "code",
    scope: "openid email",
    redirect_uri: redirect,
    ...more
  })}`
const actionOf = ({ text, url }: Page) => new URL(/action="([^"]+)"/u.exec(text)?.[1] ?? "", url).href

/** Led there by the hint, signed in there, and back as far as `stop` lets it. */
const signIn = async (visit: ReturnType<typeof browser>, username: string, stop?: (url: string) => boolean) => {
  const there = await visit(authorize({ kc_idp_hint: "elsewhere", prompt: "login" }))
  assert.isTrue(there.url.startsWith(elsewhere().issuer), there.url)
  return visit(actionOf(there), { username, password }, stop)
}

const isAnswer = (url: string) => url.includes("/broker/elsewhere/endpoint")

describe("a provider elsewhere", () => {
  it("signs in by the hint and by its button: the user of the address that it has proved, or a new one", async () => {
    for (const username of ["ada@example.test", "eve@new.test"])
      assert.include((await signIn(browser(), username)).url, `${redirect}?code=`)
    const eve = (await here().store.userBySignIn("eve@new.test")) ?? assert.fail("no user")
    assert.isTrue(eve.emailVerified)
    // The account there stays linked, whatever its address becomes here.
    await here().store.putUser({ ...eve, email: "eve@other.test", username: "eve@other.test" })
    assert.include((await signIn(browser(), "eve@new.test")).url, `${redirect}?code=`)
    assert.isUndefined(await here().store.userBySignIn("eve@new.test"))

    const visit = browser()
    const page = await visit(authorize())
    assert.include(page.text, "Continue with Elsewhere")
    const there = await visit(actionOf(page), { by: "upstream", upstream: "elsewhere" })
    assert.isTrue(there.url.startsWith(elsewhere().issuer), there.url)
  })

  it("that does not answer, or that nobody knows, leaves the other ways to sign in", async () => {
    const gone = await browser()(authorize({ kc_idp_hint: "gone" }))
    assert.strictEqual(gone.status, 502)
    assert.include(gone.text, "The sign-in there did not work.")
    assert.include(gone.text, 'name="password"')
    assert.include((await browser()(authorize({ kc_idp_hint: "nobody" }))).text, 'name="password"')
  })

  it("lets nobody in whose address it has not proved, or who may not register here", async () => {
    for (const username of ["mallory@new.test", "stranger@example.test"]) {
      const refused = await signIn(browser(), username)
      assert.strictEqual(refused.status, 403, username)
      assert.include(refused.text, "Nobody here has this account.")
      assert.isUndefined(await here().store.userBySignIn(username))
    }
  })

  it("is answered once, in the browser that has begun, and by its own issuer and code", async () => {
    const mine = browser()
    const { url } = await signIn(mine, "ada@example.test", isAnswer)
    const changed = (name: string, value?: string) => {
      const other = new URL(url)
      if (value === undefined) other.searchParams.delete(name)
      else other.searchParams.set(name, value)
      return other.href
    }
    const foreign = await browser()(url)
    assert.include(foreign.text, "The sign-in is no longer open.", "in the browser of another person")
    assert.strictEqual((await mine(changed("state", "x"))).status, 400)
    assert.strictEqual((await mine(url.replace("/broker/elsewhere/", "/broker/gone/"))).status, 400)
    assert.include((await mine(url)).url, `${redirect}?code=`)
    assert.strictEqual((await mine(url)).status, 400, "a second time")

    const twice = browser()
    const page = await twice(authorize())
    const lead = () =>
      twice(actionOf(page), { by: "upstream", upstream: "elsewhere" }, (next) => !next.includes("/interaction/"))
    const [first, second] = [await lead(), await lead()].map(
      ({ url: there }) => new URL(there).searchParams.get("state") ?? ""
    )
    const known = (state = "") => here().store.state.records.find("upstream", state)
    assert.deepStrictEqual(
      [await known(first), (await known(second)) !== undefined],
      [undefined, true],
      "the latest alone"
    )

    for (const [name, value] of [
      ["iss", "https://evil.example"],
      ["iss", undefined],
      ["code", "x"]
    ] as const) {
      const visit = browser()
      const answer = await signIn(visit, "ada@example.test", isAnswer)
      const other = new URL(answer.url)
      if (value === undefined) other.searchParams.delete(name)
      else other.searchParams.set(name, value)
      const refused = await visit(other.href)
      assert.deepStrictEqual([refused.status, name], [401, name], String(value))
      assert.include(refused.text, "The sign-in there did not work.")
    }
  })
})
