/** Chromium as the people of a test use it, each with a session of their own. Where there is none, the test says so. */
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { type Browser, type BrowserContextOptions, chromium } from "playwright-core"
import { type As, headersOf } from "../../Contract.ts"
import * as TestServer from "../../TestServer.ts"

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) => existsSync(path))

export const missing = executablePath === undefined

if (missing) {
  if (process.env["CI"] === "true") throw new Error("the gate needs Chromium (package chromium)")
  process.stderr.write("\nSKIPPED: the tests of pages in a browser need Chromium (package chromium).\n\n")
}

export const launch = Effect.acquireRelease(
  Effect.promise(() =>
    chromium.launch({ executablePath: executablePath ?? "", args: ["--no-sandbox", "--disable-gpu"] })
  ),
  (browser) => Effect.promise(() => browser.close())
)

/** A browser of its own for a person; `problems` is what its console says and what it asks of other places. */
export const open = (browser: Browser, as: As, options: BrowserContextOptions = {}) =>
  Effect.gen(function* () {
    const base = yield* TestServer.baseUrl
    const { cookie = "" } = yield* headersOf(as)
    const context = yield* Effect.promise(() => browser.newContext({ baseURL: base, locale: "en", ...options }))
    const [, name, value] = /^([^=]+)=(.+)$/u.exec(cookie) ?? []
    if (name !== undefined && value !== undefined)
      yield* Effect.promise(() => context.addCookies([{ name, value, domain: "127.0.0.1", path: "/", secure: true }]))
    const page = yield* Effect.promise(() => context.newPage())
    page.setDefaultTimeout(15_000)
    const problems: Array<string> = []
    page.on("console", (message) => problems.push(message.text()))
    page.on("pageerror", (error) => problems.push(error.message))
    page.on("request", (request) => {
      if (!request.url().startsWith(base) && !/^(?:data|blob):/u.test(request.url())) problems.push(request.url())
    })
    return { page, context, problems, base }
  })
