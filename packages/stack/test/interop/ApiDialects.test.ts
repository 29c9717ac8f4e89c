/** The patterns of the API descriptions compile in Go, Python and JavaScript without `u`, and say the same of every text there. */
import { AgentLocalApi } from "@catenet/domain/api/AgentLocalApi"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { EdgeAdminApi } from "@catenet/domain/api/EdgeAdminApi"
import { isRecord } from "@catenet/domain/api/LosslessJson"
import { OpenApi } from "effect/http-api"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { skipped } from "./GoPrograms.ts"

interface TextSchema {
  readonly pattern?: string
  readonly not?: { readonly pattern: string }
  readonly minLength?: number
  readonly maxLength?: number
}

const found = new Map<string, TextSchema>()
const walk = (node: unknown): void => {
  if (Array.isArray(node)) node.forEach(walk)
  if (!isRecord(node)) return
  if (typeof node["pattern"] === "string" || (isRecord(node["not"]) && typeof node["not"]["pattern"] === "string"))
    found.set(JSON.stringify(node), node)
  for (const [name, each] of Object.entries(node)) if (name !== "not") walk(each)
}
walk([OpenApi.fromApi(ControlPlaneApi), OpenApi.fromApi(EdgeAdminApi), OpenApi.fromApi(AgentLocalApi)])
const schemas = [...found.values()]
const patterns = [
  ...new Set(schemas.flatMap(({ not, pattern }) => [pattern, not?.pattern].filter((each) => each !== undefined)))
]

const digits = "0123456789abcdefABCDEF"
const plain = [
  "",
  "a",
  "shop",
  "a.b",
  "a@b.example",
  "shop.example.net",
  "/",
  "/a?b",
  "https://a.example/",
  "sa-0",
  " a ",
  "-",
  "[x]",
  "~"
]
const hex = [16, 32, 36, 64, 128, 278].map((length) => digits.repeat(20).slice(0, length))
const odd = [
  "\n",
  "\0",
  "\u007f",
  "\u0085",
  "\u00a0",
  "\u2028",
  "é",
  "漢",
  "🤖",
  "🤖".repeat(60),
  "x".repeat(5000),
  "\\",
  "]"
]
const samples = [...plain, ...hex, `sa-${"0".repeat(32)}`, ...odd].flatMap((text) => [
  text,
  `${text}\n`,
  `a${text}`,
  text.toUpperCase()
])

type Matrix = ReadonlyArray<ReadonlyArray<boolean>>
const input = JSON.stringify({ patterns, samples })

const javascript = (flags: string): Matrix =>
  patterns.map((source) => samples.map((text) => new RegExp(source, flags).test(text)))

const python = `
import json, re, sys
asked = json.load(sys.stdin)
json.dump([[re.search(p, s) is not None for s in asked["samples"]] for p in asked["patterns"]], sys.stdout)
`

const go = `package main
import ("encoding/json"; "os"; "regexp")
func main() {
  var asked struct { Patterns, Samples []string }
  if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil { panic(err) }
  answer := [][]bool{}
  for _, p := range asked.Patterns {
    row, compiled := []bool{}, regexp.MustCompile(p)
    for _, s := range asked.Samples { row = append(row, compiled.MatchString(s)) }
    answer = append(answer, row)
  }
  json.NewEncoder(os.Stdout).Encode(answer)
}
`

/** What holds for the whole schema, since `$` and lengths are said by more than one keyword. */
const verdicts = (matrix: Matrix) =>
  schemas.map(({ maxLength = Infinity, minLength = 0, not, pattern }) =>
    samples.map((text, column) => {
      const says = (source: string) => matrix[patterns.indexOf(source)]?.[column] ?? false
      const length = [...text].length
      return (
        length >= minLength &&
        length <= maxLength &&
        (pattern === undefined || says(pattern)) &&
        !(not && says(not.pattern))
      )
    })
  )

const run = (command: string, args: ReadonlyArray<string>): Matrix => {
  const { status, stderr, stdout } = spawnSync(command, args, { input, maxBuffer: 64 * 1024 * 1024 })
  assert.strictEqual(status, 0, String(stderr))
  return JSON.parse(String(stdout))
}
const isThere = (command: string, ...args: ReadonlyArray<string>) => spawnSync(command, args).status === 0

describe("the patterns of the API descriptions", () => {
  const wanted = verdicts(javascript("u"))

  it("say in JavaScript without flags what they say with `u`", () => {
    assert.isAbove(patterns.length, 15)
    assert.deepStrictEqual(verdicts(javascript("")), wanted)
  })

  const hasPython = isThere("python3", "--version")
  if (!hasPython) skipped("patterns in Python", "there is no `python3` on PATH")
  it.skipIf(!hasPython)("say the same in Python", () => {
    assert.deepStrictEqual(verdicts(run("python3", ["-c", python])), wanted)
  })

  const hasGo = isThere("go", "version")
  if (!hasGo) skipped("patterns in Go", "there is no `go` on PATH")
  it.skipIf(!hasGo)("say the same in Go", () => {
    const folder = mkdtempSync(join(tmpdir(), "catenet-patterns-"))
    writeFileSync(join(folder, "main.go"), go)
    try {
      assert.deepStrictEqual(verdicts(run("go", ["run", join(folder, "main.go")])), wanted)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
