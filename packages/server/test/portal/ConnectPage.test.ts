/** The lines of a tunnel's install page where this control plane serves a release: one for any machine, one with Node. */
import { server } from "@catenet/testing/server/Accounts"
import { ask, person } from "@catenet/testing/server/channels/Asking"
import { headersOf } from "@catenet/testing/server/Contract"
import * as TestServer from "@catenet/testing/server/TestServer"
import { afterAll, assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { originOf } from "../../src/portal/pages/ConnectPage.ts"

const ada = person("ada")
const folder = mkdtempSync(join(tmpdir(), "catenet-connect-"))
const release = join(folder, "releases", "0.9.0")
mkdirSync(release, { recursive: true })
writeFileSync(join(release, "agent.tgz"), "packed")
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What the button of the page shows: the lines for a terminal, with and without Node. */
const pageOf = Effect.fn("pageOf")(function* (
  name: string,
  change: Readonly<Record<string, unknown>> = {},
  more: Readonly<Record<string, unknown>> = {},
  form = "port=3000"
) {
  const { body } = yield* ask(ada, "/me/tunnels", { name, ...more })
  yield* ask(ada, `/me/tunnels/${String(body["id"])}`, change, { method: "PATCH" })
  const own = yield* headersOf(ada)
  const response = yield* TestServer.raw(`/portal/tunnels/${String(body["id"])}/install`, {
    method: "POST",
    headers: { accept: "text/html", "content-type": "application/x-www-form-urlencoded", ...own },
    body: form
  })
  const text = yield* Effect.promise(() => response.text())
  assert.strictEqual(response.status, 200, text)
  return text
})

const shownFor = Effect.fn("shownFor")(function* (name: string) {
  const text = yield* pageOf(name)
  const lines = [...text.matchAll(/<pre[^>]*>(?<line>[^\n<]*ct-agent[^\n<]*|[^\n<]*agent\.tgz)<\/pre>/gu)]
  return lines.map(({ groups }) =>
    (groups?.["line"] ?? "").replaceAll(/&#(\d+);/gu, (_, code) => String.fromCodePoint(Number(code)))
  )
})

it("takes a port of this machine or an address, and nothing that a shell would read", () => {
  for (const [typed, origin] of [
    ["3000", "127.0.0.1:3000"],
    [" 65535 ", "127.0.0.1:65535"],
    ["https://127.0.0.1:8443", "https://127.0.0.1:8443"],
    ["https://App.example/", "https://app.example"],
    ["http://[::1]:3000", "[::1]:3000"],
    ["http://app.example", "app.example:80"],
    ["0", undefined],
    ["65536", undefined],
    ["https://a.example:0", undefined],
    ["https://a.example:65536", undefined],
    ["https://a.example/path", undefined],
    ["https://a.example;reboot", undefined],
    ["https://$(reboot)", undefined],
    ["https://u@a.example", undefined],
    ["ftp://a.example", undefined]
  ] as const)
    assert.strictEqual(originOf(typed), origin, typed)
})

layer(
  server({
    CT_CP_RELEASES_DIR: join(folder, "releases"),
    CT_CP_AGENTS_URL: "http://cp.example:8090",
    CT_CP_HOSTNAME_ZONE: "zone.example"
  }),
  { excludeTestServices: true, timeout: "60 seconds" }
)("the install page", (it) => {
  it.effect("starts an agent in port mode for a TCP service with TLS in front, which orders no certificate", () =>
    Effect.gen(function* () {
      const text = yield* pageOf("db", {}, { kind: "tcp", tls: true })
      assert.include(text, "CT_AGENT_MODE=port CT_AGENT_ORIGIN=127.0.0.1:3000")
      for (const none of ["CT_AGENT_MODE=browser", "CT_AGENT_HOSTNAME", "CT_ACME", "CT_AGENT_ORIGIN_TLS"])
        assert.notInclude(text, none)
    })
  )

  it.effect("asks where visitors' TLS ends before it starts an agent for a service that speaks TLS itself", () =>
    Effect.gen(function* () {
      const address = "port=https%3A%2F%2F127.0.0.1%3A8443"
      for (const [n, form] of [address, `${address}&tls=elsewhere`].entries()) {
        const asked = yield* pageOf(`asked-${n}`, {}, {}, form)
        assert.match(asked, /<input[^>]* name="port"[^>]* value="https:\/\/127\.0\.0\.1:8443"/)
        assert.match(asked, /<select[^>]* name="tls"/)
        assert.notInclude(asked, "CT_BOOTSTRAP")
      }
      for (const end of ["terminate", "passthrough"]) {
        const line = yield* pageOf(`chosen-${end}`, {}, {}, `${address}&tls=${end}`)
        assert.include(line, `CT_AGENT_ORIGIN_TLS=${end} CT_ACME_CERT_OUT_DIR=`)
        assert.include(line, "CT_AGENT_ORIGIN=https://127.0.0.1:8443")
      }
      const port = yield* pageOf("tls", {}, { kind: "tcp", tls: true }, address)
      assert.include(port, "CT_AGENT_MODE=port")
      assert.notInclude(port, "CT_AGENT_ORIGIN_TLS")
    })
  )

  it.effect("leads with a line for any machine where the release has programs, which installs and starts one", () =>
    Effect.gen(function* () {
      const [first, ...none] = yield* shownFor("first")
      assert.match(first ?? "", /^CT_BOOTSTRAP=[0-9a-f]{64} .*npx --yes http:\/\/cp\.example:8090\/agent\.tgz$/u)
      assert.deepStrictEqual(none, [])

      // A release is published whole: its folder is moved to its place.
      const next = join(folder, "next")
      mkdirSync(next)
      for (const name of ["agent.tgz", "release-manifest.json"]) writeFileSync(join(next, name), "{}")
      renameSync(next, join(folder, "releases", "0.10.0"))
      const [without = "", withNode = ""] = yield* shownFor("second")
      assert.include(withNode, " npx --yes http://cp.example:8090/agent.tgz")
      assert.isTrue(without.startsWith("curl -fsSL http://cp.example:8090/install.sh | sh && CT_BOOTSTRAP="), without)

      // The script puts the program where a user's are; it says what it was started with.
      const home = join(folder, "home")
      const bin = join(folder, "bin")
      for (const made of [home, bin]) mkdirSync(made)
      const script = `mkdir -p "$HOME/.local/bin"; printf '#!/bin/sh\\nenv | grep ^CT_\\n' >"$HOME/.local/bin/ct-agent"; chmod 755 "$HOME/.local/bin/ct-agent"`
      writeFileSync(join(folder, "install.sh"), script)
      writeFileSync(join(bin, "curl"), `#!/bin/sh\ncat '${join(folder, "install.sh")}'\n`, { mode: 0o755 })
      for (const shell of ["sh", "bash"]) {
        const ran = spawnSync(shell, ["-c", without], {
          env: { HOME: home, PATH: `${bin}:/usr/bin:/bin` },
          encoding: "utf8"
        })
        assert.strictEqual(ran.status, 0, ran.stderr)
        const given = withNode.split(" ").filter((word) => word.startsWith("CT_"))
        assert.sameMembers(ran.stdout.trim().split("\n"), given)
        rmSync(join(home, ".local"), { recursive: true })
      }
    })
  )

  it.effect("makes the agent order a certificate and tells what follows, also where visitors log in", () =>
    Effect.gen(function* () {
      const open = yield* pageOf("orders")
      const [ordering] = [...open.matchAll(/CT_ACME_CERT_OUT_DIR=(\S+)/gu)]
      assert.match(ordering?.[1] ?? "", /^\.ct-agent-[0-9a-f]{8}\/certificate$/u)
      // In both lines and in the file.
      assert.lengthOf([...open.matchAll(/CT_AGENT_ORIGIN_TLS=terminate CT_ACME_CERT_OUT_DIR=/gu)], 2)
      assert.lengthOf([...open.matchAll(/CT_AGENT_ORIGIN_TLS=terminate\nCT_ACME_CERT_OUT_DIR=/gu)], 1)
      assert.include(open, "From then on the edge passes TLS through")
      assert.include(open, "It needs Node 26 or newer, and npm.")
      const guarded = yield* pageOf("guarded", { require_login: true })
      assert.lengthOf([...guarded.matchAll(/CT_AGENT_ORIGIN_TLS=terminate CT_ACME_CERT_OUT_DIR=/gu)], 2)
    })
  )
})
