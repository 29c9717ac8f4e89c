import { readdirSync, readFileSync } from "node:fs"
import { assert, it } from "@effect/vitest"

/** Rooms that hold no noun: what the others are made with. */
const makers = new Set(["AsciiCase", "AtMost", "Caps", "Form", "JsonText", "Problem", "SmallOrder", "Text"])

it("every room of nouns has its properties run", () => {
  const here = new URL(".", import.meta.url)
  const tests = readdirSync(here).map((file) => readFileSync(new URL(file, here), "utf8"))
  const described = tests.flatMap((text) => [...text.matchAll(/^describeNouns\("(\w+)"/gmu)].map(([, room]) => room))
  const rooms = readdirSync(new URL("../../src", here))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.slice(0, -3))
  assert.sameMembers(
    described,
    rooms.filter((room) => !makers.has(room))
  )
})
