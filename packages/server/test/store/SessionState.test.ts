/** What a session of PostgreSQL would keep from one transaction to the next, a connection pooler gives to another. */
import { assert, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"

const source = `${import.meta.dirname}/../../src`

const kept: ReadonlyArray<readonly [string, RegExp]> = [
  ["a lock of a session", /pg_(?:try_)?advisory_(?:lock|unlock)/iu],
  ["a setting of a session", /(?:`|;)\s*(?:set (?!local |constraints )|reset |discard )|set_config\([^)]*, false\)/iu],
  ["a temporary table", /create (?:local )?temp/iu],
  ["a cursor or a statement with a name", /(?:`|;)\s*(?:declare |prepare |deallocate )/iu],
  ["a channel of a session", /(?:`|;)\s*(?:un)?listen /iu]
]

it("no statement leaves anything in its session", () => {
  const found = globSync("**/*.ts", { cwd: source }).flatMap((file) => {
    const statements = [...readFileSync(`${source}/${file}`, "utf8").matchAll(/(?:sql(?:<[^`]*>)?|unsafe\()`[^`]*`/gu)]
    return statements.flatMap(([text]) =>
      kept.flatMap(([what, pattern]) => (pattern.test(text) ? [`${file}: ${what}`] : []))
    )
  })
  assert.deepStrictEqual(found, [])
  assert.isTrue(
    kept.every(([, pattern]) => pattern.test("sql`listen x; declare c; set a = 1; create temp; pg_advisory_lock"))
  )
})
