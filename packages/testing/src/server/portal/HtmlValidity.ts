/** Whether a page is HTML by the standard, as a kept validator sees it. */
import { HtmlValidate, StaticConfigLoader } from "html-validate"

const validator = new HtmlValidate(new StaticConfigLoader({ root: true, extends: ["html-validate:standard"] }))

/** What is not, with the line. */
export const invalidities = (html: string): ReadonlyArray<string> =>
  validator
    .validateStringSync(html)
    .results.flatMap(({ messages }) => messages.map(({ line, message, ruleId }) => `${line}: ${ruleId}: ${message}`))
