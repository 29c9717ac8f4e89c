/** What is wrong with a page that is open in a browser: for those who cannot see it, and for those who look at it. */
import axe from "axe-core"
import type { Page } from "playwright-core"

/** What axe finds on the page that is shown. Of the many routes of the reference a few stand for all. */
export const violations = async (page: Page, rules?: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const only = rules === undefined ? {} : { runOnly: { type: "rule", values: rules } }
  if (await page.evaluate("globalThis.axe === undefined")) await page.evaluate(axe.source)
  return page.evaluate<ReadonlyArray<string>>(`(async () => {
    for (const route of [...document.querySelectorAll("section.route, .reference nav li")].slice(8)) route.remove()
    const { violations } = await axe.run(document, ${JSON.stringify({ resultTypes: ["violations"], ...only })})
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html, target }) => id + " " + target + " " + html.slice(0, 200)))
  })()`)
}

const faults = `(() => {
  const found = document.documentElement.scrollWidth > document.documentElement.clientWidth ? ["wider than the window"] : []
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const isHidden = ({ parentElement: at }) => at.closest(".hidden, .skip, code, .mono, pre, svg, script, option, td label") !== null
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    if (isHidden(node) || !node.parentElement.checkVisibility()) continue
    for (const { index, 0: word } of node.data.matchAll(/[^\\s-]{2,24}/gu)) {
      const range = document.createRange()
      range.setStart(node, index)
      range.setEnd(node, index + word.length)
      const lines = new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom)))
      if (lines.size > 1) found.push("broken word: " + word)
    }
  }
  for (const panel of document.querySelectorAll(".panel, td, th"))
    if (panel.checkVisibility() && panel.scrollWidth > panel.clientWidth + 1 && panel.clientWidth > 1)
      found.push("more than fits: " + panel.outerHTML.slice(0, 80))
  for (const value of document.querySelectorAll("dd"))
    if (value.checkVisibility() && value.textContent.trim().length > 20 && value.clientWidth < 80)
      found.push("few characters a line: " + value.textContent.trim().slice(0, 20))
  const width = (element) => element.clientWidth - parseFloat(getComputedStyle(element).paddingLeft)
  if (innerWidth < 500)
    for (const form of document.querySelectorAll("form"))
      for (const hint of form.querySelectorAll(".hint"))
        if (hint.checkVisibility() && hint.textContent.length > 40 && width(form) > 200 && width(hint) < 0.7 * width(form))
          found.push("narrow: " + hint.textContent.slice(0, 60))
  for (const form of document.querySelectorAll(".panel > form:not(.setting, .filters)")) {
    const next = form.nextElementSibling
    if (form.getBoundingClientRect().height < 2 || next === null || !form.checkVisibility() || !next.checkVisibility() || next.classList.contains("hidden")) continue
    const gap = next.getBoundingClientRect().top - form.getBoundingClientRect().bottom
    if (next.textContent.trim() !== "" && gap < 6 && gap > -1) found.push("no gap above: " + next.outerHTML.slice(0, 80))
  }
  if (innerWidth > 1000)
    for (const button of document.querySelectorAll("button, .button"))
      if (button.checkVisibility() && button.getBoundingClientRect().height > 50) found.push("button of two lines: " + button.textContent)
  return found
})()`

/**
 * What has not the room that it needs: a page wider than its window, a panel that does not hold its content, words that are
 * broken in their middle, values of a few characters a line, buttons of more than a line, hints that are narrow beside a button, and no gap below a form.
 */
export const cramped = (page: Page): Promise<ReadonlyArray<string>> => page.evaluate<ReadonlyArray<string>>(faults)
