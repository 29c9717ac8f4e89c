/** The main paths by Tab, Enter, Space and arrows alone; and a button that is clicked twice. */
import { server } from "@catenet/testing/server/Accounts"
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import { idOf, keyOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { press, type, walk } from "@catenet/testing/server/portal/browser/ByKeyboard"
import { launch, missing, open } from "@catenet/testing/server/portal/browser/Chromium"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"

const zone = { CT_CP_HOSTNAME_ZONE: "zone.example", CT_GATE_COOKIE_DOMAIN: "zone.example" }
const kim = person("keyboard-kim")

describe.skipIf(missing)("the portal in a browser", () => {
  layer(server(zone), { excludeTestServices: true, timeout: "120 seconds" })("without a mouse", (it) => {
    it.effect("makes a tunnel, its line, its login, a link and its hours, claims, draws, and ends the account", () =>
      Effect.gen(function* () {
        const channel = idOf("keyboard")
        yield* ask(account("keyboard-op"), "/me/channels", { channel, operator_pubkey: keyOf("op") })
        const email = "keyboard-kim@people.example"
        yield* ask(account("keyboard-op"), `/me/channels/${channel}/allowlist`, { email })
        const browser = yield* launch
        const { page } = yield* open(browser, kim)
        yield* Effect.promise(async () => {
          await page.goto("/portal/tunnels")
          await page.keyboard.press("Tab")
          assert.isTrue(await page.evaluate(`document.activeElement.matches("a.skip")`))
          await type(page, "#field-name", "kitchen")
          await press(page, "Enter", /^\/portal\/tunnels$/u)
          await walk(page, "main tbody th a")
          await press(page, "Enter", /^\/portal\/tunnels\/[0-9a-f]{32}$/u)
          const tunnel = page.url()
          await type(page, "#field-port", "3000")
          await press(page, "Enter", /install$/u)
          await walk(page, "pre")
          assert.include((await page.locator("pre").first().textContent()) ?? "", "CT_BOOTSTRAP=")

          await page.goto(`${tunnel}?tab=access`)
          await walk(page, "form[action$='/require-login'] input[role=switch]")
          await press(page, "Space", /^\/portal\/tunnels\/[0-9a-f]{32}$/u)
          await walk(page, "form[action$='/share-links'] select")
          await page.keyboard.press("ArrowDown")
          await walk(page, "form[action$='/share-links'] button")
          await press(page, "Enter", /share-links$/u)
          assert.include((await page.locator("pre").first().textContent()) ?? "", "/gate/share?")
          await walk(page, "main p a")
          await Promise.all([page.keyboard.press("Enter"), page.waitForNavigation()])
          await walk(page, "#access summary")
          await page.keyboard.press("Enter")
          await walk(page, "#field-expiry_mode")
          await page.keyboard.press("ArrowDown")
          await page.keyboard.press("ArrowDown")
          await type(page, "#field-expires_in_hours", "0")
          await Promise.all([page.keyboard.press("Enter"), page.waitForNavigation()])
          await page.waitForFunction("document.activeElement.id === 'field-expires_in_hours'")
          await page.keyboard.press("Control+A")
          await page.keyboard.type("2")
          await press(page, "Enter", /^\/portal\/tunnels\/[0-9a-f]{32}$/u)

          await page.goto(`/portal/channels/${channel}/claim`)
          await walk(page, "form[data-keys] button[type=button]")
          await page.keyboard.press("Enter")
          await page.getByRole("status").filter({ hasText: /./u }).waitFor()
          await walk(page, "form[data-keys] button.primary")
          await press(page, "Enter", /claim-form$/u)
          assert.strictEqual(await page.locator("h1").textContent(), "Claimed")

          await page.goto("/portal/topologies")
          await walk(page, "main button.primary")
          await press(page, "Enter", /editor$/u)
          for (const agent of ["key a", "key b"]) {
            await type(page, "#field-agent", keyOf(agent))
            await page.keyboard.press("Enter")
            await page.locator(`g.node[data-agent="${keyOf(agent)}"]`).waitFor({ state: "attached" })
          }
          await walk(page, "form[action$='/connect'] button")
          await page.keyboard.press("Enter")
          await page.waitForSelector("line.link", { state: "attached" })
          await walk(page, "form[action$='/remove'] button")
          await page.keyboard.press("Enter")
          await page.waitForSelector("line.link", { state: "detached" })

          await page.goto("/portal/account")
          await type(page, "#field-confirm", "DELETE")
          await press(page, "Enter", /delete$/u)
          assert.strictEqual(await page.locator(".rail").count(), 0)
        })
      }).pipe(Effect.scoped)
    )

    it.effect("makes one link where its button is clicked twice and the page is loaded again", () =>
      Effect.gen(function* () {
        const lou = person("keyboard-lou")
        const id = String((yield* ask(lou, "/me/tunnels", { name: "twice" })).body["id"])
        yield* ask(lou, `/me/tunnels/${id}`, { require_login: true }, { method: "PATCH" })
        const browser = yield* launch
        const { page } = yield* open(browser, lou)
        const shown = yield* Effect.promise(async () => {
          await page.goto(`/portal/tunnels/${id}?tab=access`)
          await page.locator("form[action$='/share-links'] button").dblclick()
          await page.waitForURL(/share-links$/u)
          const once = await page.locator("pre").first().textContent()
          await page.reload()
          return [once, await page.locator("pre").first().textContent()]
        })
        assert.match(shown[0] ?? "", /token=[\w-]{43}$/u)
        assert.strictEqual(shown[1], shown[0])
        const links = yield* ask(lou, `/me/tunnels/${id}/share-links`)
        assert.strictEqual((links.body as unknown as ReadonlyArray<unknown>).length, 1)
      }).pipe(Effect.scoped)
    )
  })
})
