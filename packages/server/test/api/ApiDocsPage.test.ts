import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { assert, describe, it } from "@effect/vitest"
import { SchemaAST } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { render } from "../../src/api/ApiDocsPage.ts"
import { browserRoutes } from "../../src/api/BrowserRoutes.ts"
import { type FormRow, tableOf } from "../portal/FormTable.ts"

/**
 * The contract test is the tables of all families together: each holds one or more groups of the API value, row by row.
 * Here is only shown that no group is without its table; that none is without handlers is shown by every server that
 * starts.
 */
const folder = join(import.meta.dirname, "..")
const tabled = globSync("**/*.test.ts", { cwd: folder }).flatMap((file) =>
  Array.from(readFileSync(join(folder, file), "utf8").matchAll(/\bhold\(\s*"(\w+)"/g), ([, group]) => group)
)
const held = new Set(tabled)

describe("the contract", () => {
  it("has a table for every group of the API", () => {
    assert.deepStrictEqual(
      Object.keys(ControlPlaneApi.groups).filter((group) => !held.has(group)),
      []
    )
  })
})

const document = OpenApi.fromApi(ControlPlaneApi)
const page = render(document)

/** What people read of the section of a route. */
const sectionOf = (method: string, path: string) => {
  const parts = page.split("<section id=").slice(1)
  const found = parts.find((part) => part.includes(`<b>${method}</b> <code>${path}</code></h3>`))
  return (found ?? assert.fail(`no section for ${method} ${path}`)).split("</section>")[0] ?? ""
}

describe("the readable page of the API", () => {
  it("says of every route what it is for, what it takes, and every code that it refuses with", () => {
    HttpApi.reflect(ControlPlaneApi, {
      onGroup: () => {},
      onEndpoint: ({ endpoint, middleware }) => {
        const path = endpoint.path.replace(/:(\w+)/g, "{$1}")
        const section = sectionOf(endpoint.method, path)
        const methods = document.paths[path] ?? {}
        const operation = methods[endpoint.method.toLowerCase() as "get"]
        const entity = (sign: string) => `&#${sign.charCodeAt(0)};`
        assert.include(section, `<p>${operation?.summary?.replace(/[&<>"']/g, entity)}</p>`)
        for (const { in: place, name, required } of operation?.parameters ?? [])
          if (place !== "path") assert.include(section, `<code>${name}${required ? "" : "?"}</code>`)
        for (const errors of [endpoint.error, ...Array.from(middleware, ({ error }) => error)])
          for (const { ast } of errors) assert.include(section, `<code>${SchemaAST.resolveIdentifier(ast)}</code>`)
      }
    })
  })

  it("has every route once, under the heading of its group", () => {
    const routes = Object.values(document.paths).flatMap((methods) => Object.keys(methods)).length
    assert.strictEqual(page.split("<section id=").length - 1, routes)
    assert.strictEqual(page.split('<li><a href="#').length - 1, routes)
    for (const { description } of document.tags ?? []) assert.include(page, `<h2>${description}</h2>`)
    assert.notMatch(page, /undefined|\[object/)
  })

  it("describes every operation, and offers to try those that the session may call", () => {
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, operation] of Object.entries(
        methods as Record<string, { security?: ReadonlyArray<object> }>
      )) {
        const section = sectionOf(method.toUpperCase(), path)
        assert.match(section, /<p class="hint">[A-Z][^<]{20,}\.<\/p>/u, `${method} ${path}`)
        const isTried = (operation.security ?? []).some((way) => Object.keys(way).includes("session"))
        assert.strictEqual(/^"[^>]* data-method="/u.test(section), isTried, `${method} ${path}`)
      }
  })

  it("says of every page, form, sign-in and gate what it is for, and names the fields of each form", () => {
    const place = { tunnel: "t", channel: "ab".repeat(32), topology: "t", host: "h" }
    const table: Readonly<Record<string, FormRow>> = tableOf(place)
    const rows = page.split("<tr>").slice(1)
    for (const route of Object.keys(browserRoutes)) {
      const [method = "", path = ""] = route.split(" ")
      const row = rows.find((each) => each.includes(`<b>${method}</b> <code>${path}</code>`)) ?? ""
      assert.match(row, /<td>[A-Z].{6,}\./u, path)
      const { free = [], ways } = (method === "POST" ? table[path] : undefined) ?? { ways: [] }
      for (const name of [...free, ...ways.flatMap(({ refuses }) => Object.keys(refuses))])
        assert.include(row, `<code>${name}</code>`, path)
    }
  })
})
