import { mintPair } from "@catenet/testing/edge/TestEdge"
import { eventually } from "@catenet/testing/Eventually"
import { cramped, violations } from "@catenet/testing/server/portal/browser/Violations"
import { invalidities } from "@catenet/testing/server/portal/HtmlValidity"
import { netOrigin } from "@catenet/testing/stack/e2e/Origins"
import { Stack } from "@catenet/testing/stack/e2e/Stack"
import { ask } from "@catenet/testing/stack/e2e/Visitor"
import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Browser, chromium, type Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { demo, newcomer, owner } from "./People.ts"
import { proxyPages } from "./ProxyPages.ts"
import { asAgent, serve } from "./Tunnel.ts"

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) => existsSync(path))
const certutil = ["/usr/bin/certutil", "/usr/local/bin/certutil"].find((path) => existsSync(path))
const missing = executablePath === undefined || certutil === undefined

if (missing) {
  const what = "Chromium (package chromium) and certutil (package libnss3-tools)"
  if (process.env["CI"] === "true") throw new Error(`the gate needs ${what}`)
  process.stderr.write(`\nSKIPPED: the browser tests need ${what}; install them and run again.\n\n`)
}

/** Pictures of the pages, for those who change them, in the folder that this variable names. */
const pictures = process.env["CATENET_PICTURES"]

/** What is wrong with the page that is shown, in both schemes and in a narrow window. A translation differs in its room alone. */
const faultsOf = async (page: Page, name: string, isTranslation: boolean): Promise<ReadonlyArray<string>> => {
  const paint = async (view: string) => {
    if (pictures === undefined) return
    mkdirSync(pictures, { recursive: true })
    await page.screenshot({ path: join(pictures, `${name}-${view}.png`), fullPage: true })
  }
  await page.setViewportSize({ width: 390, height: 900 })
  const narrow = await cramped(page)
  await paint("narrow")
  await page.setViewportSize({ width: 1280, height: 900 })
  await paint("light")
  const light = isTranslation ? [] : await violations(page)
  await page.emulateMedia({ colorScheme: "dark" })
  await paint("dark")
  const dark = isTranslation ? [] : await violations(page, ["color-contrast"])
  await page.emulateMedia({ colorScheme: "light" })
  return [...narrow, ...(await cramped(page)), ...light, ...dark].map((fault) => `${name}: ${fault}`)
}

const quiet = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-default-apps",
  "--no-default-browser-check"
]

describe.skipIf(missing)("a browser", () => {
  let stack: Stack
  let home: string
  let browser: Browser

  beforeAll(async () => {
    stack = await Stack.make()
    // The gate stands at the edge, which must go on ending the TLS of the demo tunnel.
    await stack.up([], { CT_CP_ACME_BROKER_ENABLED: "0" })
    home = mkdtempSync(join(tmpdir(), "catenet-browser-"))
    const store = join(home, ".pki", "nssdb")
    mkdirSync(store, { recursive: true })
    const trust = (...args: ReadonlyArray<string>) => execFileSync(certutil ?? "", [...args, "-d", `sql:${store}`])
    trust("-N", "--empty-password")
    trust("-A", "-n", "development", "-t", "C,,", "-i", stack.path("development-root.pem"))
    browser = await chromium.launch({
      executablePath: executablePath ?? "",
      args: quiet,
      env: { PATH: process.env["PATH"] ?? "", HOME: home }
    })
  })
  afterAll(async () => {
    await browser?.close()
    await stack?.dispose()
    rmSync(home, { recursive: true, force: true })
  })

  it("shows the origin's page through the tunnel, trusting only the development root", async () => {
    const page = await browser.newPage()
    const problems: Array<string> = []
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()))
    page.on("pageerror", (error) => problems.push(error.message))
    const response = await page.goto(`https://hello.localhost:${stack.ports.frontDoor}/`)
    assert.strictEqual(response?.status(), 200)
    assert.strictEqual(await page.getByRole("heading", { level: 1 }).textContent(), "Hello from your machine")
    const security = await response?.securityDetails()
    assert.match(security?.issuer ?? "", /Catenet development root/)
    assert.deepStrictEqual(
      problems.filter((text) => !text.includes("favicon")),
      []
    )
  })

  it("shows the documentation of the control plane", async () => {
    const page = await browser.newPage()
    const problems: Array<string> = []
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()))
    await page.goto(stack.url("/docs"))
    assert.include(await page.content(), "/enroll/redeem")
    assert.deepStrictEqual(
      problems.filter((text) => !text.includes("favicon")),
      []
    )
  })

  it("shows pages of edge, identity provider and demo that are valid, hold no fault that axe finds, and fit 390 px", async () => {
    const found: Array<string> = []
    const pageIn = async (language: string) => (await browser.newContext({ locale: language })).newPage()
    const looks = async (page: Page, name: string, isTranslation: boolean) => {
      for (const invalid of invalidities(await page.content())) found.push(`${name}: ${invalid}`)
      found.push(...(await faultsOf(page, name, isTranslation)))
    }
    const english = await pageIn("en")
    for (const [name, html] of proxyPages) {
      await english.setContent(html)
      await looks(english, name, name.endsWith("-de"))
    }
    const realm = `http://localhost:${stack.ports.identityProvider}/realms/catenet`
    for (const language of ["en", "de"]) {
      const page = await pageIn(language)
      const look = (name: string) => looks(page, `${name}-${language}`, language === "de")
      await page.goto(`https://hello.localhost:${stack.ports.frontDoor}/`)
      await look("demo")
      await page.goto(stack.portal("/portal/login"))
      assert.strictEqual(await page.locator("html").getAttribute("lang"), language)
      await look("provider-sign-in")
      await page.fill("#username", "demo@catenet.localhost")
      await page.fill("#password", "not this one")
      await page.locator("button").click()
      await page.getByRole("alert").waitFor()
      await look("provider-refused")
      const { email, password } = demo(stack)
      await page.fill("#username", email)
      await page.fill("#password", password)
      await page.locator("button").click()
      await page.waitForURL(/\/portal\/home$/u)
      // The demo user runs this platform.
      assert.strictEqual((await page.goto(stack.portal("/operators")))?.status(), 200)
      for (const [name, path] of [
        ["sign-out", "/protocol/openid-connect/logout"],
        ["device", "/device"],
        ["error", "/protocol/openid-connect/auth?client_id=not-known"],
        ["not-open", "/interaction/nothing"]
      ] as const) {
        await page.goto(`${realm}${path}`)
        await page.locator("h1").waitFor()
        await look(`provider-${name}`)
      }
      await page.context().close()
    }
    await english.context().close()
    assert.deepStrictEqual(found, [])
  })

  it("signs visitors of a gated host in at the embedded provider, and out again, and lets others ask for access", async () => {
    const call = await owner(stack)
    const { id } = (await call("GET", "/me/tunnels")).find(({ name }: { name: string }) => name === "hello")
    const target = { host: "hello.localhost", port: stack.ports.frontDoor, ca: stack.root }
    const origin = `https://hello.localhost:${stack.ports.frontDoor}`
    // The order that turns the gate on cuts what runs at that moment.
    const answers = (status: number) =>
      ask(target).then(
        (answer) => answer.status === status,
        () => false
      )
    await call("PATCH", `/me/tunnels/${id}`, { require_login: true })
    try {
      await eventually(() => answers(302), "the gate")
      assert.strictEqual((await ask(target, { method: "POST" })).status, 401)
      const page = await browser.newPage()
      const signIn = async (person: { readonly email: string; readonly password: string }) => {
        await page.getByLabel(/e-mail/i).fill(person.email)
        await page.getByLabel(/password/i).fill(person.password)
        await page.getByRole("button").click()
      }
      const headed = (name: string) => page.getByRole("heading", { level: 1, name }).waitFor()

      await page.goto(`${origin}/photos?year=2026`)
      assert.include(page.url(), `http://localhost:${stack.ports.identityProvider}/`)
      await signIn(demo(stack))
      await page.waitForURL(`${origin}/photos?year=2026`)
      assert.include(await page.locator("dl").textContent(), "Signed in asdemo@catenet.localhost")

      await page.goto(stack.url("/gate/logout?host=hello.localhost"))
      assert.include(page.url(), `http://localhost:${stack.ports.identityProvider}/`)
      await signIn(await newcomer(stack, "vera@example.test"))
      await page.waitForURL(({ pathname }) => pathname === "/gate/callback")
      await headed("Not allowed")
      await page.getByRole("link", { name: "Ask the owner for access" }).click()
      await page.getByLabel("E-mail address").fill("vera@example.test")
      await page.getByRole("button", { name: "Ask" }).click()
      await headed("Asked")
      const asked = await call("GET", `/me/tunnels/${id}/access-requests`)
      assert.deepStrictEqual(
        asked.map(({ email }: { email: string }) => email),
        ["vera@example.test"]
      )
      assert.strictEqual(await page.goto(`${origin}/`).then((answer) => answer?.status()), 200)
      assert.include(page.url(), `http://localhost:${stack.ports.identityProvider}/`)

      const link = await call("POST", `/me/tunnels/${id}/share-links`, { ttl: "1h", single_use: true })
      await page.goto(`${link.url}&return=/photos`)
      await page.getByRole("button", { name: "Open" }).click()
      await page.waitForURL(`${origin}/photos`)
      assert.include(await page.locator("dl").textContent(), `Signed in asshare:${link.id}`)
    } finally {
      await call("PATCH", `/me/tunnels/${id}`, { require_login: false })
      await eventually(() => answers(200), "the end of the gate")
    }
  })

  it("signs visitors of an end-to-end name in at its agent, and shuts out one whom the owner removes", async () => {
    const call = await owner(stack)
    const { hostname, id } = await call("POST", "/me/tunnels", { name: "own" })
    await call("PATCH", `/me/tunnels/${id}`, { require_login: true })
    const made = await call("POST", `/me/tunnels/${id}/install`)
    const origin = await netOrigin((socket) => {
      socket.once("data", (chunk: Buffer) => {
        const named = /^x-gate-email: (.*)\r$/im.exec(chunk.toString())?.[1]
        socket.end(`HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nhello ${named}`)
      })
    })
    const pair = mintPair([hostname])
    const file = (name: string, content: string) => {
      writeFileSync(join(home, name), content)
      return join(home, name)
    }
    const variables = {
      CT_AGENT_CP_URL: stack.url(""),
      CT_AGENT_JOIN_TOKEN: made.join_token,
      CT_AGENT_TOKEN: made.routing_token,
      CT_AGENT_HOSTNAME: hostname,
      CT_AGENT_MODE: "browser",
      CT_AGENT_TRANSPORTS: "mux",
      CT_AGENT_ORIGIN: `127.0.0.1:${origin.port}`,
      CT_AGENT_STATE_DIR: join(home, "own"),
      CT_AGENT_EDGE_CERT: join(home, "own-edge.der"),
      CT_AGENT_ORIGIN_TLS: "terminate",
      CT_AGENT_TLS_CERT: file("own.pem", pair.cert),
      CT_AGENT_TLS_KEY: file("own-key.pem", pair.key)
    }
    const target = { host: hostname, port: stack.ports.frontDoor, ca: pair.root }
    const agent = await serve(stack, { hostname, token: made.routing_token, variables, target })
    try {
      const path = `/agent/acme-issuance-complete/${made.routing_token}/${hostname}`
      const completed = async () => (await asAgent(stack, join(home, "own"), "POST", path)).status === 200
      await eventually(completed, "the name turns end-to-end", 20_000)
      const isOwn = () =>
        ask(target).then(
          ({ status }) => status === 302,
          () => false
        )
      await eventually(isOwn, "the agent's own certificate", 10_000)
      const context = await browser.newContext({ ignoreHTTPSErrors: true })
      const page = await context.newPage()
      const here = `https://${hostname}:${stack.ports.frontDoor}/`
      await page.goto(here)
      const { email, password } = await newcomer(stack, "ines@example.test")
      await call("POST", `/me/tunnels/${id}/login-allowlist`, { email })
      await page.getByLabel(/e-mail/i).fill(email)
      await page.getByLabel(/password/i).fill(password)
      await page.getByRole("button").click()
      await page.waitForURL(here)
      assert.strictEqual(await page.locator("body").textContent(), `hello ${email}`)
      await call("POST", `/me/tunnels/${id}/login-allowlist/${encodeURIComponent(email)}/remove`)
      const isShutOut = async () => {
        await page.goto(here)
        return !page.url().startsWith(here)
      }
      await eventually(isShutOut, "she is shut out", 10_000)
      await context.close()
    } finally {
      await agent.stop()
      await origin.close()
    }
  })
})
