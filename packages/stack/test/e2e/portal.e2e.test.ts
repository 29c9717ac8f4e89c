/**
 * A person at the portal, from the first visit to a tunnel that serves.
 * One file, since it is one walk, in which each step needs the one before.
 */
import { eventually } from "@catenet/testing/Eventually"
import { press, type, walk } from "@catenet/testing/server/portal/browser/ByKeyboard"
import { httpOrigin } from "@catenet/testing/stack/e2e/Origins"
import { onlyNodeAndNpm, pasted, Stack } from "@catenet/testing/stack/e2e/Stack"
import { platformSources } from "@catenet/testing/stack/PlatformProgram"
import { spawn } from "node:child_process"
import { generateKeyPairSync } from "node:crypto"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { type Browser, chromium, type Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { newcomer } from "./People.ts"

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) => existsSync(path))
const missing = executablePath === undefined

if (missing) {
  if (process.env["CI"] === "true") throw new Error("the gate needs Chromium (package chromium)")
  process.stderr.write("\nSKIPPED: the tests of the portal need Chromium (package chromium).\n\n")
}

/** Pictures of the pages, for those who change them, in the folder that this variable names. */
const pictures = process.env["CATENET_PICTURES"]

const freshKey = () =>
  generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "der" }).subarray(-32).toString("hex")
const operatorKey = freshKey()

/** The line for a machine that has Node; the page leads with the one for a machine that has nothing. */
const lineOfNode = (page: Page) => page.locator("pre", { hasText: "npx --yes" }).first().textContent()

describe.skipIf(missing)("the portal in a browser", () => {
  let stack: Stack
  let browser: Browser

  beforeAll(async () => {
    // A checkout signs its releases, which the page's first line installs.
    stack = await Stack.make(platformSources)
    await stack.up([], { CT_CP_RELEASES_DIR: "" })
    // The agent's package is built when the stack is up already.
    await eventually(async () => (await fetch(stack.url("/agent.tgz"), { method: "HEAD" })).ok, "the agent's package")
    browser = await chromium.launch({ executablePath: executablePath ?? "", args: ["--no-sandbox", "--disable-gpu"] })
  })
  afterAll(async () => {
    await browser?.close()
    await stack?.dispose()
  })

  /** Gives the line to a shell that has Node and npm, an empty home and no registry, and waits until the tunnel is served. */
  const servesByItself = async (line: string) => {
    const home = mkdtempSync(join(stack.folder, "home-"))
    const child = spawn("sh", ["-c", line], { cwd: home, env: onlyNodeAndNpm(home), detached: true, stdio: "pipe" })
    let printed = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (printed += String(text)))
    try {
      await eventually(
        () => printed.includes("visitors of"),
        () => `an agent by ${line}: ${printed}`
      )
    } finally {
      process.kill(-(child.pid ?? 0), "SIGINT")
    }
    await once(child, "close")
  }

  /** What is wrong with a page for those who cannot see it or have a narrow screen; it runs in the page. */
  const faults = `(() => {
    const faults = []
    const all = (selector) => [...document.querySelectorAll(selector)]
    const ids = all("[id]").map(({ id }) => id)
    if (new Set(ids).size !== ids.length) faults.push("an id twice")
    for (const control of all("input:not([type=hidden]), select"))
      if (control.labels.length === 0) faults.push("no label: " + control.name)
    for (const name of ["aria-describedby", "aria-labelledby"])
      for (const element of all("[" + name + "]"))
        for (const id of element.getAttribute(name).split(" "))
          if (document.getElementById(id) === null) faults.push("no element " + id)
    for (const control of all("a, button"))
      if (control.textContent.trim() === "") faults.push("a control without a name")
    if (all("h1").length !== 1) faults.push("not one heading of the first level")
    const { clientWidth, scrollWidth } = document.documentElement
    if (scrollWidth > clientWidth) faults.push("wider than the window")
    for (const value of all("dd"))
      if (value.textContent.trim().length > 20 && value.clientWidth < 80) faults.push("few characters a line")
    return faults
  })()`

  it.concurrent("leads a person without a mouse from the front page to a line that is copied", async () => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true, locale: "en" })
    await context.grantPermissions(["clipboard-read", "clipboard-write"])
    const page = await context.newPage()
    const { email, password } = await newcomer(stack, "keyboard@catenet.localhost")
    await page.goto(stack.portal("/"))
    await walk(page, 'a[href="/portal/login"]')
    await press(page, "Enter", /\/interaction\//u)
    await type(page, "#username", email)
    await type(page, "#password", password)
    await press(page, "Enter", /^\/portal\/home$/u)
    await type(page, "#field-name", "by keyboard")
    await press(page, "Enter", /^\/portal\/tunnels$/u)
    await walk(page, "main tbody th a")
    await press(page, "Enter", /^\/portal\/tunnels\/[0-9a-f]{32}$/u)
    await type(page, "#field-port", "3000")
    await press(page, "Enter", /\/install$/u)
    await walk(page, "pre + button")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Copied" }).waitFor()
    const copied = await page.evaluate("navigator.clipboard.readText()")
    assert.strictEqual(copied, await page.locator("pre").first().textContent())
    assert.match(String(copied), /^curl -fsSL http:\S+\/install\.sh \| sh && CT_BOOTSTRAP=[0-9a-f]{64} /u)
    const line = await lineOfNode(page)
    assert.match(
      line ?? "",
      /^CT_BOOTSTRAP=[0-9a-f]{64} .*CT_AGENT_ORIGIN=127\.0\.0\.1:3000 npx --yes http:\S+\/agent\.tgz$/u
    )
    await servesByItself(line ?? "")
    await walk(page, ".who summary")
    await page.keyboard.press("Enter")
    await walk(page, ".rail form[action='/portal/logout'] button")
    await press(page, "Enter", /\/logout$|^\/$/u)
    await context.close()
  })

  for (const [javaScriptEnabled, colorScheme, width, locale] of [
    [false, "light", 1280, "en"],
    [true, "dark", 390, "de"]
  ] as const)
    it.concurrent(
      `leads from the front page to a tunnel and its line, ${colorScheme}, ${width} px, ${locale}`,
      async () => {
        const context = await browser.newContext({
          javaScriptEnabled,
          colorScheme,
          locale,
          ignoreHTTPSErrors: true,
          viewport: { width, height: 900 }
        })
        const page = await context.newPage()
        const problems: Array<string> = []
        page.on("console", (message) => problems.push(message.text()))
        page.on("request", (request) => {
          if (!/^(?:data:|https:\/\/portal\.localhost:|http:\/\/localhost:)/u.test(request.url()))
            problems.push(request.url())
        })
        const look = async (name: string) => {
          assert.deepStrictEqual(await page.evaluate(faults), [], name)
          if (pictures === undefined) return
          mkdirSync(pictures, { recursive: true })
          await page.screenshot({ path: `${pictures}/${name}-${colorScheme}-${width}.png`, fullPage: true })
        }
        const { email, password } = await newcomer(stack, `first-${width}@catenet.localhost`)
        await page.goto(stack.portal("/"))
        await look("front")
        await page.locator('a[href="/portal/login"]').click()
        await page.fill("input[name=login], input[name=username]", email)
        await page.fill("input[name=password]", password)
        await page.locator("[type=submit]").first().click()
        await page.waitForURL(/\/portal\/home$/u)
        problems.length = 0
        await look("empty")
        assert.strictEqual(await page.locator("html").getAttribute("lang"), locale)
        await page.locator('a[href="#content"]').focus()
        await page.fill("input[name=name]", `photos ${width}`)
        await page.locator("form[action='/portal/tunnels'] button").click()
        await page.waitForURL(/\/portal\/tunnels$/u)
        await look("tunnels")
        await page.locator("tbody a").click()
        await page.waitForURL(/\/portal\/tunnels\/[0-9a-f]{32}$/u)
        await look("tunnel")
        const id = new URL(page.url()).pathname.split("/").at(-1)
        let origin = await httpOrigin()
        await page.fill("input[name=port]", String(origin.port))
        await page.locator("form[action$='/install'] button").click()
        const line = (await lineOfNode(page)) ?? ""
        assert.match(line, /^CT_BOOTSTRAP=[0-9a-f]{64} .*npx --yes http:\S+\/agent\.tgz$/u)
        await look("line")
        assert.strictEqual(await page.locator(".state").getAttribute("data-state"), "idle")
        const folder = mkdtempSync(join(stack.folder, "user-"))
        // The service is away first: the page is green when it is reached, not when an agent is there.
        await origin.close()
        // The line makes the agent order a certificate; with a script, where it knows the authority, the page turns green by itself.
        const tier = page.locator("#certificate .mode")
        const tiers =
          locale === "de"
            ? { gelb: "Endet am Edgegelb", gruen: "Ende-zu-Endegruen" }
            : { gelb: "Edge-terminatedgelb", gruen: "End-to-endgruen" }
        if (javaScriptEnabled) {
          await page.goto(stack.portal(`/portal/tunnels/${id}?tab=certificate`))
          assert.strictEqual(await tier.textContent(), tiers.gelb)
          await look("gelb")
        }
        const ordering = { CT_ACME_CA_FILE: stack.path("development-root.pem") }
        const agent = pasted(line, folder, javaScriptEnabled ? ordering : {})
        const service = `127.0.0.1:${origin.port}`
        // With the script the page sees it by itself; without, when it is opened again.
        const says = async (state: string, ...words: ReadonlyArray<string>) => {
          const isSo = async () => {
            if (!javaScriptEnabled) await page.goto(stack.portal(`/portal/tunnels/${id}`))
            const [found] = await page.locator(`.state[data-state=${state}]`).allTextContents()
            const isFound = found !== undefined && words.every((word) => found.includes(word))
            // Painting the page again and again would keep a processor busy.
            if (!isFound) await page.waitForTimeout(javaScriptEnabled ? 100 : 1_000)
            return isFound
          }
          await eventually(isSo, () => `${state} ${words.join(" ")}: ${agent.stdout}${agent.stderr}`, 30_000)
        }
        const since = locale === "de" ? "seit 20" : "since 20"
        try {
          await says("down", service, locale === "de" ? "lehnt Verbindungen ab" : "refuses connections", since)
          await look("origin-silent")
          origin = await httpOrigin(origin.port)
          await says("up", since)
          await look("connected")
          if (javaScriptEnabled) {
            await eventually(
              async () => (await tier.textContent()) === tiers.gruen,
              () => `gruen: ${agent.stderr}`
            )
            await look("gruen")
          }
          const address = (await page.locator("a[href^='https://']").first().getAttribute("href")) ?? ""
          assert.match(address, /^https:\/\/photos-/u)
          const visitor = await context.newPage()
          const answer = await visitor.goto(`${address}hello`)
          assert.strictEqual(await answer?.text(), "GET /hello")
          await visitor.close()
          await origin.close()
          await says("down", service, since)
          origin = await httpOrigin(origin.port)
          await says("up")
          await agent.stop()
          await says("down", locale === "de" ? "Kein Agent antwortet" : "No agent answers", since)
        } finally {
          await agent.stop()
          await origin.close()
          rmSync(folder, { recursive: true, force: true })
        }
        // In English, and in a wide window, the server's tests look at these.
        const isLooked = locale === "de" || pictures !== undefined
        const others = [
          "fleet",
          "usage",
          "account",
          "notices",
          "channels",
          "agent-bridges",
          `tunnels/${id}/uptime`,
          `tunnels/${id}/grants`
        ]
        for (const name of isLooked ? others : []) {
          await page.goto(stack.portal(`/portal/${name}`))
          await look(name.replace(/^.*\//u, ""))
        }
        // A channel of one's own, and a claim with keys that the browser makes.
        await page.goto(stack.portal("/portal/channels?new=channel"))
        await look("channel-new")
        if (javaScriptEnabled) await page.locator("form[action='/portal/channels'] summary").click()
        await page.fill("input[name=operator_pubkey]", operatorKey)
        await page.locator("form[action='/portal/channels'] button.primary").last().click()
        await page.waitForURL(/\/portal\/channels\/[0-9a-f]{64}$/u)
        await look("channel")
        await page.goto(`${page.url()}?tab=invitations`)
        await look("channel-invitations")
        await page.fill("form[action$='/allowlist'] input[name=email]", email)
        await Promise.all([page.waitForNavigation(), page.locator("form[action$='/allowlist'] button").click()])
        await page.goto(stack.portal("/portal/channels"))
        await page.locator("a[href$='/claim']").click()
        await page.waitForURL(/\/claim$/u)
        await look("claim")
        if (javaScriptEnabled) {
          const saved = page.waitForEvent("download")
          await page.locator("form[data-keys] button[type=button]").click()
          const file = readFileSync((await (await saved).path()) ?? "", "utf8")
          assert.match(
            file,
            /^CT_CHANNEL_ID=[0-9a-f]{64}\nCT_CHANNEL_HOLDER_KEY=[0-9a-f]{64}\nCT_CHANNEL_NOISE_KEY=[0-9a-f]{64}\n/u
          )
          await page.locator("form[data-keys] button.primary").click()
          await page.waitForURL(/\/claim-form$/u)
          await page.goto(stack.portal("/portal/channels"))
          assert.strictEqual(await page.locator("a[href$='/grants']").count(), 1)
        }
        // The reference of the API, and one of its routes tried with the session.
        await page.goto(stack.portal("/docs"))
        await look("docs")
        if (javaScriptEnabled) {
          const route = page.locator("section[data-method=GET][data-path='/me/tunnels']")
          await route.locator("button").click()
          await route.locator("form button").click()
          await route.locator("pre:has-text('200')").last().waitFor()
          assert.include((await route.locator("pre").last().textContent()) ?? "", id ?? "none")
        }
        for (const name of isLooked ? ["impressum", "datenschutz", "nutzungsbedingungen", "operators"] : []) {
          await page.goto(stack.portal(`/${name}`))
          await look(name)
        }
        // A topology, drawn by fields, then by the keyboard where there is a script.
        await page.goto(stack.portal("/portal/topologies"))
        await look("topologies")
        await page.locator("form[action='/portal/topologies'] button").click()
        await page.waitForURL(/\/me\/topologies\/[0-9a-f]{32}\/editor$/u)
        const agents = Array.from({ length: 3 }, () => freshKey())
        for (const [index, key] of agents.entries()) {
          await page.fill("form[action$='/add'] input[name=agent]", key)
          if (index === 0) await page.check("form[action$='/add'] input[name=super]")
          await page.locator("form[action$='/add'] button").click()
          await page.waitForSelector(`g.node[data-agent="${key}"]`)
        }
        const [first = "", second = "", third = ""] = agents
        if (javaScriptEnabled) {
          await page.locator(`g.node[data-agent="${first}"]`).focus()
          await page.keyboard.press("Enter")
          await page.locator(`g.node[data-agent="${second}"]`).focus()
          await page.keyboard.press("Enter")
        } else {
          await page.selectOption("#field-connect-a", first)
          await page.selectOption("#field-connect-b", second)
          await page.locator("form[action$='/connect'] button").click()
        }
        // A level line has no height, so it is looked for and not seen.
        await page.waitForSelector("line.link", { state: "attached" })
        if (javaScriptEnabled) {
          const node = page.locator(`g.node[data-agent="${third}"]`)
          const before = await node.getAttribute("transform")
          await node.focus()
          for (let n = 0; n < 3; n++) await page.keyboard.press("ArrowRight")
          const [x = 0] = (before ?? "").match(/-?\d+/gu)?.map(Number) ?? []
          assert.include((await node.getAttribute("transform")) ?? "", `translate(${x + 30} `)
          await page.reload()
          assert.include((await node.getAttribute("transform")) ?? "", `translate(${x + 30} `)
        }
        await look("editor")
        const editorAddress = page.url()
        await page.locator("a[href^='/net/']:visible").first().click()
        await page.waitForURL(/\/net\//u)
        await look("network")
        await page.goto(editorAddress)
        await page.goto(stack.portal("/portal/nothing"))
        await look("nothing")
        assert.deepStrictEqual(
          problems.filter((text) => !text.includes("404")),
          []
        )
        await page.locator(".who summary").click()
        await page.locator("form[action='/portal/logout'] button").click()
        await page.waitForURL((url) => !url.pathname.startsWith("/portal/nothing"))
        await page.goto(stack.portal("/portal/logout"))
        assert.strictEqual(new URL(page.url()).pathname, "/")
        await context.close()
      }
    )
})
