/**
 * Requests that have the form of the document, bounds included, and the document's own examples: none is refused as malformed or
 * of the wrong shape, but by a rule that the description of the operation names. `CT_VALID_CASES` says how many for each operation.
 */
import { members } from "@catenet/domain/api/LosslessJson"
import * as Accounts from "@catenet/testing/server/Accounts"
import * as LoggedErrors from "@catenet/testing/server/LoggedErrors"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Route, routes } from "./Document.ts"
import * as Generator from "./Generator.ts"
import { valid } from "./ValidValues.ts"

const cases = Number(process.env["CT_VALID_CASES"] ?? 8)
const random = Generator.random(Number(process.env["FUZZ_SEED"] ?? 1))

const unlimited = {
  CT_CP_HOSTNAME_ZONE: "zone.example",
  CT_CP_TUNNELS_PER_ACCOUNT: "100000",
  CT_CP_REQUESTS_PER_MIN: "0",
  CT_CP_UNAUTH_WRITE_PER_MIN: "0",
  CT_PAYMENT_WEBHOOK_SECRET: "secret"
}

interface Sent {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

const write = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value))

/** `of` gives the value of a parameter or of the body. */
const made = (
  { operation, path }: Route,
  of: (each: { readonly schema: object }, isPlain: boolean) => unknown,
  isTaken: () => boolean
): Sent => {
  const values = operation.parameters
    .filter((each) => each.required || isTaken())
    .map((each) => ({ name: each.name, in: each.in, text: write(of(each, each.in === "header")) }))
  const placed = (place: string) => values.filter((each) => each.in === place)
  const query = new URLSearchParams(placed("query").map(({ name, text }) => [name, text]))
  const media = operation.requestBody?.content["application/json"]
  return {
    path: `${path.replaceAll(/\{([^}]+)\}/gu, (_, name: string) => encodeURIComponent(placed("path").find((each) => each.name === name)?.text ?? ""))}?${query.toString()}`,
    headers: {
      ...Object.fromEntries(placed("header").map(({ name, text }) => [name, text])),
      ...(media === undefined ? {} : { "content-type": "application/json" })
    },
    body: media === undefined ? undefined : JSON.stringify(of(media, false))
  }
}

const example = (each: { readonly schema: object }) => members(each)["example"]

layer(Accounts.server(unlimited), { excludeTestServices: true, timeout: "120 seconds" })("valid requests", (it) => {
  it.effect("are refused by no rule that the document does not name", () =>
    Effect.gen(function* () {
      const bearer = yield* Accounts.bearerOf("ada")
      const found = new Map<string, string>()
      const one = Effect.fnUntraced(function* (route: Route, { body, headers, path }: Sent, kind: string) {
        const ways = new Set(route.operation.security.flatMap((way) => Object.keys(way)))
        // A session may be gone with what the request before it has asked for.
        const cookie =
          ways.has("bearer") || !ways.has("session") ? "" : yield* Accounts.sessionOf("ada", "ada@a.example")
        const response = yield* TestServer.raw(path, {
          method: route.method,
          headers: {
            ...headers,
            ...(ways.has("admin") && { "x-ct-admin-token": TestServer.adminToken }),
            ...(ways.has("bearer") && { authorization: `Bearer ${bearer}` }),
            ...(cookie !== "" && { cookie: `__Host-ct_portal_session=${cookie}` })
          },
          ...(body === undefined ? {} : { body })
        })
        const text = yield* Effect.promise(() => response.text())
        if (response.status === 500)
          found.set(`${String(route.operation.operationId)} 500`, `${route.method} ${path} ${body ?? ""}`)
        if (response.status !== 400 && response.status !== 422) return
        const { code, errors } = members(JSON.parse(text))
        const [, rules = ""] = String(members(route.operation)["description"]).split("The following rules apply")
        // A rule names an error, or the members that it is about.
        const said = `${String(code)} ${JSON.stringify(errors)}`
        if (Array.from(rules.matchAll(/`(\w+)`/gu), ([, name = ""]) => name).some((name) => said.includes(name))) return
        const what = `${String(route.operation.operationId)} ${JSON.stringify(errors)}`.replaceAll(/\d+/gu, "#")
        found.set(
          what,
          `${kind}: ${route.method} ${path} ${body?.slice(0, 400) ?? ""}\n  ${response.status} ${text.slice(0, 600)}`
        )
      })
      for (const route of routes)
        yield* one(
          route,
          made(route, example, () => false),
          "example"
        )
      const generated = routes.flatMap((route) => Array.from({ length: cases }, () => route))
      yield* Effect.forEach(
        generated,
        (route) =>
          one(
            route,
            made(
              route,
              ({ schema }, isPlain) => valid(schema, random, isPlain),
              () => random.next() < 0.5
            ),
            "generated"
          ),
        { concurrency: 8, discard: true }
      )
      assert.deepStrictEqual([...found.values()].slice(0, 40), [], LoggedErrors.said())
    })
  )
})
