/**
 * The inspector in a browser: how its pages look, what they do, and that the archive they export is one that a browser reads.
 * `CATENET_PICTURES` names a folder for pictures of the pages.
 */
import { launch, missing } from "@catenet/testing/server/portal/browser/Chromium"
import { cramped, violations } from "@catenet/testing/server/portal/browser/Violations"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ExchangeFollower } from "../../src/inspect/ExchangeFollower.ts"
import { inspection } from "../../src/inspect/OriginTap.ts"
import { maxRequests } from "../../src/inspect/Recording.ts"
import { temporaryFolders } from "../harness/TemporaryFolders.ts"
import { hostile, open } from "./Visits.ts"

const pictures = process.env["CATENET_PICTURES"]
const folder = temporaryFolders("ct-inspect-looks-")()

const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "search", arguments: { query: "ports" } } }

/** One of each kind. */
const visits: ReadonlyArray<readonly [string, RequestInit]> = [
  [
    "/json?page=2&access_token=abc123",
    { method: "POST", body: '{"name":"Ada"}', headers: { authorization: "Bearer top-secret" } }
  ],
  ["/missing", {}],
  ["/events", {}],
  ["/mcp", { method: "POST", body: JSON.stringify(call), headers: { "content-type": "application/json" } }],
  ["/binary", {}],
  ["/hostile", { method: "POST", body: hostile }],
  [`/a/very/long/path/${"segment/".repeat(30)}`, {}]
]

describe.skipIf(missing)("the inspector in a browser", () => {
  it.live(
    "looks right in both schemes and narrow, follows, masks, copies, replays and exports",
    () =>
      Effect.gen(function* () {
        const { dead, gelb, inspector, recording } = yield* open
        const browser = yield* launch
        const found: Array<string> = []
        const inspectionOf = (service: string) => inspection(recording, (error) => assert.fail(String(error)), service)
        const shopper = {
          client: "192.0.2.7",
          host: "shop.example",
          tls: "agent",
          http: "2",
          connectMillis: 1,
          dial: Effect.never
        } as const
        yield* Effect.promise(async () => {
          for (const [path, init] of visits) await (await fetch(`http://127.0.0.1:${gelb}${path}`, init)).arrayBuffer()
          await fetch(`http://127.0.0.1:${dead}/down`).catch(() => undefined)
          const socket = new WebSocket(`ws://127.0.0.1:${gelb}/ws`)
          socket.addEventListener("open", () => socket.send("hello"))
          await new Promise((resolve) => socket.addEventListener("message", resolve))
          socket.close()
          const context = await browser.newContext({
            permissions: ["clipboard-read", "clipboard-write"],
            acceptDownloads: true
          })
          const page = await context.newPage()
          page.setDefaultTimeout(15_000)
          page.on("console", (message) => found.push(`console: ${message.text()}`))
          page.on("pageerror", (error) => found.push(`error: ${error.message}`))
          page.on("request", (request) => {
            if (!request.url().startsWith(`http://127.0.0.1:${inspector.port}/`) && !request.url().startsWith("data:"))
              found.push(`elsewhere: ${request.url()}`)
          })
          const idOf = (path: string) =>
            recording.list().find(({ requestHead }) => requestHead.includes(` ${path}`))?.id ?? assert.fail(path)
          inspectionOf("shop").unreached(Buffer.from("GET /shop HTTP/1.1\r\n\r\n"), shopper, "origin: down")
          await page.goto(inspector.address)
          assert.notInclude(page.url(), "token")
          await page.selectOption("select[name=service]", "shop")
          await page.click('button:has-text("Search")')
          await page.waitForURL(/service=shop/u)
          await page.locator("#rows a", { hasText: "/json" }).first().waitFor({ state: "detached" })
          await page.locator("#rows a", { hasText: "/shop" }).waitFor()
          await page.goto(`http://127.0.0.1:${inspector.port}/`)

          // The list follows what comes, and holds as many rows as are kept.
          await fetch(`http://127.0.0.1:${gelb}/just-now`)
          await page.locator("#rows a", { hasText: "/just-now" }).waitFor()
          // The quotes keep the random key of the WebSocket handshake from matching.
          await page.fill("input[type=search]", '"name":"ada"')
          await page.click('button:has-text("Search")')
          await page.waitForURL(/q=/u)
          await page.locator("#rows a", { hasText: "/just-now" }).waitFor({ state: "detached" })
          assert.strictEqual(await page.locator("#rows tr").count(), 1)

          for (const [name, path] of [
            ["list", "/"],
            ["json", `/requests/${idOf("/json")}`],
            ["mcp", `/requests/${idOf("/mcp")}`],
            ["events", `/requests/${idOf("/events")}`],
            ["frames", `/requests/${idOf("/ws")}`],
            ["hostile", `/requests/${idOf("/hostile")}`],
            ["down", `/requests/${idOf("/down")}`],
            ["edit", `/requests/${idOf("/json")}/edit`],
            ["none", "/?q=nowhere"],
            ["services", "/?service=shop"],
            ["gone", "/requests/9999"]
          ] as const) {
            await page.goto(`http://127.0.0.1:${inspector.port}${path}`)
            for (const [width, colorScheme] of [
              [1280, "light"],
              [1280, "dark"],
              [390, "light"],
              [390, "dark"]
            ] as const) {
              await page.setViewportSize({ width, height: 900 })
              await page.emulateMedia({ colorScheme })
              for (const fault of await cramped(page)) found.push(`${name} ${width}: ${fault}`)
              for (const fault of await violations(page)) found.push(`${name} ${width} ${colorScheme}: ${fault}`)
              if (pictures === undefined) continue
              mkdirSync(pictures, { recursive: true })
              await page.screenshot({
                path: join(pictures, `inspect-${name}-${width}-${colorScheme}.png`),
                fullPage: true
              })
            }
          }
          assert.deepStrictEqual(
            found.filter((text) => !text.includes("404")),
            []
          )

          await page.setViewportSize({ width: 1280, height: 900 })
          const original = idOf("/json")
          await page.goto(`http://127.0.0.1:${inspector.port}/requests/${original}`)
          assert.notInclude(await page.content(), "top-secret")
          await page.click("text=Copy command")
          // Written to the clipboard some time after the click.
          const command = await page.waitForFunction("navigator.clipboard.readText()")
          assert.match(String(await command.jsonValue()), /^curl 'https:\/\/gelb\.example\/json\?page=2&access_token=/u)
          await page.click("text=Show secrets")
          await page.locator("text=Bearer top-secret").first().waitFor()
          await page.click("text=Edit and replay")
          await page.fill("textarea[name=body]", '{"name":"Grace"}')
          await page.click("text=Send request")
          await page.locator(".chip", { hasText: `replay of ${original}` }).waitFor()
          await page.locator("pre", { hasText: "Grace" }).first().waitFor()

          // A browser reads the archive, and answers from it.
          await page.goto(`http://127.0.0.1:${inspector.port}/`)
          const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Export as HAR")])
          const har = join(folder, "requests.har")
          writeFileSync(har, "")
          await download.saveAs(har)
          const offline = await browser.newContext()
          await offline.routeFromHAR(har, { notFound: "abort" })
          const reader = await offline.newPage()
          const answer = await reader.goto("https://gelb.example/missing")
          assert.deepStrictEqual([answer?.status(), await answer?.text()], [404, "GET /missing"])

          for (let n = 0; n < maxRequests; n++) {
            const follower = new ExchangeFollower(recording, recording.list()[0]?.visit ?? assert.fail())
            follower.requested(Buffer.from(`GET /row-${n} HTTP/1.1\r\nHost: gelb.example\r\n\r\n`))
            follower.responded(Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
          }
          await page.locator(`#rows a[href="/requests/${recording.list()[0]?.id}"]`).waitFor()
          assert.strictEqual(await page.locator("#rows tr").count(), maxRequests)
        })
      }).pipe(Effect.scoped),
    120_000
  )
})
