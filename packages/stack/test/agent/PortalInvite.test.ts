/**
 * The owner of a channel makes an invite line in a browser, and `ct-agent channel join` takes it up: the operator key stays in the
 * browser, and what joins is what the command would have made.
 */
import * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { server } from "@catenet/testing/server/Accounts"
import { person } from "@catenet/testing/server/channels/Asking"
import { launch, missing, open } from "@catenet/testing/server/portal/browser/Chromium"
import { afterAll, assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import { X509Certificate } from "node:crypto"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { rootCertificates } from "node:tls"
import * as JoinLinks from "./JoinLinks.ts"

const folder = mkdtempSync(join(tmpdir(), "portal-invite-"))
const certificate = join(folder, "root.der")
const root = new X509Certificate(rootCertificates[0] ?? "").raw
writeFileSync(certificate, root)
const variables = { CT_CP_EDGE_CERT_PATH: certificate, CT_CHANNEL_FRONT_DOOR: "edge.example.net:443" }

afterAll(() => rmSync(folder, { recursive: true }))

const home = Effect.acquireRelease(Effect.promise(makeHome), (each) =>
  Effect.promise(() => each[Symbol.asyncDispose]())
)
const valuesOf = (text: string) =>
  new Map([...text.matchAll(/^(\w+)=(.*)$/gmu)].map(([, name, value]) => [name, value]))

describe.skipIf(missing)("an invite line of the portal", () => {
  layer(server(variables), { excludeTestServices: true, timeout: "120 seconds" })("made in a browser", (it) => {
    it.effect("is redeemed by the agent, and the operator key is sent nowhere", () =>
      Effect.gen(function* () {
        const owned = yield* JoinLinks.open("line-ann")
        const operatorKey = Hex.encode(Redacted.value(owned.operator))
        const keyFile = join(folder, "operator.env")
        writeFileSync(keyFile, `export CT_CHANNEL_OPERATOR_KEY=${operatorKey}\n`)
        const otherFile = join(folder, "other.env")
        writeFileSync(otherFile, `CT_CHANNEL_OPERATOR_KEY=${"5b".repeat(32)}\n`)
        const browser = yield* launch
        const { base, context, page, problems } = yield* open(browser, person("line-ann"))
        const line = yield* Effect.promise(async () => {
          const asked: Array<string> = []
          page.on("request", (request) => asked.push(`${request.url()} ${request.postData() ?? ""}`))
          await page.goto(`/portal/channels/${Hex.encode(owned.channel)}?tab=invitations`)
          const form = page.locator("#join-line form")
          const said = form.getByRole("status")
          const press = async (wanted: RegExp) => {
            await form.getByRole("button", { name: "Make the line" }).click()
            await said.filter({ hasText: wanted }).waitFor()
          }
          await press(/Choose the file/u)
          await form.locator("input[type=file]").setInputFiles(otherFile)
          await press(/does not contain the operator key/u)
          await form.locator("input[type=file]").setInputFiles(keyFile)
          for (const days of ["0", "3651"]) {
            await form.getByLabel("Days until").fill(days)
            await press(/from 1 to 3650/u)
          }
          await form.getByLabel("Days until").fill("30")
          await form.getByLabel("Address of the edge").fill("edge.example.net")
          await press(/a host and a port/u)
          await form.getByLabel("Address of the edge").fill("edge.example.net:443")
          assert.isFalse(asked.some((request) => request.includes("/join-links")))
          await press(/Send this line/u)
          const shown = (await form.locator("pre").textContent()) ?? ""
          await context.grantPermissions(["clipboard-read", "clipboard-write"])
          await form.getByRole("button", { name: "Copy" }).click()
          assert.strictEqual(String(await page.evaluate("navigator.clipboard.readText()")), shown)
          assert.strictEqual(asked.filter((request) => request.includes("/join-links")).length, 1)
          const [, secrets = ""] = shown.split("#")
          for (const request of asked) {
            assert.notInclude(request, operatorKey)
            assert.notInclude(request, secrets.slice(0, 20))
          }
          await page.reload()
          assert.isTrue(await page.locator("#join-line pre").isHidden(), "the line is shown once")
          assert.deepStrictEqual(problems, [])
          return shown
        })
        const found = /^ct-agent channel join '(https?:\/\/[^/]+)(\/join#[A-Za-z0-9_-]{86})'$/u.exec(line)
        const [, , link = assert.fail(line)] = found ?? []
        const machine = yield* home
        yield* Effect.promise(async () => {
          const agent = runAgent(machine, {}, ["channel", "join", `${base}${link}`])
          assert.strictEqual(await agent.exited, 0, agent.lines.join("\n"))
          assert.property(JSON.parse(agent.stdout()), "mcpServers")
        })
        const channels = join(machine.path, ".ct-agent", "channels")
        const file = readdirSync(channels).find((name) => name.endsWith(".env")) ?? assert.fail("nothing is stored")
        assert.strictEqual(statSync(join(channels, file)).mode & 0o777, 0o600)
        const values = valuesOf(readFileSync(join(channels, file), "utf8"))
        assert.deepInclude(Object.fromEntries(values), {
          CT_CHANNEL_ROLE: "initiate",
          CT_CHANNEL_BROKER: "edge.example.net:443",
          CT_CHANNEL_RELAY: "edge.example.net:443",
          CT_CHANNEL_FRONT_DOOR: "edge.example.net:443",
          CT_CHANNEL_FRONT_DOOR_CERT: root.toString("hex"),
          CT_CHANNEL_FRONT_DOOR_ONLY: "1"
        })
        const grant = Result.getOrThrow(Grant.fromHex(values.get("CT_CHANNEL_GRANT") ?? ""))
        const members = yield* JoinLinks.members("line-ann", owned)
        assert.deepStrictEqual(
          members.map(({ holder }) => holder),
          [Hex.encode(grant.holder)]
        )
        assert.isFalse(existsSync(join(channels, file.replace(".env", ".keys"))))
        const plain = yield* open(browser, person("line-ann"), { javaScriptEnabled: false })
        yield* Effect.promise(async () => {
          await plain.page.goto(`/portal/channels/${Hex.encode(owned.channel)}?tab=invitations`)
          assert.include(await plain.page.locator("#join-line").innerText(), "ct-agent channel invite --mcp")
          assert.isTrue(await plain.page.locator("#join-line form").isHidden())
        })
      }).pipe(Effect.scoped)
    )
  })
})
