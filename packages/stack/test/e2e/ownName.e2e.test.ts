/**
 * What a person sees who exposes a service: the name turns end-to-end by itself, a login is required in the portal, somebody signs in
 * and is removed. A campaign, since what comes before the turn depends on how soon the certificate is there.
 */
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { eventually } from "@catenet/testing/Eventually"
import { Stack } from "@catenet/testing/stack/e2e/Stack"
import { randomBytes } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { createServer, type IncomingMessage } from "node:http"
import { request } from "node:https"
import { type AddressInfo, isIP } from "node:net"
import { join } from "node:path"
import type { TLSSocket } from "node:tls"
import { type Browser, chromium, type Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { WebSocketServer } from "ws"
import { confirm } from "../agent/AccountStack.ts"
import { newcomer } from "./People.ts"
import { inMemoryOf, withChildren } from "./ProcessMemory.ts"

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) => existsSync(path))
const isWanted = process.env["CATENET_OWN_NAME"] !== undefined && executablePath !== undefined

/** The fields that an origin gets, without those that differ from request to request. */
const told = ({ headers }: IncomingMessage) =>
  Object.entries(headers)
    .filter(([name]) => !["x-request-id", "x-gate-assertion", "cookie"].includes(name))
    .map(([name, value]) => `${name}: ${String(value)}`)
    .toSorted()
    .join("\n")

describe.runIf(isWanted)("a service that one command exposes", () => {
  let stack: Stack
  let browser: Browser

  beforeAll(async () => {
    stack = await Stack.make()
    await stack.up()
    browser = await chromium.launch({ executablePath: executablePath ?? "", args: ["--no-sandbox", "--disable-gpu"] })
  })
  afterAll(async () => {
    await browser?.close()
    await stack?.dispose()
  })

  const person = async () => (await browser.newContext({ ignoreHTTPSErrors: true, locale: "en" })).newPage()
  const signIn = async (page: Page, { email, password }: { readonly email: string; readonly password: string }) => {
    await page.getByLabel(/e-mail/i).fill(email)
    await page.getByLabel(/password/i).fill(password)
    await page.getByRole("button").click()
  }

  it("turns end-to-end by itself, and its agent asks for the login and cuts whom the owner removes", async () => {
    const heard: Array<IncomingMessage> = []
    const origin = createServer((asked, answer) => {
      heard.push(asked)
      asked.resume().on("end", () => {
        answer.setHeader("content-type", "text/html")
        answer.end(`<h1>hello ${String(asked.headers["x-gate-email"])}</h1>`)
      })
    })
    const sockets = new WebSocketServer({ server: origin })
    sockets.on("connection", (socket) => socket.send("open"))
    await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve))
    const { port } = origin.address() as AddressInfo
    const home = await makeHome()
    const owner = await newcomer(stack, "owner@example.test")
    const login = runAgent(home, {}, ["login", stack.url("")])
    await confirm((await login.said("or open ")).split("or open ")[1] ?? "", owner.email as never)
    assert.strictEqual(await login.exited, 0, login.lines.join("\n"))
    // The development authority is not one that the system trusts: without this the name stays edge-terminated.
    const agent = runAgent(home, { CT_ACME_CA_FILE: stack.path("development-root.pem") }, ["expose", String(port)])
    try {
      await eventually(
        () => agent.stdout() !== "",
        () => `an address: ${agent.lines.join("\n")}`,
        60_000
      )
      const { hostname } = new URL(agent.stdout().trim())
      const here = `https://${hostname}:${stack.ports.frontDoor}`
      /** A visit without a browser, by which certificate it was served, and what the origin was told. */
      const visit = () =>
        new Promise<{
          readonly status: number
          readonly certificate: string
          readonly isTrusted: boolean
          readonly fields: string
        }>((resolve, reject) => {
          const before = heard.length
          const asked = request({
            host: "127.0.0.1",
            port: stack.ports.frontDoor,
            servername: hostname,
            ca: stack.root,
            // The development edge takes a few seconds to have the name in its certificate.
            rejectUnauthorized: false,
            agent: false,
            headers: { host: hostname, "x-gate-email": "root@victim.example", "x-forwarded-for": "203.0.113.66" }
          })
          asked.on("response", (answer) => {
            const socket = answer.socket as TLSSocket
            const [certificate, isTrusted] = [socket.getPeerCertificate().fingerprint256, socket.authorized]
            const one = heard.slice(before).find(({ headers }) => headers["user-agent"] === undefined)
            answer.resume().on("end", () =>
              resolve({
                status: answer.statusCode ?? 0,
                certificate,
                isTrusted,
                fields: one === undefined ? "" : told(one)
              })
            )
          })
          asked.on("error", reject)
          asked.end()
        })
      const first = await visit()
      assert.strictEqual(first.status, 200)
      const isOwn = async () => {
        const stored = JSON.parse(readFileSync(join(home.path, ".ct-agent", "oidc-token.json"), "utf8"))
        const headers = { authorization: `Bearer ${String(stored["access_token"])}` }
        const tunnels = (await (await fetch(stack.url("/me/tunnels"), { headers })).json()) as ReadonlyArray<
          Readonly<Record<string, unknown>>
        >
        return tunnels.some((tunnel) => tunnel["hostname"] === hostname && tunnel["status"] === "gruen")
      }
      assert.isFalse(await isOwn(), "the edge still ends TLS")
      let last = first
      await eventually(
        async () => {
          if (!(await isOwn())) return false
          last = await visit().catch(() => last)
          return last.certificate !== first.certificate && last.status === 200
        },
        () => `the name turns end-to-end: ${agent.lines.join("\n")}`,
        120_000
      )
      process.stderr.write(`\nbefore the turn and after it the origin was told:\n${first.fields}\n\n`)
      assert.isTrue(last.isTrusted, "by the root of the development authority")
      assert.strictEqual(last.fields, first.fields)
      assert.notInclude(first.fields, "victim")
      assert.notEqual(isIP(/^x-real-ip: (.*)$/m.exec(first.fields)?.[1] ?? ""), 0)

      const portal = await person()
      await portal.goto(stack.portal("/portal/login"))
      await signIn(portal, owner)
      await portal.waitForURL(/\/portal\/home$/u)
      await portal.goto(stack.portal("/portal/tunnels"))
      await portal.locator("main tbody th a").first().click()
      await portal.waitForURL(/\/portal\/tunnels\/[0-9a-f]{32}/u)
      const access = `${portal.url().split("?")[0]}?tab=access`
      await portal.goto(access)
      const sends = (selector: string) => Promise.all([portal.waitForNavigation(), portal.locator(selector).click()])
      await sends('form[action$="/require-login"] input[role=switch]')
      await portal.goto(access)
      const vera = await newcomer(stack, "vera@example.test")
      await portal.locator('form[action$="/login-allowlist"] input[name=email]').fill(vera.email)
      await sends('form[action$="/login-allowlist"] button')
      await eventually(
        () =>
          visit().then(
            ({ status }) => status === 302,
            () => false
          ),
        "the login is asked for",
        20_000
      )
      assert.strictEqual((await visit()).certificate, last.certificate, "by the agent, whose name stays end-to-end")

      assert.isTrue(await isOwn(), "with a login, too")
      const page = await person()
      await page.goto(`${here}/`)
      await signIn(page, vera)
      await page.waitForURL(`${here}/`)
      assert.strictEqual(await page.getByRole("heading", { level: 1 }).textContent(), `hello ${vera.email}`)
      const mark = randomBytes(16).toString("hex")
      await page.evaluate(
        `fetch("/", { method: "POST", body: ${JSON.stringify(`${mark}\n`.repeat(4_000))} }).then((it) => it.text())`
      )
      const cookie =
        (await page.context().cookies(here)).find(({ name }) => name === "__Host-ct_gate_session")?.value ?? ""
      assert.notStrictEqual(cookie, "")
      const edge = withChildren(stack.pid("edge"))
      const found = edge.flatMap((pid) => [...inMemoryOf(pid, [cookie, mark, hostname])])
      assert.include(found, hostname, "the search finds what is there")
      assert.notInclude(found, cookie)
      assert.notInclude(found, mark)

      await page.evaluate(`void (globalThis.cut = new Promise((resolve) => {
        const socket = new WebSocket(location.href.replace("http", "ws"))
        socket.onmessage = () => { globalThis.heardFirst = true }
        socket.onclose = () => resolve()
      }))`)
      await page.waitForFunction("globalThis.heardFirst === true")
      await portal.goto(access)
      const removal = performance.now()
      await sends('form[action*="/login-allowlist/"][action$="/remove"] button')
      await page.evaluate("globalThis.cut")
      const cutMillis = Math.round(performance.now() - removal)
      process.stderr.write(`cut ${cutMillis} ms after the click; searched edge processes ${edge.join(", ")}\n`)
      await page.goto(`${here}/`)
      assert.isFalse(page.url().startsWith(here), page.url())
    } finally {
      agent.kill("SIGINT")
      await agent.exited
      origin.closeAllConnections()
      origin.close()
      await home[Symbol.asyncDispose]()
    }
  }, 300_000)
})
