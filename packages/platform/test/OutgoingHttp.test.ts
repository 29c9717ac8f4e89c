import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "vitest"
import { AnswerTooLong, strictFetch } from "../src/OutgoingHttp.ts"

const most = 10_000

const withServer = async (listener: RequestListener, use: (url: string) => Promise<void>) => {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const ask = (url: string, init: RequestInit = {}) => strictFetch(fetch, most)(url, init)

const failure = async (answer: Promise<unknown>) => {
  try {
    await answer
  } catch (error) {
    return error
  }
  return assert.fail("it did not fail")
}

describe("strictFetch", () => {
  for (const status of [301, 302, 303, 307, 308])
    it(`hands a ${status} back instead of following it`, async () => {
      const paths: Array<string | undefined> = []
      await withServer(
        (request, response) => {
          paths.push(request.url)
          response.writeHead(status, { location: "/elsewhere" }).end()
        },
        async (url) => {
          const body = JSON.stringify({ token: "secret" })
          const response = await ask(url, { method: "POST", body, redirect: "follow" })
          assert.strictEqual(response.status, status)
          assert.strictEqual(response.headers.get("location"), "/elsewhere")
        }
      )
      assert.deepStrictEqual(paths, ["/"])
    })

  it("reads an answer of exactly the limit, and none that is a byte longer", async () => {
    await withServer(
      (request, response) =>
        void response.end(Buffer.alloc(request.headers["x-longer"] === undefined ? most : most + 1)),
      async (url) => {
        assert.strictEqual((await (await ask(url)).arrayBuffer()).byteLength, most)
        assert.instanceOf(await failure(ask(url, { headers: { "x-longer": "1" } })), AnswerTooLong)
      }
    )
  })

  it("counts what a compressed answer becomes", async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    await withServer(
      (_, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
      async (url) => assert.instanceOf(await failure(ask(url)), AnswerTooLong)
    )
  })

  it("cuts the connection of an answer that does not end", async () => {
    const cut = Promise.withResolvers<number>()
    await withServer(
      (_, response) => {
        let sent = 0
        const pour = () => {
          while (response.write(Buffer.alloc(65_536))) sent += 65_536
        }
        response.on("drain", pour).on("close", () => cut.resolve(sent))
        pour()
      },
      async (url) => {
        assert.instanceOf(await failure(ask(url)), AnswerTooLong)
        assert.isBelow(await cut.promise, 32_000_000)
      }
    )
  })

  it("keeps status, headers and the absence of a body", async () => {
    await withServer(
      (_, response) => void response.writeHead(204, { "x-kept": "yes" }).end(),
      async (url) => {
        const response = await ask(url)
        assert.strictEqual(response.status, 204)
        assert.strictEqual(response.headers.get("x-kept"), "yes")
        assert.strictEqual(await response.text(), "")
      }
    )
  })
})
