/** The operators' page as an operator uses it, and as others do not find it. */
import { database, server } from "@catenet/testing/server/Accounts"
import { ask, person } from "@catenet/testing/server/channels/Asking"
import { launch, missing, open } from "@catenet/testing/server/portal/browser/Chromium"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const operator = person("browsing-operator")
const eve = person("browsing-eve")
const variables = { CT_CP_HOSTNAME_ZONE: "zone.example", CT_CP_OPERATORS: "browsing-operator" }

describe.skipIf(missing)("the operators' page in a browser", () => {
  layer(server(variables), { excludeTestServices: true, timeout: "120 seconds" })("of a platform", (it) => {
    it.effect("sends a refused order again and sets a limit by hand, and is nothing for others", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* ask(eve, "/me/tunnels", { name: "refused" })
        // An edge that is gone has refused it.
        yield* sql`insert into outbox (queue, edge, call, created_at, due_at, refused_at, refusal)
          select routing_token, 'gone', '{"_tag":"SetLogin"}'::jsonb, 1, 1, 1790000000, 'it answered 400' from tunnels`
        const browser = yield* launch
        const { page, problems } = yield* open(browser, operator)
        yield* Effect.promise(async () => {
          await page.goto("/portal/tunnels")
          await page.getByRole("link", { name: "Operators" }).click()
          await page.waitForURL(/\/operators$/u)
          const again = page.locator("form[action$='/resend'] button")
          assert.strictEqual(await again.count(), 1)
          await again.click()
          await again.waitFor({ state: "detached" })
          await page.getByText("edge_order_resent").first().waitFor()
          const form = page.locator("form[action='/operators/limits']")
          // The browser's own validation would stop it before the server sees it.
          await page.evaluate("for (const form of document.forms) form.noValidate = true")
          await form.locator("input[name=subject]").fill("browsing-eve")
          await form.locator("input[name=max]").fill("1000001")
          await form.locator("button").click()
          await page.waitForSelector("#field-max[aria-invalid]")
          await page.waitForFunction("document.activeElement.id === 'field-max'")
          assert.strictEqual(await form.locator("input[name=subject]").inputValue(), "browsing-eve")
          await form.locator("input[name=max]").fill("3")
          await form.locator("button").click()
          await page
            .getByRole("row", { name: /browsing-eve.*3/u })
            .first()
            .waitFor()
        })
        assert.deepStrictEqual(yield* sql`select 1 from outbox where refused_at is not null`, [])
        assert.deepStrictEqual(yield* sql`select subject from account_limits`, [{ subject: "browsing-eve" }])
        const other = yield* open(browser, eve)
        yield* Effect.promise(async () => {
          const answer = await other.page.goto("/operators")
          assert.strictEqual(answer?.status(), 404)
          assert.strictEqual(await other.page.getByRole("link", { name: "Operators" }).count(), 0)
        })
        assert.deepStrictEqual(
          [...problems, ...other.problems].filter((text) => !/40[04]/u.test(text)),
          []
        )
      }).pipe(Effect.provide(database), Effect.scoped)
    )
  })
})
