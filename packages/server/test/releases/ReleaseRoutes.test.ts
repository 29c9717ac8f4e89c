/** The agent's releases as other machines fetch them. */
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, mkdtempSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"

const folder = mkdtempSync(join(tmpdir(), "catenet-releases-"))
const releases = join(folder, "releases")
const packaged = Buffer.from(Array.from({ length: 1000 }, (_, n) => n % 251))

const publish = (version: string, files: Readonly<Record<string, string | Buffer>>) => {
  const next = join(folder, "next")
  mkdirSync(next)
  for (const [name, content] of Object.entries(files)) writeFileSync(join(next, name), content)
  renameSync(next, join(releases, version))
}

mkdirSync(releases)
writeFileSync(join(folder, "secret"), "not for the world")
publish("0.9.0", { "agent.tgz": packaged, "ct-agent-linux-x86_64": "nine", ".sources": "hidden" })
publish("v0.10.0", { "ct-agent-linux-x86_64": "ten", "release-manifest.json": "{}", empty: "" })
publish("not-a-version", { "agent.tgz": "x" })
symlinkSync(join(folder, "secret"), join(releases, "0.9.0", "link"))
symlinkSync(folder, join(releases, "9.9.9"))
mkdirSync(join(releases, "0.9.0", "folder"))

/** `fetch` would tidy the path. */
const asIs = (path: string) =>
  Effect.flatMap(TestServer.baseUrl, (url) =>
    Effect.callback<number>((resume) => {
      const { hostname, port } = new URL(url)
      request({ hostname, port, path }, (response) => {
        response.resume()
        resume(Effect.succeed(response.statusCode ?? 0))
      }).end()
    })
  )

const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") =>
  Effect.flatMap(TestServer.raw(path, { method, headers }), (response) =>
    Effect.map(
      Effect.promise(() => response.arrayBuffer()),
      (body) => ({ status: response.status, headers: response.headers, body: Buffer.from(body) })
    )
  )

layer(TestServer.layer({ CT_CP_RELEASES_DIR: releases, CT_CP_AGENTS_URL: "http://cp.example:8090" }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("the releases", (it) => {
  it.effect("are served by version and as the latest, with types and tags", () =>
    Effect.gen(function* () {
      const first = yield* get("/agent.tgz")
      assert.deepStrictEqual([first.status, first.body], [200, packaged])
      assert.strictEqual(first.headers.get("content-type"), "application/gzip")
      assert.strictEqual(first.headers.get("content-length"), "1000")
      assert.strictEqual(first.headers.get("cache-control"), "public, no-cache")
      assert.strictEqual(first.headers.get("x-content-type-options"), "nosniff")
      for (const version of ["0.9.0", "v0.9.0"]) {
        const other = yield* get(`/releases/${version}/agent.tgz`)
        assert.deepStrictEqual([other.status, other.headers.get("etag")], [200, first.headers.get("etag")], version)
      }
      const newest = yield* get("/releases/latest/ct-agent-linux-x86_64")
      assert.deepStrictEqual(
        [newest.status, String(newest.body), newest.headers.get("content-type")],
        [200, "ten", "application/octet-stream"]
      )
      const manifest = yield* get("/releases/0.10.0/release-manifest.json")
      assert.strictEqual(manifest.headers.get("content-type"), "application/json")
      assert.strictEqual((yield* get("/releases/0.10.0/empty")).body.length, 0)
    })
  )

  it.effect("are sent again only when they changed, and by parts", () =>
    Effect.gen(function* () {
      const head = yield* get("/agent.tgz", {}, "HEAD")
      assert.deepStrictEqual([head.status, head.headers.get("content-length"), head.body.length], [200, "1000", 0])
      const etag = head.headers.get("etag") ?? ""
      for (const tags of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
        const { body, headers, status } = yield* get("/agent.tgz", { "if-none-match": tags })
        assert.deepStrictEqual([status, body.length, headers.get("etag")], [304, 0, etag], tags)
      }
      assert.strictEqual((yield* get("/agent.tgz", { "if-none-match": '"x"' })).status, 200)
      const part = yield* get("/agent.tgz", { range: "bytes=990-", "if-range": etag })
      assert.deepStrictEqual([part.status, part.body], [206, packaged.subarray(990)])
      assert.deepStrictEqual(
        [part.headers.get("content-range"), part.headers.get("content-length")],
        ["bytes 990-999/1000", "10"]
      )
      assert.strictEqual((yield* get("/agent.tgz", { range: "bytes=990-", "if-range": '"x"' })).status, 200)
      const beyond = yield* get("/agent.tgz", { range: "bytes=1000-" })
      assert.deepStrictEqual([beyond.status, beyond.headers.get("content-range")], [416, "bytes */1000"])
      assert.include(String(beyond.body), "outside of the 1000 bytes")
      assert.strictEqual((yield* get("/agent.tgz", { range: "bytes=1000-" }, "HEAD")).status, 200)
      assert.strictEqual((yield* get("/agent.tgz", {}, "POST")).status, 405)
    })
  )

  it.effect("are found by their names alone: no path, link, folder or hidden file", () =>
    Effect.gen(function* () {
      const absent = [
        ...["link", "folder", ".sources", "..", "%2e%2e", "..%2f..%2fsecret", "%00", "constructor", "__proto__"].map(
          (file) => `/releases/0.9.0/${file}`
        ),
        ...["9.9.9", "not-a-version", "..", "%2e%2e%2f", "0.9", "vv0.9.0", "latest%00", "constructor", ""].map(
          (version) => `/releases/${version}/agent.tgz`
        ),
        "/releases/latest/agent.tgz",
        "/releases/../secret",
        "/releases//secret",
        `/releases/0.9.0/${"a".repeat(5000)}`
      ]
      for (const path of absent) {
        const status = yield* asIs(path)
        assert.include([400, 404], status, path)
      }
    })
  )

  it.effect("count at once when they come while the service runs, and the newest counts by its numbers", () =>
    Effect.gen(function* () {
      yield* get("/agent.tgz")
      publish("0.11.0", { "agent.tgz": "eleven" })
      assert.strictEqual(String((yield* get("/agent.tgz")).body), "eleven")
    })
  )

  it.effect("tell the line that brings the agent along", () =>
    Effect.gen(function* () {
      const { text } = yield* Effect.map(
        get("/join", { accept: "text/html", "accept-language": "en" }),
        ({ body }) => ({ text: String(body) })
      )
      assert.include(text, "npx --yes http://cp.example:8090/agent.tgz channel join '")
    })
  )
})

layer(TestServer.layer({ CT_CP_RELEASES_DIR: join(folder, "none") }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a folder that is not there yet", (it) => {
  it.effect("has nothing, and the lines are as without releases", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* get("/agent.tgz")).status, 404)
      assert.strictEqual((yield* get("/releases/latest/agent.tgz")).status, 404)
      const { body } = yield* get("/join", { accept: "text/html" })
      assert.include(String(body), "ct-agent channel join '")
      assert.notInclude(String(body), "npx --yes http")
    })
  )
})

describe("without a folder", () => {
  layer(TestServer.layer(), { excludeTestServices: true, timeout: "60 seconds" })("nothing is served", (it) => {
    it.effect("of releases", () =>
      Effect.gen(function* () {
        for (const path of ["/agent.tgz", "/install.sh", "/releases/latest/agent.tgz"])
          assert.strictEqual((yield* get(path)).status, 404, path)
      })
    )

    it.effect("of the agent's file of services the JSON Schema is, to pages of editors too", () =>
      Effect.gen(function* () {
        const { body, headers, status } = yield* get("/schemas/ct-agent.json")
        assert.strictEqual(status, 200)
        assert.strictEqual(headers.get("access-control-allow-origin"), "*")
        const schema = JSON.parse(String(body))
        assert.strictEqual(schema.$schema, "https://json-schema.org/draft/2020-12/schema")
        assert.include(Object.keys(schema.$defs.ServiceEntryEncoded.properties), "to")
        assert.isFalse(schema.$defs.ServiceEntryEncoded.additionalProperties)
      })
    )
  })
})
