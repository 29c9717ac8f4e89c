/** An invite link that is opened in a browser, whole and cut off, with scripts and without. */
import { eventually } from "@catenet/testing/Eventually"
import { server } from "@catenet/testing/server/Accounts"
import { person } from "@catenet/testing/server/channels/Asking"
import { launch, missing, open } from "@catenet/testing/server/portal/browser/Chromium"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"

const secrets = `${"A".repeat(43)}${"b".repeat(43)}`

describe.skipIf(missing)("the portal in a browser", () => {
  layer(server(), { excludeTestServices: true, timeout: "120 seconds" })("at an invite link", (it) => {
    it.effect("shows the line to run, and sends the secrets of the link nowhere", () =>
      Effect.gen(function* () {
        const browser = yield* launch
        const { base, context, page, problems } = yield* open(browser, person("join-ann"))
        yield* Effect.promise(async () => {
          const asked: Array<string> = []
          page.on("request", (request) => asked.push(`${request.url()} ${JSON.stringify(request.headers())}`))
          const line = page.locator("pre")
          await page.goto(`/join#${secrets}`)
          assert.strictEqual(await line.textContent(), `ct-agent channel join '${base}/join#${secrets}'`)
          await context.grantPermissions(["clipboard-read", "clipboard-write"])
          await page.getByRole("button", { name: "Copy" }).click()
          await eventually(
            async () => String(await page.evaluate("navigator.clipboard.readText()")).includes(`#${secrets}'`),
            "the line is in the clipboard"
          )
          await page.goto("/portal")
          await page.goto(`/join#${secrets.slice(1)}`)
          assert.include((await line.textContent()) ?? "", "This address is incomplete")
          assert.strictEqual(await page.getByRole("button", { name: "Copy" }).count(), 0)
          assert.deepStrictEqual(
            asked.filter((request) => request.replace(/^\S+ /u, "").includes("AAAA")),
            []
          )
          assert.deepStrictEqual(problems, [])
        })
        const plain = yield* open(browser, person("join-ann"), { javaScriptEnabled: false })
        yield* Effect.promise(async () => {
          await plain.page.goto(`/join#${secrets}`)
          assert.include((await plain.page.locator("pre").textContent()) ?? "", "the whole address of this page")
        })
      }).pipe(Effect.scoped)
    )
  })
})
