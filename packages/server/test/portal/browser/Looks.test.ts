/**
 * Every page in a browser, in both schemes and in a narrow window: no violation that axe finds, no line that is too wide,
 * nothing said in the console, nothing asked of another origin. `CATENET_PICTURES` names a folder for pictures of the pages.
 */
import { assert, describe, layer } from "@effect/vitest"
import axe from "axe-core"
import { Effect } from "effect"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { database } from "../../harness/Accounts.ts"
import type { As } from "../../harness/Contract.ts"
import { server } from "../../tunnels/records/FactsServer.ts"
import { launch, missing, open } from "./Chromium.ts"
import { furnished, newcomer, operator, owner, variables } from "./Furnished.ts"

const pictures = process.env["CATENET_PICTURES"]

/** What axe finds on the page that is shown. Of the many routes of the reference a few stand for all. */
const violations = async (page: Page, rules: ReadonlyArray<string> | undefined): Promise<ReadonlyArray<string>> => {
  const only = rules === undefined ? {} : { runOnly: { type: "rule", values: rules } }
  await page.evaluate(axe.source)
  return page.evaluate<ReadonlyArray<string>>(`(async () => {
    for (const route of [...document.querySelectorAll("section.route, .reference nav li")].slice(8)) route.remove()
    const { violations } = await axe.run(document, ${JSON.stringify({ resultTypes: ["violations"], ...only })})
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html, target }) => id + " " + target + " " + html.slice(0, 200)))
  })()`)
}

const isWide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"

/** How a page is looked at. The colours are what differs between the schemes; the narrow one is for the pictures. */
const looks = [
  { name: "light", colorScheme: "light", width: 1280, locale: "en", rules: undefined },
  { name: "dark", colorScheme: "dark", width: 1280, locale: "en", rules: ["color-contrast"] },
  { name: "narrow", colorScheme: "light", width: 390, locale: "de", rules: [] }
] as const

describe.skipIf(missing)("the look of the portal", () => {
  layer(server(variables), { excludeTestServices: true, timeout: "300 seconds" })("in a browser", (it) => {
    it.effect("is without a violation on every page, light, dark and narrow", () =>
      Effect.gen(function* () {
        const { camera, channel, claimed, fresh, invite, net, photos, theirs, topology } = yield* furnished
        const tunnel = `/portal/tunnels/${photos}`
        const pages: ReadonlyArray<readonly [as: As, ReadonlyArray<readonly [name: string, path: string]>]> = [
          [
            "anonymous",
            [
              ["front", "/"],
              ["entrance", "/portal"],
              ["docs", "/docs"],
              ["verify-receipts", "/portal/receipts"],
              ["impressum", "/impressum"],
              ["datenschutz", "/datenschutz"],
              ["terms", "/nutzungsbedingungen"],
              ["network", `/net/${net}`],
              ["gate-request", "/gate/request-access?host=camera.zone.example"],
              ["gate-share-refused", `/gate/share?host=camera.zone.example&token=${"x".repeat(43)}`],
              ["nothing", "/nothing"]
            ]
          ],
          [
            newcomer,
            [
              ["empty-tunnels", "/portal/tunnels"],
              ["empty-channels", "/portal/channels"],
              ["empty-topologies", "/portal/topologies"],
              ["empty-fleet", "/portal/fleet"],
              ["empty-usage", "/portal/usage"],
              ["empty-notices", "/portal/notices"],
              ["empty-account", "/portal/account"],
              ["empty-bridges", "/portal/agent-bridges"]
            ]
          ],
          [
            operator,
            [
              ["operators", "/operators"],
              ["granted-tunnel", tunnel],
              ["shared-editor", `/me/topologies/${topology}/editor`]
            ]
          ],
          [
            owner,
            [
              ["tunnels", "/portal/tunnels"],
              ["tunnel", tunnel],
              ["tunnel-login", `/portal/tunnels/${camera}`],
              ["tunnel-fresh", `/portal/tunnels/${fresh}`],
              ["uptime", `${tunnel}/uptime`],
              ["uptime-none", `/portal/tunnels/${fresh}/uptime`],
              ["grants", `${tunnel}/grants`],
              ["install", `${tunnel}/install`],
              ["rotate-token", `${tunnel}/rotate-token`],
              ["delete", `${tunnel}/delete`],
              ["channels", "/portal/channels"],
              ["channel", `/portal/channels/${channel}`],
              ["claim", `/portal/channels/${theirs}/claim`],
              ["grant-pickup", `/portal/channels/${claimed}/grants`],
              ["invite", `/portal/claim?invite=${invite}`],
              ["invite-unknown", "/portal/claim?invite=x"],
              ["agent-bridges", "/portal/agent-bridges"],
              ["topologies", "/portal/topologies"],
              ["editor", `/me/topologies/${topology}/editor`],
              ["fleet", "/portal/fleet"],
              ["usage", "/portal/usage"],
              ["notices", "/portal/notices"],
              ["account", "/portal/account"],
              ["sign-out", "/portal/logout"],
              ["nothing-signed-in", "/portal/nothing"]
            ]
          ]
        ]
        const browser = yield* launch
        const found: Array<string> = []
        for (const { colorScheme, locale, name: view, rules, width } of looks.slice(0, pictures === undefined ? 2 : 3))
          for (const [as, paths] of pages) {
            const { page, problems } = yield* open(browser, as, {
              viewport: { width, height: 900 },
              colorScheme,
              locale,
              reducedMotion: "reduce"
            })
            yield* Effect.promise(async () => {
              for (const [name, path] of paths) {
                const look = `${name}-${view}`
                await page.goto(path)
                if (await page.evaluate(isWide)) found.push(`${look}: wider than the window`)
                if (pictures !== undefined) {
                  mkdirSync(pictures, { recursive: true })
                  // The reference is longer than a picture may be.
                  await page.screenshot({ path: join(pictures, `${look}.png`), fullPage: name !== "docs" })
                }
                if (rules?.length === 0) continue
                for (const violation of await violations(page, rules)) found.push(`${look}: ${violation}`)
              }
            })
            found.push(...problems.filter((text) => !/40[34]|410|503/u.test(text)))
          }
        assert.deepStrictEqual(found, [])
      }).pipe(Effect.provide(database), Effect.scoped)
    )
  })
})
