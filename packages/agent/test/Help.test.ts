/** What every command says about itself, asked in this process; the whole program is asked in `Program.test.ts`. */
import { Effect, Exit } from "effect"
import { spawnSync } from "node:child_process"
import { assert, describe, it, vi } from "vitest"
import { program, runWith } from "../src/Cli.ts"
import type { CommandTree } from "../src/commands/help.ts"

const pathsOf = ({ name, subcommands }: CommandTree): ReadonlyArray<ReadonlyArray<string>> => [
  [name],
  ...subcommands.flatMap(({ commands }) => commands.flatMap(pathsOf)).map((below) => [name].concat(below))
]
const paths = pathsOf(program)

/** What the program prints on stdout with these arguments, and nothing else. */
const printed = async (args: ReadonlyArray<string>) => {
  let text = ""
  const write = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    text += String(chunk)
    return true
  })
  const log = vi.spyOn(console, "log").mockImplementation((line) => {
    text += `${line}\n`
  })
  const exit = await Effect.runPromiseExit(runWith(args))
  for (const spy of [write, log]) spy.mockRestore()
  assert.isTrue(Exit.isSuccess(exit), args.join(" "))
  return text
}

const has = (shell: string) => spawnSync(shell, ["-c", "true"]).status === 0

describe("every command", () => {
  it("helps within 100 columns, with its usage, a sentence and an example that names it", async () => {
    assert.isAbove(paths.length, 40)
    for (const path of paths) {
      const [whole, ...below] = [path.join(" "), ...path.slice(1)]
      const text = await printed([...below, "--help"])
      for (const line of text.split("\n")) assert.isAtMost(line.length, 100, line)
      const sections = text.split(/^(?=[A-Z]+$)/mu)
      const section = (title: string) =>
        sections.find((each) => each.startsWith(`${title}\n`)) ?? assert.fail(`${whole}: no ${title}`)
      assert.match(section("DESCRIPTION"), /\S+ [^]*\./u, whole)
      assert.include(section("USAGE"), whole)
      assert.include(section("EXAMPLES"), whole)
    }
  })

  it("names the choices of a flag once", async () => {
    const text = await printed(["--help"])
    for (const choice of ["powershell", "fatal"]) assert.strictEqual(text.split(choice).length, 2, choice)
  })

  it("is in the completions of each shell, which the shell itself can read", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const script = await printed(["--completions", shell])
      for (const path of paths.slice(1)) assert.include(script, path.at(-1) ?? "", shell)
      if (!has(shell)) continue
      const { status, stderr } = spawnSync(shell, ["-n"], { input: script, encoding: "utf8" })
      assert.strictEqual(status, 0, `${shell}: ${stderr}`)
    }
  })
})
