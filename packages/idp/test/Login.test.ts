import * as client from "openid-client"
import { assert, describe, it } from "vitest"
import { ada, useRealm } from "./realm.ts"

const { idp } = useRealm()
const redirect = "http://127.0.0.1:9/portal/callback"

/** A browser that keeps cookies and stops at the application's own address. */
const browser = (accepted = "en") => {
  const jar = new Map<string, string>()
  const visit = async (url: string, form?: Record<string, string>): Promise<{ url: string; text: string }> => {
    const response = await fetch(url, {
      redirect: "manual",
      headers: { "accept-language": accepted, cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) })
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      jar.set(name, value)
    }
    const location = response.headers.get("location")
    if (location === null) return { url, text: await response.text() }
    const next = new URL(location, url).href
    return next.startsWith("http://127.0.0.1:9/") ? { url: next, text: "" } : visit(next)
  }
  return visit
}

const action = (text: string, base: string) => new URL(/action="([^"]+)"/.exec(text)?.[1] ?? "", base).href

const fieldsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/name="([a-z]+)" value="([^"]*)"/gu)].map(([, name = "", value = ""]) => [name, value])
  )

/** Presses the one button of a page, as a browser does: the hidden fields of its form are sent, and the button's own. */
const press = (visit: ReturnType<typeof browser>, { text, url }: { readonly text: string; readonly url: string }) => {
  const [button = "", ...others] = text.match(/<button [^>]*>/gu) ?? []
  const form = text.match(/<form [^>]*>.*?<\/form>/su)?.[0] ?? ""
  const id = /form="([^"]+)"/u.exec(button)?.[1] ?? ""
  assert.deepStrictEqual([others, /id="([^"]+)"/u.exec(form)?.[1]], [[], id])
  return visit(action(form, url), { ...fieldsOf(form), ...fieldsOf(button) })
}

const configured = (clientId: string, secret?: string) =>
  client.discovery(
    new URL(idp().issuer),
    clientId,
    {},
    secret === undefined ? client.None() : client.ClientSecretPost(secret),
    { execute: [client.allowInsecureRequests] }
  )

describe("the pages", () => {
  it("speak the language that the application asks for, else the browser's, from the form to the sign-out", async () => {
    const config = await configured("portal", "portal-secret")
    const address = async (more: Record<string, string>) =>
      client.buildAuthorizationUrl(config, {
        redirect_uri: redirect,
        scope: "openid email",
        code_challenge: await client.calculatePKCECodeChallenge(client.randomPKCECodeVerifier()),
        code_challenge_method: "S256",
        ...more
      }).href
    for (const [asked, accepted, language, title] of [
      [undefined, "de-AT,en;q=0.5", "de", "Anmelden"],
      ["de", "en", "de", "Anmelden"],
      ["fr de-CH en", "en", "de", "Anmelden"],
      ["en", "de", "en", "Sign in"],
      [undefined, "fr", "en", "Sign in"]
    ] as const) {
      const visit = browser(accepted)
      const form = await visit(await address(asked === undefined ? {} : { ui_locales: asked }))
      assert.include(form.text, `<html lang="${language}">`)
      assert.include(form.text, `<h1>${title}</h1>`)
      const wrong = await visit(action(form.text, form.url), { username: ada.email, password: "no" })
      assert.include(wrong.text, `<html lang="${language}">`)
      assert.include(wrong.text, language === "de" ? "gehören nicht zusammen" : "do not belong together")
    }
    const visit = browser("de")
    const form = await visit(await address({}))
    await visit(action(form.text, form.url), { username: ada.email, password: ada.password })
    const leaving = `${idp().issuer}/protocol/openid-connect/logout`
    const question = await visit(leaving)
    assert.include(question.text, "Möchten Sie sich abmelden?")
    const left = await press(visit, question)
    assert.include(left.text, "Sie sind abgemeldet.")
    // Without a session: the page has its button all the same.
    const again = await visit(leaving)
    assert.notInclude(again.text, "<script")
    assert.include(again.text, `<button type="submit" form="op.form">Weiter</button>`)
    assert.include((await press(visit, again)).text, "Sie sind abgemeldet.")
    const unknown = await visit(`${idp().issuer}/protocol/openid-connect/auth?client_id=none`)
    assert.include(unknown.text, "Das hat nicht geklappt")
    const gone = await visit(`${idp().issuer}/interaction/none`)
    assert.include(gone.text, "Die Anmeldung ist nicht mehr offen.")
    const device = await visit(`${idp().issuer}/device`)
    assert.include(device.text, "Geben Sie den Code ein")
  })
})

describe("signing in", () => {
  it("takes a browser through code, PKCE, state and nonce, and back out", async () => {
    const config = await configured("portal", "portal-secret")
    const pkceCodeVerifier = client.randomPKCECodeVerifier()
    const expectedState = client.randomState()
    const expectedNonce = client.randomNonce()
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: redirect,
      scope: "openid email",
      state: expectedState,
      nonce: expectedNonce,
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: "S256",
      login_hint: "ada@example.test"
    })
    const visit = browser()
    const form = await visit(url.href)
    assert.include(form.text, 'value="ada@example.test"')
    const wrong = await visit(action(form.text, form.url), { username: ada.email, password: "<b>" })
    assert.include(wrong.text, "do not belong together")
    const back = await visit(action(form.text, form.url), { username: ada.email, password: ada.password })
    const tokens = await client.authorizationCodeGrant(config, new URL(back.url), {
      pkceCodeVerifier,
      expectedState,
      expectedNonce,
      idTokenExpected: true
    })
    assert.strictEqual(tokens.claims()?.["email"], ada.email)
    assert.strictEqual(tokens.claims()?.["email_verified"], true)
    const again = await visit(url.href)
    assert.include(again.url, `${redirect}?code=`, "the session spares the second sign-in")
    const logout = client.buildEndSessionUrl(config, {
      id_token_hint: tokens.id_token ?? "",
      post_logout_redirect_uri: "http://127.0.0.1:9/portal"
    })
    const question = await visit(logout.href)
    const out = await press(visit, question)
    assert.match(out.url, /^http:\/\/127\.0\.0\.1:9\/portal/)
    assert.include((await visit(url.href)).text, "Sign in")
  })

  it("lets another person sign in where one has signed in already", async () => {
    await idp().store.putUser({
      ...((await idp().store.userBySignIn(ada.email)) ?? assert.fail("no user")),
      id: "7b0c3b6e-0000-4000-8000-000000000001",
      username: "vera@example.test",
      email: "vera@example.test"
    })
    const config = await configured("portal", "portal-secret")
    const visit = browser()
    const subjects: Array<string | undefined> = []
    for (const username of [ada.email, "vera@example.test", "vera@example.test"]) {
      const parameters = { redirect_uri: redirect, scope: "openid email", prompt: "login" }
      const form = await visit(client.buildAuthorizationUrl(config, parameters).href)
      const back = await visit(action(form.text, form.url), { username, password: ada.password })
      const tokens = await client.authorizationCodeGrant(config, new URL(back.url), { idTokenExpected: true })
      subjects.push(tokens.claims()?.["email"] as string)
    }
    assert.deepStrictEqual(subjects, [ada.email, "vera@example.test", "vera@example.test"])
  })

  it("sends the registration address to the same page, and refuses a foreign return address", async () => {
    const base = `${idp().issuer}/protocol/openid-connect`
    const query = `client_id=portal&response_type=code&scope=openid&redirect_uri=${encodeURIComponent(redirect)}`
    assert.include((await browser()(`${base}/registrations?${query}`)).text, "Sign in")
    const evil = query.replace(encodeURIComponent(redirect), encodeURIComponent("https://evil.example/"))
    assert.include((await browser()(`${base}/auth?${evil}`)).text, "redirect_uri")
  })

  it("connects a device that cannot show a page", async () => {
    const config = await configured("device")
    const device = await client.initiateDeviceAuthorization(config, { scope: "openid email" })
    const visit = browser()
    const enter = await visit(device.verification_uri)
    const xsrf = (text: string) => /name="xsrf" value="([^"]+)"/.exec(text)?.[1] ?? ""
    const confirm = await visit(action(enter.text, enter.url), { xsrf: xsrf(enter.text), user_code: device.user_code })
    const agreed = await visit(action(confirm.text, confirm.url), {
      xsrf: xsrf(confirm.text),
      user_code: device.user_code,
      confirm: "yes"
    })
    const done = await visit(action(agreed.text, agreed.url), { username: ada.email, password: ada.password })
    assert.include(done.text, "Device connected")
    const tokens = await client.pollDeviceAuthorizationGrant(config, { ...device, interval: 1 })
    assert.isString(tokens.access_token)
  })
})
