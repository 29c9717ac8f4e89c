import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, mkdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Browser, chromium } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Stack } from "./Stack.ts"

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) => existsSync(path))
const certutil = ["/usr/bin/certutil", "/usr/local/bin/certutil"].find((path) => existsSync(path))
const missing = executablePath === undefined || certutil === undefined

if (missing) {
  const what = "Chromium (package chromium) and certutil (package libnss3-tools)"
  if (process.env["CI"] === "true") throw new Error(`the gate needs ${what}`)
  process.stderr.write(`\nSKIPPED: the browser tests need ${what}; install them and run again.\n\n`)
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
    await stack.up()
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
})
