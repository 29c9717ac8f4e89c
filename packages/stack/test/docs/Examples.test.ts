/** Every command line of the guides and of `--help` can be given as it is written: both programs parse it, and run nothing here. */
import { Effect, Exit } from "effect"
import type { Command } from "effect/cli"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, beforeAll, describe, it, vi } from "vitest"
import { runWith as runAgent } from "../../../agent/src/Cli.ts"
import { program as agent } from "../../../agent/src/Cli.ts"
import { program as catenet, runWith as runCatenet } from "../../src/Run.ts"

/** Commands without what they do. */
vi.mock(import("effect/cli"), async (original) => {
  const cli = await original()
  const make = (name: string, config: Command.Command.Config = {}, handler?: unknown) =>
    handler === undefined ? cli.Command.make(name, config) : cli.Command.make(name, config, () => Effect.void)
  return { ...cli, Command: { ...cli.Command, make: make as typeof cli.Command.make } }
})

interface Tree {
  readonly name: string
  readonly examples: ReadonlyArray<{ readonly command: string }>
  readonly subcommands: ReadonlyArray<{ readonly commands: ReadonlyArray<Tree> }>
}

const examplesOf = ({ examples, subcommands }: Tree): ReadonlyArray<string> => [
  ...examples.map(({ command }) => command),
  ...subcommands.flatMap(({ commands }) => commands.flatMap(examplesOf))
]
const pathsOf = ({ name, subcommands }: Tree): ReadonlyArray<string> => [
  name,
  ...subcommands.flatMap(({ commands }) => commands.flatMap(pathsOf)).map((below) => `${name} ${below}`)
]

const root = join(import.meta.dirname, "../../../..")
const pages = ["README.md", "docs/*.md", "packages/{agent,stack}/README.md"].flatMap((each) =>
  globSync(each, { cwd: root })
)
/** The lines of a page's shell blocks, joined where they go on, and what stands in its text as code. */
const codeOf = (page: string): ReadonlyArray<string> => {
  const text = readFileSync(join(root, page), "utf8")
  const blocks = Array.from(text.matchAll(/```(?:sh|bash|shell|console)\n([\s\S]*?)```/g), ([, block = ""]) => block)
  const spans = Array.from(text.replaceAll(/```[\s\S]*?```/g, "").matchAll(/`([^`\n]+)`/g), ([, span = ""]) => span)
  return [...blocks.flatMap((block) => block.replaceAll("\\\n", " ").split("\n")), ...spans]
}

/** The words of the last command of a line that is one of ours, as a shell makes them: without variables and redirections. */
const wordsOf = (line: string): ReadonlyArray<string> | undefined => {
  const words = Array.from(
    line.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|((?:\\.|[^\s"'])+)/g),
    ([, double, single, bare]) => double ?? single ?? bare ?? ""
  )
  const start = words.findLastIndex((word) => /^(?:\S*\/)?(?:ct-agent|catenet)$/.test(word))
  const before = words.slice(0, Math.max(start, 0))
  const isCommand = before.every(
    (word, at) => /^[A-Z_0-9]+=|^(?:npx|echo|\||sudo|-y|--yes|&&|-o)$/.test(word) || before.indexOf("|", at) >= 0
  )
  if (start < 0 || !isCommand) return undefined
  const end = words.findIndex((word, at) => at > start && /^(?:[|;#]|&&|[0-9]?[<>].*)$/.test(word))
  return [words[start]?.split("/").at(-1) ?? "", ...words.slice(start + 1, end < 0 ? undefined : end)]
}

/** A command that a sentence only names, without what it is given, is in the test below. */
const names = new Set([...pathsOf(agent), ...pathsOf(catenet)])

const lines = [
  ...new Set([...examplesOf(agent), ...examplesOf(catenet), ...pages.flatMap(codeOf)].map((line) => line.trim()))
].flatMap((line) => {
  const words = wordsOf(line)
  return words === undefined || names.has(words.join(" ")) || line.includes(" COMMAND ") ? [] : [words]
})

const run = (program: string | undefined, args: ReadonlyArray<string>): Effect.Effect<void, unknown> =>
  program === "ct-agent" ? runAgent(args) : runCatenet(args)

const parsed = async (words: ReadonlyArray<string>) => {
  const [program, ...args] = words
  const exit = await Effect.runPromiseExit(run(program, args))
  return Exit.isSuccess(exit) ? "" : `${words.join(" ")}: ${JSON.stringify(exit.cause)}`
}

beforeAll(() => {
  for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, "write").mockReturnValue(true)
  vi.spyOn(console, "log").mockReturnValue()
  return () => vi.restoreAllMocks()
})

describe("a command line", () => {
  it("of a guide or of --help is parsed by its program", async () => {
    assert.isAbove(lines.length, 50, "the lines are found")
    const failed = await Promise.all(lines.map(parsed))
    assert.deepStrictEqual(
      failed.filter((each) => each !== ""),
      []
    )
  })

  it("that is a command and nothing else wants arguments at most, and no flag", async () => {
    for (const path of names) {
      const [program, ...args] = path.split(" ")
      const exit = await Effect.runPromiseExit(run(program, args))
      if (Exit.isSuccess(exit)) continue
      const text = JSON.stringify(exit.cause)
      // connect says what it needs in its usage: which file is the point of it.
      if (path !== "ct-agent connect") assert.notInclude(text, "MissingOption", path)
    }
  })
})
