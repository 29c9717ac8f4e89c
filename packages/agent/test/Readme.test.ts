/** The example of the README, run by a shell, prints what the README shows. */
import { assert, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")
const readme = readFileSync(join(root, "README.md"), "utf8")
const [, example = "", output = ""] = /```sh\n([\s\S]*?)```\n+```text\n([\s\S]*?)```/.exec(readme) ?? []

it("the README's example of init prints the file that it shows", () => {
  const folder = mkdtempSync(join(tmpdir(), "agent-readme-"))
  const env = {
    PATH: process.env["PATH"],
    NODE: process.execPath,
    MAIN: join(root, "src/main.ts"),
    JOIN_TOKEN: "7a".repeat(32),
    ROUTING_TOKEN: "5e".repeat(32)
  }
  const shell = `ct-agent() { "$NODE" "$MAIN" "$@" 2>/dev/null; }\n${example}`
  const printed = execFileSync("bash", ["-e", "-c", shell], { cwd: folder, env, encoding: "utf8" })
  rmSync(folder, { recursive: true })
  assert.strictEqual(printed, output)
})
