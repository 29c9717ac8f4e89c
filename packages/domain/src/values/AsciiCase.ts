/**
 * Lower case of ASCII letters alone. Unicode's lower case turns letters of other scripts into ASCII, the Kelvin sign into
 * `k` for one, so that two people's names become the same one; and it is not the same in every database and runtime.
 */

/**
 * Folds `A` to `Z` and leaves everything else as it is.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { lowerAscii } from "@catenet/domain/values/AsciiCase"
 *
 * assert.equal(lowerAscii("Ada@B\u00dcCHER.Example"), "ada@b\u00dccher.example")
 * ```
 */
export const lowerAscii = (text: string): string =>
  /[A-Z]/u.test(text) ? text.replace(/[A-Z]+/gu, (letters) => letters.toLowerCase()) : text
