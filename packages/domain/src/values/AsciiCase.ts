/**
 * Lower case of ASCII letters only. Unicode lower case maps letters of other scripts to ASCII (the Kelvin sign to `k`),
 * so different names would become equal; and it differs between databases and runtimes.
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
