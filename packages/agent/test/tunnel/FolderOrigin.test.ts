/** A folder as an origin, asked over connections as visitors' are opened to it. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { once } from "node:events"
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { type IncomingMessage, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import * as OriginConnections from "../../src/tunnel/OriginConnections.ts"
import { plainOrigin } from "../harness/Origins.ts"

class Folder extends Context.Service<
  Folder,
  { readonly plain: OriginConnections.OpenOrigin; readonly listed: OriginConnections.OpenOrigin; readonly path: string }
>()("agent/test/tunnel/FolderOrigin/Folder") {
  static readonly layer = Layer.effect(
    Folder,
    Effect.gen(function* () {
      const base = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "ct-folder-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      const path = join(base, "public")
      for (const folder of ["", "sub", "empty", ".git", ".well-known", ".well-known/.deep", "<b>"])
        mkdirSync(join(path, folder), { recursive: true })
      const file = (name: string, contents: string) => writeFileSync(join(path, name), contents)
      file("index.html", "<p>home</p>")
      file("sub/index.html", "<p>sub</p>")
      file("a b&c.txt", "0123456789")
      file(".env", "secret")
      file(".git/config", "secret")
      file(".well-known/security.txt", "Contact: mailto:a@example.net")
      file(".well-known/.deep/key", "secret")
      file("<b>/page.html", "page")
      file("empty/data.unknown", "x")
      writeFileSync(join(base, "outside.txt"), "secret")
      mkdirSync(join(base, "public-too"))
      writeFileSync(join(base, "public-too/index.html"), "secret")
      symlinkSync(join(base, "outside.txt"), join(path, "out.txt"))
      symlinkSync("../public-too", join(path, "too"))
      symlinkSync(".env", join(path, "env.txt"))
      symlinkSync("a b&c.txt", join(path, "inside.txt"))
      symlinkSync("../outside.txt", join(path, "<b>/index.html"))
      utimesSync(join(path, "a b&c.txt"), 1_700_000_000, 1_700_000_000)
      const place = { _tag: "Folder", path } as const
      const settings = { ...plainOrigin(1), place }
      const open = (listing: boolean) => Effect.orDie(OriginConnections.open({ ...settings, listing }))
      return { plain: yield* open(false), listed: yield* open(true), path }
    })
  ).pipe(Layer.provide([AgentMetrics.layer, NodeFileSystem.layer]))
}

const hidden =
  "/.env /.git/config /%2egit/config /.well-known/.deep/key /sub/../.env /out.txt /too/ /too/index.html /env.txt " +
  "/../outside.txt /%2e%2e/outside.txt /..%2foutside.txt /sub/..%2f..%2foutside.txt /%00 /% /a%20b%26c.txt/ /none"

interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

const ask = (origin: OriginConnections.OpenOrigin, path: string, { headers = {}, method = "GET" }: Asked = {}) =>
  Effect.flatMap(origin.connect(), (socket) =>
    Effect.promise(async () => {
      const asked = request({
        createConnection: () => socket,
        path,
        method,
        headers: { host: "a.example", ...headers }
      })
      asked.end(method === "POST" ? "x" : undefined)
      const [response] = (await once(asked, "response")) as [IncomingMessage]
      const body = await text(response)
      return { status: response.statusCode, headers: response.headers, body }
    })
  )

layer(Folder.layer, { excludeTestServices: true })("a folder as an origin", (it) => {
  it.effect("sends files with their type and validators, and index.html for folders", () =>
    Effect.gen(function* () {
      const { plain } = yield* Folder
      const home = yield* ask(plain, "/")
      assert.deepInclude(home, { status: 200, body: "<p>home</p>" })
      assert.strictEqual(home.headers["content-type"], "text/html; charset=utf-8")
      assert.strictEqual(home.headers["x-content-type-options"], "nosniff")
      assert.strictEqual((yield* ask(plain, "/sub/?a=b")).body, "<p>sub</p>")
      const moved = yield* ask(plain, "//sub?a=b")
      assert.deepStrictEqual([moved.status, moved.headers.location], [301, "/sub/?a=b"])
      const { body, headers } = yield* ask(plain, "/a%20b%26c.txt")
      assert.strictEqual(body, "0123456789")
      assert.match(headers.etag ?? "", /^"[^"]+"$/u)
      assert.deepInclude(headers, {
        "content-type": "text/plain; charset=utf-8",
        "last-modified": "Tue, 14 Nov 2023 22:13:20 GMT",
        "accept-ranges": "bytes",
        "content-length": "10"
      })
      for (const fresh of [
        { "if-none-match": headers.etag ?? "" },
        { "if-modified-since": headers["last-modified"] ?? "" }
      ])
        assert.deepInclude(yield* ask(plain, "/inside.txt", { headers: fresh }), { status: 304, body: "" })
      const head = yield* ask(plain, "/inside.txt", { method: "HEAD" })
      assert.deepStrictEqual([head.status, head.headers["content-length"], head.body], [200, "10", ""])
    })
  )

  it.effect("sends parts of files", () =>
    Effect.gen(function* () {
      const { plain } = yield* Folder
      const part = (range: string, more = {}) => ask(plain, "/inside.txt", { headers: { range, ...more } })
      for (const [range, body, where] of [
        ["bytes=2-4", "234", "bytes 2-4/10"],
        ["bytes=7-", "789", "bytes 7-9/10"],
        ["bytes=-3", "789", "bytes 7-9/10"]
      ] as const) {
        const said = yield* part(range)
        assert.deepStrictEqual([said.status, said.body, said.headers["content-range"]], [206, body, where], range)
      }
      const { headers } = yield* ask(plain, "/inside.txt")
      assert.strictEqual((yield* part("bytes=1-1", { "if-range": headers.etag })).status, 206)
      assert.strictEqual((yield* part("bytes=1-1", { "if-range": '"other"' })).status, 200)
      const beyond = yield* part("bytes=10-")
      assert.deepStrictEqual([beyond.status, beyond.headers["content-range"]], [416, "bytes */10"])
    })
  )

  const size = 16 * 1024 * 1024
  /** Asks for a file that changes while it is sent, and then for another one; returns what comes, without the first head. */
  const meanwhile = Effect.fnUntraced(function* (change: (file: string) => void) {
    const { path, plain } = yield* Folder
    const file = join(path, "long.bin")
    writeFileSync(file, Buffer.alloc(size, "a"))
    const socket = yield* plain.connect()
    socket.on("error", () => {})
    const request = (name: string) => `GET /${name} HTTP/1.1\r\nHost: a.example\r\nConnection: keep-alive\r\n\r\n`
    const got: Array<Buffer> = []
    yield* Effect.promise(async () => {
      socket.write(request("long.bin"))
      await once(socket, "readable")
      change(file)
      socket.write(request("inside.txt"))
      for await (const chunk of socket as AsyncIterable<Buffer>) {
        got.push(chunk)
        if (chunk.includes("0123456789")) break
      }
    })
    const all = Buffer.concat(got)
    return all.subarray(all.indexOf("\r\n\r\n") + 4)
  })

  it.effect("sends a file that grows as long as it was", () =>
    Effect.gen(function* () {
      const came = yield* meanwhile((file) => appendFileSync(file, Buffer.alloc(1024 * 1024, "b")))
      assert.isFalse(came.includes("b".repeat(10)))
      assert.strictEqual(came.subarray(size).toString("latin1").split("\r\n")[0], "HTTP/1.1 200 OK")
    })
  )

  it.effect("ends the connection of a file that shrinks", () =>
    Effect.gen(function* () {
      const came = yield* meanwhile((file) => truncateSync(file, size / 2))
      assert.isAtMost(came.length, size / 2)
      assert.isFalse(came.includes("HTTP/1.1"))
    })
  )

  it.effect("shows nothing hidden, nothing outside of it and no listing", () =>
    Effect.gen(function* () {
      const { listed, plain } = yield* Folder
      for (const origin of [plain, listed])
        for (const path of hidden.split(" ")) {
          const { body, status } = yield* ask(origin, path)
          assert.deepStrictEqual([status, body], [404, "Not found\n"], path)
        }
      assert.strictEqual((yield* ask(plain, "/.well-known/security.txt")).status, 200)
      for (const path of ["/empty/", "/%3Cb%3E/"]) assert.strictEqual((yield* ask(plain, path)).status, 404, path)
      const refused = yield* ask(plain, "/", { method: "POST" })
      assert.deepStrictEqual([refused.status, refused.headers.allow], [405, "GET, HEAD"])
    })
  )

  it.effect("lists folders without an index where that is wanted", () =>
    Effect.gen(function* () {
      const { listed } = yield* Folder
      assert.strictEqual((yield* ask(listed, "/")).body, "<p>home</p>")
      const { body, headers } = yield* ask(listed, "/%3Cb%3E/")
      assert.strictEqual(headers["content-type"], "text/html; charset=utf-8")
      assert.include(body, "<title>/&#60;b&#62;/</title>")
      assert.include(body, '<a href="./page.html">page.html</a>')
      assert.include(body, '<a href="./../">../</a>')
      const names = [...(yield* ask(listed, "/.well-known/")).body.matchAll(/<a href="([^"]+)"/gu)].map(([, to]) => to)
      assert.deepStrictEqual(names, ["./../", "./security.txt"])
    })
  )
})
