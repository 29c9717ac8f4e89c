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
const violations = async (page: Page, rules?: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const only = rules === undefined ? {} : { runOnly: { type: "rule", values: rules } }
  await page.evaluate(axe.source)
  return page.evaluate<ReadonlyArray<string>>(`(async () => {
    for (const route of [...document.querySelectorAll("section.route, .reference nav li")].slice(8)) route.remove()
    const { violations } = await axe.run(document, ${JSON.stringify({ resultTypes: ["violations"], ...only })})
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html, target }) => id + " " + target + " " + html.slice(0, 200)))
  })()`)
}

const isWide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"

/** The windows; the narrow one is for the pictures. */
const windows = [
  { width: 1280, locale: "en" },
  { width: 390, locale: "de" }
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
        for (const { locale, width } of windows.slice(0, pictures === undefined ? 1 : 2))
          for (const [as, paths] of pages) {
            const { page, problems } = yield* open(browser, as, {
              viewport: { width, height: 900 },
              locale,
              reducedMotion: "reduce"
            })
            const paint = async (name: string, view: string) => {
              if (pictures === undefined) return
              mkdirSync(pictures, { recursive: true })
              // The reference is longer than a picture may be.
              await page.screenshot({ path: join(pictures, `${name}-${view}.png`), fullPage: name !== "docs" })
            }
            yield* Effect.promise(async () => {
              for (const [name, path] of paths) {
                await page.goto(path)
                if (await page.evaluate(isWide)) found.push(`${name} ${width}: wider than the window`)
                if (width === 390) {
                  await paint(name, "narrow")
                  continue
                }
                await paint(name, "light")
                await page.emulateMedia({ colorScheme: "dark" })
                await paint(name, "dark")
                // The colours are what differs between the schemes.
                for (const violation of await violations(page, ["color-contrast"]))
                  found.push(`${name} dark: ${violation}`)
                await page.emulateMedia({ colorScheme: "light" })
                for (const violation of await violations(page)) found.push(`${name} light: ${violation}`)
              }
            })
            found.push(...problems.filter((text) => !/40[34]|410|503/u.test(text)))
          }
        assert.deepStrictEqual(found, [])
      }).pipe(Effect.provide(database), Effect.scoped)
    )
  })
})
