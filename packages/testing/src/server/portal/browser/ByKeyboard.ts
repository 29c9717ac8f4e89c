/** A person who has no mouse: what is walked to by Tab, typed, and pressed. */
import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"

/** Where the focus is, and whether one can see it. */
const stop = `(() => {
  const at = document.activeElement
  if (at === null || at === document.body) return { at: "nothing", isSeen: true }
  const { outlineStyle, outlineWidth } = getComputedStyle(at)
  const { width, height } = at.getBoundingClientRect()
  return { at: at.outerHTML.slice(0, 80), isSeen: outlineStyle !== "none" && parseFloat(outlineWidth) > 0 && width > 0 && height > 0 }
})()`

/** Presses Tab until the focus is there. It is seen on every stop, and is never lost or caught on the way. */
export const walk = async (page: Page, selector: string) => {
  const seen: Array<string> = []
  for (let steps = 0; steps < 120; steps++) {
    await page.keyboard.press("Tab")
    const { at, isSeen } = await page.evaluate<{ at: string; isSeen: boolean }>(stop)
    assert.isTrue(isSeen, `cannot see the focus on ${at}`)
    seen.push(at)
    if (await page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)}) ?? false`)) return
  }
  assert.fail(`no ${selector} among ${[...new Set(seen)].join("\n")}`)
}

export const type = async (page: Page, selector: string, text: string) => {
  await walk(page, selector)
  await page.keyboard.press("Control+A")
  await page.keyboard.type(text)
}

/** Presses the key and waits for the page that it leads to. */
export const press = async (page: Page, key: string, path: RegExp) => {
  const [, answer] = await Promise.all([page.keyboard.press(key), page.waitForNavigation()])
  assert.match(new URL(page.url()).pathname, path)
  assert.strictEqual(answer?.status(), 200, page.url())
}
