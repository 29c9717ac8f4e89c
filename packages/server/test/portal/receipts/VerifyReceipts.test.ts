/** Receipts verified in Chromium: the command's sentences, in both languages, and nothing that leaves the browser. */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as Export from "@catenet/crypto/receipt/Export"
import * as FileCheck from "@catenet/crypto/receipt/FileCheck"
import * as Receipt from "@catenet/crypto/receipt/Receipt"
import { server } from "@catenet/testing/server/Accounts"
import { launch, missing, open } from "@catenet/testing/server/portal/browser/Chromium"
import { invalidities } from "@catenet/testing/server/portal/HtmlValidity"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { english } from "../../../src/portal/texts/English.ts"
import { german } from "../../../src/portal/texts/German.ts"
import { faults } from "../PageFaults.ts"

const seed = Redacted.make(new Uint8Array(32).fill(7))
const pubkey = Hex.encode(native.ed25519.publicKey(Redacted.value(seed)))
const otherKey = Hex.encode(native.ed25519.publicKey(new Uint8Array(32).fill(8)))
const chain = { edgeId: "primary", routingTokenHash: "ab".repeat(32) }
const opened = (tip: Receipt.Tip, at: bigint) =>
  Result.getOrThrow(
    Receipt.append(native, seed, chain, tip, at, Receipt.sessionOpen({ connectedAt: at, transport: "mux" }))
  )
const first = opened(Receipt.genesis, 1000n)
const receipts = [first, opened(first, 2000n), opened(opened(first, 2000n), 3000n)]
const good = Export.write({ header: { pubkey, edgeId: "primary", tunnel: "<b>demo</b>" }, receipts })
const altered = good.replace('"ts":2000', '"ts":2001')
const truncated = good.slice(0, -40)
const ofNoCalendar = Export.write({
  header: { pubkey, edgeId: "primary" },
  receipts: [opened(Receipt.genesis, 2n ** 63n)]
})

const cases = [
  ["good.jsonl", good, pubkey, "verified"],
  ["good.jsonl", good, "", "verified"],
  ["altered.jsonl", altered, pubkey, "refused"],
  ["truncated.jsonl", truncated, pubkey, "unusable"],
  ["good.jsonl", good, otherKey, "refused"],
  ["good.jsonl", good, "zz", "unusable"],
  ["empty.jsonl", "", "", "unusable"],
  ["far.jsonl", ofNoCalendar, pubkey, "verified"]
] as const

describe.skipIf(missing)("receipts", () => {
  layer(server(), { excludeTestServices: true, timeout: "90 seconds" })("verified in the browser", (it) => {
    it.effect("say what the command says, and the file goes nowhere", () =>
      Effect.gen(function* () {
        const folder = yield* Effect.acquireRelease(
          Effect.sync(() => mkdtempSync(join(tmpdir(), "catenet-verify-"))),
          (path) => Effect.sync(() => rmSync(path, { recursive: true }))
        )
        const huge = join(folder, "huge.jsonl")
        writeFileSync(huge, good)
        truncateSync(huge, 256 * 1024 * 1024 + 1)
        const browser = yield* launch
        for (const texts of [english, german]) {
          const { page, problems } = yield* open(browser, "anonymous", { locale: texts.language })
          yield* Effect.promise(async () => {
            await page.goto("/portal/receipts")
            await page.getByLabel(texts.receiptsFile).waitFor()
            const requests: Array<string> = []
            page.on("request", (request) => requests.push(request.url()))
            const outcomes = {
              verified: texts.verifyHolds,
              refused: texts.verifyRefused,
              unusable: texts.verifyUnusable
            }
            const verdict = async (outcome: FileCheck.FileVerdict["outcome"]) => {
              await page.getByRole("button", { name: texts.verifyButton }).click()
              await page.getByText(outcomes[outcome], { exact: true }).waitFor()
              return page.locator("#report").textContent()
            }
            for (const [name, content, key, outcome] of cases) {
              const buffer = Buffer.from(content)
              await page.getByLabel(texts.receiptsFile).setInputFiles({ name, mimeType: "text/plain", buffer })
              await page.getByLabel(texts.edgeKey).fill(key)
              const expected = FileCheck.check(native, { name, bytes: buffer, key: key === "" ? undefined : key })
              assert.strictEqual(expected.outcome, outcome, name)
              assert.strictEqual(await verdict(outcome), expected.lines.join("\n"), `${name} ${key}`)
            }
            await page.getByLabel(texts.receiptsFile).setInputFiles(huge)
            const said = 'huge.jsonl is larger than 256 MB; export fewer receipts at once by "since".'
            assert.strictEqual(await verdict("unusable"), said)
            assert.deepStrictEqual(requests, [], "nothing is asked for once a file is chosen")
            assert.deepStrictEqual(problems, [])
            assert.strictEqual(await page.evaluate("fetch('/').catch(() => 'refused')"), "refused")
          })
        }
      }).pipe(Effect.scoped)
    )

    it.effect("name the command where there is no script, on a valid page without names of fields", () =>
      Effect.gen(function* () {
        for (const texts of [english, german]) {
          const headers = { accept: "text/html", "accept-language": texts.language }
          const response = yield* TestServer.raw("/portal/receipts", { headers })
          const html = yield* Effect.promise(() => response.text())
          assert.strictEqual(response.status, 200)
          assert.deepStrictEqual([...invalidities(html), ...faults(html, texts)], [])
          assert.include(response.headers.get("content-security-policy") ?? "", "connect-src 'none'")
          assert.notMatch(/<form class="panel"[^]*?<\/form>/u.exec(html)?.[0] ?? "none", / name=|method=/u)
        }
        const { page } = yield* open(yield* launch, "anonymous", { javaScriptEnabled: false })
        yield* Effect.promise(async () => {
          await page.goto("/portal/receipts")
          assert.include(await page.locator("main").innerText(), "catenet receipts verify FILE")
          assert.isFalse(await page.getByLabel(english.receiptsFile).isVisible())
        })
      }).pipe(Effect.scoped)
    )
  })
})
