/** The texts of the pages name every limit by its constant: a number that a sentence brings itself is no rule. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"

const folder = join(import.meta.dirname, "../../src/portal/texts")

/** Forms that published bytes fix, hours of a clock, examples, versions of others, and spans that pages draw. */
const fixed = [
  /\b(?:64|128|278) (?:hex|Hex)\w*/gu,
  /\b86 (?:characters|Zeichen)/gu,
  /\b\d\d:\d\d\b/gu,
  /\b2027-01-31T18:00\b/gu,
  /:443\b/gu,
  /\b[XE]d?25519\b/gu,
  /\bNode 26\b/gu,
  /\b1 (?:to|bis) 65535\b/gu,
  /\b(?:24|30) (?:hours|Stunden|days|Tagen?|Tage)\b/gu,
  /\b7 (?:days|Tage)\b/gu,
  /\b5 (?:seconds|Sekunden)\b/gu
]

/** What a sentence says in digits of two places or more, beside what a constant brings. */
const numbersIn = (source: string) =>
  [...source.matchAll(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/gu)].flatMap(([text]) => {
    const bare = fixed.reduce((left, form) => left.replaceAll(form, ""), text.replaceAll(/\$\{[^}]*\}/gu, ""))
    return /(?<![\w-])\d{2,}(?![\w-])/u.test(bare) ? [text] : []
  })

describe("the texts of the pages", () => {
  it.each(globSync("*.ts", { cwd: folder }))("name limits by constants: %s", (file) => {
    assert.deepStrictEqual(numbersIn(readFileSync(join(folder, file), "utf8")), [])
  })

  it("have each key in one file, as the one that comes last would stand for both", () => {
    for (const language of ["English", "German"]) {
      const keys = globSync(`${language}*.ts`, { cwd: folder }).flatMap((file) =>
        [...readFileSync(join(folder, file), "utf8").matchAll(/^ {2}(\w+)(?=:)/gmu)].map(([, key]) => key)
      )
      assert.deepStrictEqual(
        keys.filter((key, index) => keys.indexOf(key) !== index),
        []
      )
    }
  })

  it("are found to bring a number of their own", () => {
    assert.deepStrictEqual(numbersIn('{ a: "At most 60 characters.", b: `At most ${most} characters.` }'), [
      '"At most 60 characters."'
    ])
  })
})
