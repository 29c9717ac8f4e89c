/** Rules that a file or flags demand of a tunnel, beside those that others have set. */
import { Rules } from "@catenet/domain/rules/Rules"
import { lineOf, PasswordChecks } from "@catenet/proxy/internal/rules/PasswordChecks"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as DemandedRules from "../../src/account/DemandedRules.ts"
import { temporaryFolders } from "../harness/TemporaryFolders.ts"

const decode = Schema.decodeUnknownSync(Rules)
const [a, b, c, d] = ["1 MiB", "2 MiB", "3 MiB", "4 MiB"].map((max_body) => ({ max_body }))
const folder = temporaryFolders("ct-rules-")()

describe("rules that are demanded of a tunnel", () => {
  it.each([
    ["come first", [c], [], [a, b], [a, b, c]],
    ["replace those demanded before", [c, a], [a], [b], [b, c]],
    ["leave those of others in their order", [c, a, d], [a], [b, a], [b, a, c, d]],
    ["are not there twice", [a, c], [], [a], [a, c]],
    ["go when nothing is demanded any more", [a, b, c], [a, b], [], [c]]
  ])("%s", (_, known, before, now, wanted) => {
    assert.deepStrictEqual<unknown>(DemandedRules.replaced(decode(known), decode(before), decode(now)), wanted)
  })

  it.effect("take the users of a password file, without its comments", () =>
    Effect.gen(function* () {
      const line = yield* Effect.promise(() => lineOf("ada", "correct horse"))
      writeFileSync(join(folder, "htpasswd"), `# ours\r\n\r\n${line}\r\n`)
      const rules = decode([{ max_body: "1 MiB" }, { basic_auth: { file: "htpasswd" } }])
      const stored = yield* DemandedRules.stored(rules, folder)
      assert.deepStrictEqual<unknown>(stored, [a, { basic_auth: { users: [line] } }])
      const checks = new PasswordChecks()
      const isKnown = (password: string) =>
        Effect.promise(() => checks.isKnown([line], { name: "ada", password }, "192.0.2.1", 0))
      assert.deepStrictEqual([yield* isKnown("correct horse"), yield* isKnown("wrong")], [true, false])
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.effect("may name as many users in a file as a rule has, and not one more", () =>
    Effect.gen(function* () {
      const line = `ada:$scrypt$ln=10,r=8,p=1$${"A".repeat(22)}$${"A".repeat(43)}\n`
      const rules = decode([{ basic_auth: { file: "many" } }])
      writeFileSync(join(folder, "many"), line.repeat(64))
      assert.lengthOf((yield* DemandedRules.stored(rules, folder))[0]?.basic_auth?.users ?? [], 64)
      for (const [text, why] of [
        [line.repeat(65), "holds more than 64 names"],
        ["# nobody\n", "holds no name and password"],
        [`${line}eve:$2y$05$abc\n`, "has no name with a scrypt hash in line 2"]
      ] as const) {
        writeFileSync(join(folder, "many"), text)
        const { problem, rule } = yield* Effect.flip(DemandedRules.stored(rules, folder))
        assert.deepStrictEqual([rule, problem], [0, `names many, which ${why}`])
      }
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )
})
