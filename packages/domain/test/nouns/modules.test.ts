import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import { globSync, readdirSync, readFileSync } from "node:fs"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"

/** Nouns that belong to one group of the API. */
const ofTheApi = ["DeleteConfirmation", "PlatformStatus"]
/** Modules that hold no noun: what the others are made with. */
const makers = new Set(["BoundedArray", "Pattern", "Text"])

it("every module of nouns has its properties run", async () => {
  const here = new URL(".", import.meta.url)
  const tests = readdirSync(here).map((file) => readFileSync(new URL(file, here), "utf8"))
  const described = tests.flatMap((text) => [...text.matchAll(/^describeNouns\("(\w+)"/gmu)].map(([, name]) => name))
  const source = new URL("../../src/", import.meta.url)
  const files = globSync("*/*.ts", { cwd: fileURLToPath(source) }).filter((file) => !/^api\/|Errors\.ts$/u.test(file))
  const exported = await Promise.all(files.map((file) => import(new URL(file, source).href)))
  const nouns = files.filter((_, index) => Object.values(exported[index]).some((own) => Schema.isSchema(own)))
  assert.sameMembers(described, [
    ...nouns.map((file) => basename(file, ".ts")).filter((name) => !makers.has(name)),
    ...ofTheApi
  ])
})
