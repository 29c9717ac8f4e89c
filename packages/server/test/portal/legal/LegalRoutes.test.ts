import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { OpenApi } from "effect/http-api"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const page = (path: string, language = "de") =>
  Effect.flatMap(TestServer.raw(path, { headers: { "accept-language": language } }), (response) =>
    Effect.map(
      Effect.promise(() => response.text()),
      (text) => ({ response, text })
    )
  )

const configured = {
  CT_PORTAL_BASE_URL: "https://relay.example.test",
  CT_OIDC_ISSUER: "https://id.example.test/realms/main",
  CT_CP_OPERATOR_NAME: "Verein <Beispiel> & Söhne",
  CT_CP_OPERATOR_ADDRESS: "Weg 1, 12345 Ort",
  CT_CP_OPERATOR_EMAIL: "post@example.test",
  CT_CP_OPERATOR_VAT_ID: "DE1",
  CT_CP_SECURITY_CONTACT: "mailto:security@example.test",
  CT_CP_SECURITY_POLICY: "https://example.test/policy"
}

const document = OpenApi.fromApi(ControlPlaneApi)

/** The members of a body as the document describes them. */
const bodyOf = (operation: OpenApi.OpenAPISpecOperation | undefined) => {
  const schema = operation?.requestBody?.content["application/json"]?.schema as {
    readonly $ref?: string
    readonly properties?: object
  }
  const named = document.components.schemas[schema.$ref?.replace(/^.*\//, "") ?? ""] as { readonly properties: object }
  return schema.properties ?? named.properties
}

const legal = ["/impressum", "/datenschutz", "/nutzungsbedingungen"]

layer(TestServer.layer(configured), { excludeTestServices: true, timeout: "60 seconds" })("a named operator", (it) => {
  it.effect("stands on every legal page, escaped, under a policy that the page keeps", () =>
    Effect.gen(function* () {
      for (const path of legal) {
        const { response, text } = yield* page(path)
        assert.strictEqual(response.status, 200)
        assert.strictEqual(response.headers.get("content-type"), "text/html; charset=utf-8")
        const contentPolicy = response.headers.get("content-security-policy") ?? ""
        assert.match(contentPolicy, /^default-src 'none'; style-src 'self';/u)
        assert.notInclude(contentPolicy, "unsafe")
        assert.include(text, "Verein &#60;Beispiel&#62; &#38; Söhne<br />Weg 1<br />12345 Ort")
        const [, sheet = ""] = /<link rel="stylesheet" href="([^"]+)"/u.exec(text) ?? []
        assert.strictEqual((yield* TestServer.raw(sheet)).status, 200)
        assert.include(text, "mailto:post@example.test")
        assert.notMatch(text, /<script|<style| style=|undefined|\[object/)
      }
      assert.include((yield* page("/impressum")).text, "DE1")
      const { text: english } = yield* page("/impressum", "en")
      assert.include(english, "VAT id")
      assert.match(english, /<html lang="en">/u)
      assert.strictEqual((yield* TestServer.raw("/impressum", { method: "POST" })).status, 405)
    })
  )

  it.effect("is reached by those who found a weakness (RFC 9116)", () =>
    Effect.gen(function* () {
      const { response, text } = yield* page("/.well-known/security.txt")
      assert.strictEqual(response.headers.get("content-type"), "text/plain; charset=utf-8")
      const fields = new Map(
        text
          .trimEnd()
          .split("\n")
          .map((line) => line.split(/: (.*)/s) as [string, string])
      )
      assert.strictEqual(fields.get("Contact"), "mailto:security@example.test")
      assert.strictEqual(fields.get("Canonical"), "https://relay.example.test/.well-known/security.txt")
      assert.strictEqual(fields.get("Policy"), "https://example.test/policy")
      const days = (Date.parse(fields.get("Expires") ?? "") - Date.now()) / 86_400_000
      assert.isAbove(days, 178)
      assert.isBelow(days, 365)
    })
  )

  it.effect("says who issues tokens for it (RFC 9728), and a refusal points there", () =>
    Effect.gen(function* () {
      const { response, text } = yield* page("/.well-known/oauth-protected-resource")
      assert.strictEqual(response.headers.get("content-type"), "application/json")
      assert.deepInclude(JSON.parse(text), {
        resource: "https://relay.example.test",
        authorization_servers: ["https://id.example.test/realms/main"],
        bearer_methods_supported: ["header"]
      })
    })
  )

  it.effect("tells coding agents its own addresses", () =>
    Effect.gen(function* () {
      const { response, text } = yield* page("/llms.txt")
      assert.strictEqual(response.headers.get("content-type"), "text/plain; charset=utf-8")
      assert.include(text, "https://relay.example.test/openapi.json")
      assert.include(text, "https://id.example.test/realms/main/protocol/openid-connect/token")
      assert.notInclude(text, "undefined")
    })
  )

  it.effect("tells coding agents of no route, and of no member of a body, that is not there", () =>
    Effect.gen(function* () {
      const { text } = yield* page("/llms.txt")
      const described = Array.from(text.matchAll(/\b(GET|POST) (\/[a-z/:-]+)(?: with \{([a-z_, ]+)\})?/g))
      assert.isAtLeast(described.length, 8)
      for (const [sentence, method = "", path = "", members] of described) {
        const operation = document.paths[path.replace(/:(\w+)/g, "{$1}")]?.[method === "GET" ? "get" : "post"]
        assert.isDefined(operation, sentence)
        if (members === undefined) continue
        const known = Object.keys(bodyOf(operation))
        for (const member of members.split(", ")) assert.include(known, member, sentence)
      }
    })
  )
})

layer(TestServer.layer(), { excludeTestServices: true, timeout: "60 seconds" })("an operator without a name", (it) => {
  it.effect("is not invented, and what cannot be said is not there", () =>
    Effect.gen(function* () {
      for (const path of legal) assert.include((yield* page(path)).text, "noch nicht hinterlegt")
      for (const path of ["/.well-known/security.txt", "/.well-known/oauth-protected-resource"]) {
        const { response, text } = yield* page(path)
        assert.strictEqual(response.status, 404)
        assert.strictEqual(JSON.parse(text).code, "RouteNotFound")
      }
    })
  )

  it.effect("may put own files in the place of the pages", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "catenet-legal-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true })))
      writeFileSync(join(folder, "impressum.html"), "<p>Ganz anders</p>")
      writeFileSync(join(folder, "llms.txt"), "own words")
      const other = yield* Layer.build(TestServer.replica({ CT_CP_LEGAL_DIR: folder }))
      const own = (path: string) => Effect.provide(page(path), other)
      assert.include((yield* own("/impressum")).text, "<p>Ganz anders</p>")
      assert.include((yield* own("/datenschutz")).text, "DSGVO")
      assert.strictEqual((yield* own("/llms.txt")).text, "own words")
    })
  )
})
