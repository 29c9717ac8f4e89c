import { eventually } from "@catenet/testing/Eventually"
import { onThisMachine } from "@catenet/testing/Promptness"
import { server } from "@catenet/testing/server/Accounts"
import { ask, person } from "@catenet/testing/server/channels/Asking"
import { keyOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { missing, launch, open } from "@catenet/testing/server/portal/browser/Chromium"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import type { Page } from "playwright-core"

const kim = person("drawn-kim")
const lou = person("drawn-lou")
const node = (agent: string) => `g.node[data-agent="${keyOf(agent)}"]`
const links = (page: Page) => page.locator("line.link").count()
const linked = (page: Page, count: number) => eventually(async () => (await links(page)) === count, `${count} links`)
const status = (page: Page) => page.locator("[data-tools] [role=status]")

const create = (agents: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { body } = yield* ask(kim, "/me/topologies", {})
    const [id, net] = [String(body["id"]), String(body["net_uuid"])]
    for (const agent of agents) yield* ask(kim, `/me/topologies/${id}/agents`, { agent: keyOf(agent) })
    yield* ask(kim, `/me/topologies/${id}/share`, { email: "drawn-lou@people.example" })
    return { id, editor: `/me/topologies/${id}/editor`, network: `/net/${net}` }
  })

const connectByKeys = async (page: Page, one: string, other: string, key = "Enter") => {
  await page.locator(node(one)).focus()
  await page.keyboard.press("Enter")
  await page.locator(node(other)).focus()
  await page.keyboard.press(key)
}

describe.skipIf(missing)("the editor in a browser", () => {
  layer(server(), { excludeTestServices: true, timeout: "120 seconds" })("of two people", (it) => {
    it.effect("shows another's change within two seconds, keeps what is typed, and says what conflicts", () =>
      Effect.gen(function* () {
        const { editor, network } = yield* create(["drawn a", "drawn b", "drawn c"])
        const browser = yield* launch
        const [own, shared, visitor] = [
          yield* open(browser, kim),
          yield* open(browser, lou),
          yield* open(browser, "anonymous")
        ]
        yield* Effect.promise(async () => {
          await Promise.all([own.page.goto(editor), shared.page.goto(editor), visitor.page.goto(network)])
          assert.strictEqual(await shared.page.getByText("Bind operator").count(), 0)
          await own.page.locator("#sharing summary").click()
          await own.page.fill("#field-email", "half typ")
          await own.page.locator("#field-email").focus()
          await connectByKeys(shared.page, "drawn a", "drawn b")
          const within = { state: "attached", timeout: onThisMachine(2_000) } as const
          await Promise.all([own, shared, visitor].map(({ page }) => page.waitForSelector("line.link", within)))
          await status(own.page).filter({ hasText: "changed elsewhere" }).waitFor()
          assert.strictEqual(await status(shared.page).textContent(), "")
          assert.strictEqual(await own.page.inputValue("#field-email"), "half typ")
          await own.page.waitForFunction("document.activeElement.id === 'field-email'")

          // Both want the same link at once: one makes it, the other reads why not and sees it.
          const both = [own, shared].map(async ({ page }) => {
            await page.selectOption("#field-connect-a", keyOf("drawn b"))
            await page.selectOption("#field-connect-b", keyOf("drawn c"))
          })
          await Promise.all(both)
          await Promise.all([own, shared].map(({ page }) => page.click("form[action$='/connect'] button")))
          for (const { page } of [own, shared]) await linked(page, 2)
          await Promise.race([own, shared].map(({ page }) => page.waitForSelector("[role=alert]")))
          const alerts = await Promise.all([own, shared].map(({ page }) => page.locator("[role=alert]").count()))
          assert.deepStrictEqual(alerts.toSorted(), [0, 1])
          const one = alerts[0] === 1 ? own : shared
          assert.match((await one.page.locator("[role=alert]").textContent()) ?? "", /duplicate|already/iu)

          // What the other removes is gone, and to remove it once more is refused with a sentence.
          await connectByKeys(own.page, "drawn a", "drawn b", "Delete")
          await linked(visitor.page, 1)
          await linked(shared.page, 1)
          await connectByKeys(shared.page, "drawn a", "drawn b", "Delete")
          await shared.page.waitForSelector("[role=alert]")
          await shared.page.waitForFunction(`document.activeElement.dataset.agent === "${keyOf("drawn b")}"`)
          assert.strictEqual(await links(shared.page), 1)

          await own.page.fill("#field-email", "")
          await own.page.locator("form[action$='/unshare'] button").click()
          await shared.page.getByText("no longer shared with you").waitFor()
        })
        for (const { problems } of [own, shared, visitor])
          assert.deepStrictEqual(
            problems.filter((text) => !/40[49]/u.test(text)),
            []
          )
      }).pipe(Effect.scoped)
    )

    it.effect("draws a suggestion before it is applied, and saves the drawing with its colours", () =>
      Effect.gen(function* () {
        const { editor, id } = yield* create(["drawn d", "drawn e", "drawn f"])
        yield* ask(kim, `/me/topologies/${id}/mode`, { mode: "shortcut" }, { method: "PUT" })
        const browser = yield* launch
        const { page, problems } = yield* open(browser, kim)
        yield* Effect.promise(async () => {
          await page.goto(editor)
          await page.locator("#overlay summary").click()
          await page.fill("#field-shortcut_budget", "17")
          await page.click("form[action$='/suggest'] button")
          await page.waitForSelector("#field-shortcut_budget[aria-invalid]")
          assert.strictEqual(await page.inputValue("#field-shortcut_budget"), "17")
          await page.waitForFunction("document.activeElement.id === 'field-shortcut_budget'")
          await page.fill("#field-shortcut_budget", "0")
          await page.click("form[action$='/suggest'] button")
          await page.waitForSelector("line.suggested", { state: "attached" })
          assert.deepStrictEqual([await page.locator("line.suggested").count(), await links(page)], [2, 0])
        })
        // Another's change leaves the suggestion where it is.
        yield* ask(kim, `/me/topologies/${id}/agents`, { agent: keyOf("drawn g") })
        yield* Effect.promise(async () => {
          await page.waitForSelector(node("drawn g"), { state: "attached" })
          assert.strictEqual(await page.locator("line.suggested").count(), 2)
          await page.click("form[action$='/apply'] button")
          await linked(page, 2)
          await page.waitForSelector("line.suggested", { state: "detached" })

          const before = await page.locator(node("drawn d")).getAttribute("transform")
          await page.locator(node("drawn d")).scrollIntoViewIfNeeded()
          const box = await page.locator(`${node("drawn d")} circle`).boundingBox()
          if (box === null) throw new Error("not drawn")
          await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
          await page.mouse.down()
          await page.mouse.move(box.x + 60, box.y + 60, { steps: 4 })
          await page.mouse.up()
          assert.notStrictEqual(await page.locator(node("drawn d")).getAttribute("transform"), before)
          const placed = await page.locator(node("drawn d")).getAttribute("transform")
          await page.getByRole("button", { name: "Zoom in" }).click()
          await page.reload()
          assert.strictEqual(await page.locator(node("drawn d")).getAttribute("transform"), placed)
          await page.getByRole("button", { name: "Arrange" }).click()
          assert.strictEqual(await page.locator(node("drawn d")).getAttribute("transform"), before)

          // One way to link with a pointer: the tool, then both ends. Without it a click opens an agent.
          await page.locator(node("drawn g")).click()
          await page.locator(`[id="agent-${keyOf("drawn g")}"][open]`).waitFor()
          await page.getByRole("button", { name: "Draw a link" }).click()
          for (const end of ["drawn g", "drawn d"]) await page.locator(node(end)).click()
          await linked(page, 3)

          const saved = page.waitForEvent("download")
          await page.getByRole("button", { name: "Save as SVG" }).click()
          const file = readFileSync((await (await saved).path()) ?? "", "utf8")
          assert.match(file, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/u)
          assert.match(file, /<style>[^<]*\.topology circle[^<]*fill: rgb|<style>[^<]*\.topology circle[^<]*fill: #/u)
          assert.notMatch(file, /var\(/u)
        })
        assert.deepStrictEqual(
          problems.filter((text) => !text.includes("400")),
          []
        )
      }).pipe(Effect.scoped)
    )
  })
})
