/** The lines of a tunnel's install page where this control plane serves a release: one with Node, one for machines without it. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ask, person } from "../channels/Asking.ts"
import { server } from "../harness/Accounts.ts"
import { headersOf } from "../harness/Contract.ts"
import * as TestServer from "../harness/TestServer.ts"

const ada = person("ada")
const folder = mkdtempSync(join(tmpdir(), "catenet-connect-"))
const release = join(folder, "releases", "0.9.0")
mkdirSync(release, { recursive: true })
writeFileSync(join(release, "agent.tgz"), "packed")

/** What the button of the page shows: the lines for a terminal, with and without Node. */
const shownFor = Effect.fn("shownFor")(function* (name: string) {
  const { body } = yield* ask(ada, "/me/tunnels", { name })
  const own = yield* headersOf(ada)
  const response = yield* TestServer.raw(`/portal/tunnels/${String(body["id"])}/install`, {
    method: "POST",
    headers: { accept: "text/html", "content-type": "application/x-www-form-urlencoded", ...own },
    body: "port=3000"
  })
  const text = yield* Effect.promise(() => response.text())
  assert.strictEqual(response.status, 200, text)
  const lines = [...text.matchAll(/<pre[^>]*>(?<line>[^\n<]*ct-agent[^\n<]*|[^\n<]*agent\.tgz)<\/pre>/gu)]
  return lines.map(({ groups }) =>
    (groups?.["line"] ?? "").replaceAll(/&#(\d+);/gu, (_, code) => String.fromCodePoint(Number(code)))
  )
})

layer(
  server({
    CT_CP_RELEASES_DIR: join(folder, "releases"),
    CT_CP_AGENTS_URL: "http://cp.example:8090",
    CT_CP_HOSTNAME_ZONE: "zone.example"
  }),
  { excludeTestServices: true, timeout: "60 seconds" }
)("the install page", (it) => {
  it.effect("has a line for a machine without Node where the release has programs, which installs and starts one", () =>
    Effect.gen(function* () {
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
      const [first, ...none] = yield* shownFor("first")
      assert.match(first ?? "", /^CT_BOOTSTRAP=[0-9a-f]{64} .*npx http:\/\/cp\.example:8090\/agent\.tgz$/u)
      assert.deepStrictEqual(none, [])

      // A release is published whole: its folder is moved to its place.
      const next = join(folder, "next")
      mkdirSync(next)
      for (const name of ["agent.tgz", "release-manifest.json"]) writeFileSync(join(next, name), "{}")
      renameSync(next, join(folder, "releases", "0.10.0"))
      const [withNode = "", without = ""] = yield* shownFor("second")
      assert.include(withNode, " npx http://cp.example:8090/agent.tgz")
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
    }).pipe(Effect.scoped)
  )
})
