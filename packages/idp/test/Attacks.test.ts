/** What a stranger may try at a provider that faces the internet. Codes, passkeys and passwords have files of their own. */
import { Scheduler } from "@catenet/platform/Scheduler"
import { createHash, randomBytes } from "node:crypto"
import { request } from "node:http"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as FileState from "../src/FileState.ts"
import { type IdentityProvider, signInsPerMinute, start } from "../src/IdentityProvider.ts"
import { ada, json, options, token, useFolder } from "./realm.ts"

const folder = useFolder()
const redirect = "http://127.0.0.1:9/portal/callback"
const running: { idp?: IdentityProvider } = {}
const idp = () => running.idp ?? assert.fail("The realm is not running")

beforeAll(async () => {
  const state = FileState.open(folder())
  running.idp = await start({ ...options(folder()), state })
})
afterAll(() => running.idp?.close())

interface Seen {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** One request with the cookies of a jar. */
const visit = async (jar: Map<string, string>, url: string, form?: Record<string, string>): Promise<Seen> => {
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
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const authorize = (more: Readonly<Record<string, string>> = {}) =>
  `${idp().issuer}/protocol/openid-connect/auth?${new URLSearchParams({
    client_id: "portal",
    response_type: "code",
    scope: "openid email",
    redirect_uri: redirect,
    ...more
  })}`

/** Every step of a sign-in, the last of which leads to the application. */
const signIn = async (jar: Map<string, string>, first: string): Promise<ReadonlyArray<Seen>> => {
  const steps: Array<Seen> = []
  let at = first
  let form: Record<string, string> | undefined
  for (let step = 0; step < 10 && !at.startsWith(redirect); step++) {
    const seen = await visit(jar, at, form)
    steps.push(seen)
    const action = /action="([^"]+)"/u.exec(seen.text)?.[1]
    form = seen.headers.has("location") ? undefined : { username: ada.email, password: ada.password }
    at = new URL(seen.headers.get("location") ?? action ?? "", at).href
  }
  return steps
}

const backOf = (steps: ReadonlyArray<Seen>) => new URL(steps.at(-1)?.headers.get("location") ?? "http://none")

const redeem = (code: string | null, more: Readonly<Record<string, string>> = {}) =>
  token(idp(), {
    grant_type: "authorization_code",
    client_id: "portal",
    client_secret: "portal-secret",
    redirect_uri: redirect,
    code: code ?? "",
    ...more
  })

const statusFrom = (localAddress: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    const asked = request(authorize().replace("localhost", "127.0.0.1"), { localAddress }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    asked.on("error", reject).end()
  })

describe("a stranger", () => {
  it("who knows a browser's session before a sign-in has nothing after it", async () => {
    const jar = new Map<string, string>()
    await visit(jar, authorize())
    const before = new Map(jar)
    await signIn(jar, authorize())
    const session = [...jar.keys()].find((name) => name.endsWith("_session")) ?? ""
    assert.notStrictEqual(jar.get(session), before.get(session))
    const stolen = await visit(before, authorize({ prompt: "none" }))
    assert.include(stolen.headers.get("location"), "error=login_required")
    assert.notInclude((await visit(jar, authorize({ prompt: "none" }))).headers.get("location"), "error=")
  })

  it("can take no proof away: a code with a challenge wants its verifier, by S256", async () => {
    const verifier = randomBytes(32).toString("base64url")
    const challenge = { code_challenge: createHash("sha256").update(verifier).digest("base64url") }
    const asked = { ...challenge, code_challenge_method: "S256" }
    const codeFor = async (more: Readonly<Record<string, string>>) =>
      backOf(await signIn(new Map(), authorize(more))).searchParams.get("code")
    assert.strictEqual((await redeem(await codeFor(asked))).status, 400)
    assert.strictEqual((await redeem(await codeFor(asked), { code_verifier: "a".repeat(43) })).status, 400)
    assert.strictEqual((await redeem(await codeFor(asked), { code_verifier: verifier })).status, 200)
    assert.strictEqual(
      (await redeem(await codeFor({}), { code_verifier: verifier })).status,
      400,
      "one that nobody asked"
    )
    for (const more of [{ code_challenge: verifier, code_challenge_method: "plain" }, { code_challenge: verifier }]) {
      const refused = await visit(new Map(), authorize(more))
      assert.include(refused.headers.get("location"), "error=invalid_request")
    }
  })

  it("cannot pass for this provider: each answer to an application names its issuer", async () => {
    const back = backOf(await signIn(new Map(), authorize({ state: "s" })))
    assert.strictEqual(back.searchParams.get("iss"), idp().issuer)
    const refused = await visit(new Map(), authorize({ prompt: "none" }))
    assert.strictEqual(new URL(refused.headers.get("location") ?? "").searchParams.get("iss"), idp().issuer)
    const discovered = await fetch(`${idp().issuer}/.well-known/openid-configuration`)
    assert.isTrue(
      ((await discovered.json()) as Record<string, unknown>)["authorization_response_iss_parameter_supported"]
    )
  })

  it("learns no address of a sign-in: no step of it is passed on as a referrer, stored or framed", async () => {
    const jar = new Map<string, string>()
    const steps = await signIn(jar, authorize())
    assert.isAbove(steps.length, 2)
    for (const { headers, status } of steps) {
      assert.strictEqual(headers.get("referrer-policy"), "no-referrer", String(status))
      assert.include(headers.get("cache-control"), "no-store", String(status))
      if (status === 200) assert.include(headers.get("content-security-policy"), "frame-ancestors 'none'")
    }
  })

  it("whose sign-ins of one network are as many as it may begin in a minute, and those of another go on", async () => {
    const { monotonicMillis } = Scheduler
    let now = monotonicMillis()
    Object.assign(Scheduler, { monotonicMillis: () => now })
    try {
      const statuses = new Set<number | undefined>()
      for (let n = 0; n < signInsPerMinute; n++) statuses.add(await statusFrom("127.0.0.3"))
      assert.deepStrictEqual([...statuses], [303])
      assert.strictEqual(await statusFrom("127.0.0.3"), 429)
      assert.strictEqual(await statusFrom("127.0.0.4"), 303)
      now += 1000
      assert.strictEqual(await statusFrom("127.0.0.3"), 303)
    } finally {
      Object.assign(Scheduler, { monotonicMillis })
    }
  })

  it("at a tunnel below the same domain can set no session cookie for the provider", async () => {
    const behindTls = await start({ ...options(folder()), publicUrl: "https://auth.example.test" })
    try {
      const jar = new Map<string, string>()
      const own = (url: string) => url.replace("https://auth.example.test", `http://127.0.0.1:${behindTls.port}`)
      const form = await visit(
        jar,
        own(
          `${behindTls.issuer}${new URL(authorize()).pathname.slice("/realms/demo".length)}${new URL(authorize()).search}`
        )
      )
      const page = await visit(jar, own(new URL(form.headers.get("location") ?? "", "https://auth.example.test").href))
      const action = /action="([^"]+)"/u.exec(page.text)?.[1] ?? ""
      const answer = { username: ada.email, password: ada.password }
      const signedIn = await visit(jar, own(`https://auth.example.test${action}`), answer)
      const resumed = await fetch(
        own(new URL(signedIn.headers.get("location") ?? "", "https://auth.example.test").href),
        {
          redirect: "manual",
          headers: { cookie: Array.from(jar, ([name, value]) => `${name}=${value}`).join("; ") }
        }
      )
      const sessions = resumed.headers.getSetCookie().filter((cookie) => /session/u.test(cookie))
      assert.isNotEmpty(sessions)
      for (const cookie of sessions) {
        assert.match(cookie, /^__Host-catenet_session(?:\.sig)?=/u)
        for (const part of [/; path=\/(?:;|$)/iu, /; secure(?:;|$)/iu, /; httponly(?:;|$)/iu])
          assert.match(cookie, part)
        assert.notMatch(cookie, /domain/iu)
      }
    } finally {
      await behindTls.close()
    }
  })

  it("signs nobody out by a form from elsewhere, and a person's own form ends everything everywhere", async () => {
    const jar = new Map<string, string>()
    await signIn(jar, authorize())
    const granted = { grant_type: "password", client_id: "admin-cli", username: ada.email, password: ada.password }
    const { refresh_token: refresh } = await json(await token(idp(), granted))
    const renewed = () =>
      token(idp(), { grant_type: "refresh_token", client_id: "admin-cli", refresh_token: refresh as string })
    const account = `${idp().issuer}/account`
    const page = await visit(jar, account)
    assert.include(page.text, "Sign out everywhere")
    for (const proof of ["", "x".repeat(43)]) {
      const foreign = await visit(jar, account, { do: "everywhere", proof })
      assert.deepStrictEqual([foreign.status, foreign.text.includes("Sign out everywhere")], [200, true])
    }
    const other = new Map(jar)
    const proof = /name="proof" value="([^"]+)"/u.exec(page.text)?.[1] ?? ""
    assert.strictEqual((await visit(jar, account, { do: "everywhere", proof })).status, 303)
    for (const browser of [jar, other])
      assert.include((await visit(browser, authorize({ prompt: "none" }))).headers.get("location"), "login_required")
    assert.strictEqual((await renewed()).status, 400)
  })
})
