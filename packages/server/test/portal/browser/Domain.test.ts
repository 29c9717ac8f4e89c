/** The records of a host name of the owner's own, in a browser: they can be copied, and are looked for while the page is open. */
import { server } from "@catenet/testing/server/Accounts"
import { ask, person } from "@catenet/testing/server/channels/Asking"
import { launch, missing, open } from "@catenet/testing/server/portal/browser/Chromium"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { PublicDns } from "../../tunnels/hostnames/PublicDns.ts"

const zone = Layer.unwrap(
  Effect.map(PublicDns, ({ address }) => server({ CT_CP_HOSTNAME_ZONE: "zone.example", CT_CP_DNS_RESOLVERS: address }))
).pipe(Layer.provideMerge(PublicDns.layer))

describe.skipIf(missing)("the portal in a browser", () => {
  layer(zone, { excludeTestServices: true, timeout: "120 seconds" })("at the name of a tunnel", (it) => {
    it.effect("shows the records to copy, and that the name is proved as soon as DNS has one of them", () =>
      Effect.gen(function* () {
        const { publish } = yield* PublicDns
        const jo = person("domain-jo")
        const { body } = yield* ask(jo, "/me/tunnels", { name: "attic" })
        const browser = yield* launch
        const { page, problems } = yield* open(browser, jo)
        const [name = "", value = ""] = yield* Effect.promise(async () => {
          await page.clock.install()
          await page.goto(`/portal/tunnels/${String(body["id"])}?tab=settings`)
          await page.locator("#field-hostname").fill("www.jo.example")
          await Promise.all([page.waitForNavigation(), page.locator("form[action$='/hostname'] button").click()])
          assert.strictEqual(await page.locator("#domain td button").count(), 4, "each text has a button to copy it")
          const checked = page.locator("#domain footer time")
          assert.strictEqual(await checked.count(), 0)
          await page.clock.runFor(16_000)
          await checked.waitFor()
          return page.locator("#domain td code").allTextContents()
        })
        yield* publish("TXT", name, value)
        yield* Effect.promise(async () => {
          await page.clock.runFor(16_000)
          await page.getByText("www.jo.example is proved by its DNS.").waitFor()
          assert.deepStrictEqual(
            problems.filter((problem) => !problem.includes("409")),
            []
          )
        })
      }).pipe(Effect.scoped)
    )
  })
})
