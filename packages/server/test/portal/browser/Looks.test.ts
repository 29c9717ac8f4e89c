/**
 * Every page in a browser, in both schemes and in a narrow window: no violation that axe finds, no line that is too wide,
 * nothing said in the console, nothing asked of another origin. `CATENET_PICTURES` names a folder for pictures of the pages.
 */
import { database } from "@catenet/testing/server/Accounts"
import { launch, missing, open } from "@catenet/testing/server/portal/browser/Chromium"
import { cramped, violations } from "@catenet/testing/server/portal/browser/Violations"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { server } from "../../tunnels/records/FactsServer.ts"
import { furnished, variables } from "./Furnished.ts"
import { looked } from "./LookedAt.ts"

const pictures = process.env["CATENET_PICTURES"]

/** The windows; the narrow one is for the pictures. */
const windows = [
  { width: 1280, locale: "en" },
  { width: 390, locale: "de" }
] as const

describe.skipIf(missing)("the look of the portal", () => {
  layer(server(variables), { excludeTestServices: true, timeout: "300 seconds" })("in a browser", (it) => {
    it.effect(
      "is without a violation on every page, light, dark and narrow",
      () =>
        Effect.gen(function* () {
          const pages = looked(yield* furnished)
          const browser = yield* launch
          const found: Array<string> = []
          for (const { locale, width } of windows.slice(0, pictures === undefined ? 1 : 2))
            for (const [as, looks] of pages) {
              const { page, problems } = yield* open(browser, as, {
                viewport: { width, height: 900 },
                locale,
                reducedMotion: "reduce"
              })
              const paint = async (name: string, view: string) => {
                if (pictures === undefined) return
                mkdirSync(pictures, { recursive: true })
                await page.evaluate("scrollTo(0, 0)")
                // The reference is longer than a picture may be.
                await page.screenshot({ path: join(pictures, `${name}-${view}.png`), fullPage: name !== "docs" })
              }
              yield* Effect.promise(async () => {
                for (const { isOnce = false, name, path, then } of looks) {
                  if (isOnce && width === 390) continue
                  await page.goto(path)
                  await then?.(page).catch((error: unknown) => found.push(`${name} ${width}: ${String(error)}`))
                  for (const fault of await cramped(page)) found.push(`${name} ${width}: ${fault}`)
                  if (width === 390) {
                    await paint(name, "narrow")
                    continue
                  }
                  await page.setViewportSize({ width: 390, height: 900 })
                  for (const fault of await cramped(page)) found.push(`${name} 390: ${fault}`)
                  await page.setViewportSize({ width, height: 900 })
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
              found.push(...problems.filter((text) => !/40[0349]|410|503/u.test(text)))
            }
          assert.deepStrictEqual(found, [])
        }).pipe(Effect.provide(database), Effect.scoped),
      // Pictures are taken of both windows, and take their time.
      pictures === undefined ? 180_000 : 600_000
    )
  })
})
