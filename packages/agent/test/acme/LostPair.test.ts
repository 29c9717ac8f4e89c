/** The files of a certificate are gone while its agent runs: the name stays gruen, and another one is ordered at once. */
import { until } from "@catenet/testing/Eventually"
import * as AcmeStage from "@catenet/testing/stack/acme/AcmeStage"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { X509Certificate } from "node:crypto"
import { existsSync, readFileSync, rmSync } from "node:fs"
import * as CertificateLoop from "../../src/certificate/CertificateLoop.ts"

describe("a pair whose files are lost", () => {
  for (const file of ["fullchain.pem", "privkey.pem"])
    it.live(`is replaced at once, and the words say why (${file})`, () =>
      Effect.gen(function* () {
        const stage = yield* AcmeStage.start()
        const { certificates, folder, layer, plane, validated } = stage
        const said: Array<string> = []
        const progress = {
          step: () => Effect.succeed(true),
          report: (words: string) => Effect.sync(() => void said.push(words))
        }
        const issued = Effect.sync(() =>
          ["fullchain.pem", "privkey.pem"].every((name) => existsSync(`${folder}/${name}`))
            ? new X509Certificate(readFileSync(`${folder}/fullchain.pem`)).fingerprint256
            : undefined
        )
        yield* Effect.forkScoped(Effect.provide(CertificateLoop.run({ ...certificates, progress }), layer))
        const words = Effect.sync(() => said.at(-1) ?? "")
        yield* until(words, (last) => last.startsWith("is there until"))
        const first = yield* issued
        assert.strictEqual(plane.status, "gruen")
        rmSync(`${folder}/${file}`)
        const second = yield* until(issued, (found) => found !== undefined && found !== first)
        assert.notStrictEqual(second, first)
        yield* until(words, (last) => last.startsWith("is there until"))
        assert.include(said, "has lost its files; another one is to be ordered at once")
        assert.deepStrictEqual([plane.status, plane.completes, validated.length], ["gruen", 2, 2])
      }).pipe(Effect.scoped)
    )

  it.live("is said to be lost for as long as no other one is issued", () =>
    Effect.gen(function* () {
      const stage = yield* AcmeStage.start()
      const { certificates, folder, layer, plane } = stage
      const said: Array<string> = []
      const progress = {
        step: () => Effect.succeed(true),
        report: (words: string) => Effect.sync(() => void said.push(words))
      }
      yield* Effect.forkScoped(Effect.provide(CertificateLoop.run({ ...certificates, progress }), layer))
      const words = Effect.sync(() => said.at(-1) ?? "")
      yield* until(words, (last) => last.startsWith("is there until"))
      plane.mayIssue = false
      rmSync(`${folder}/privkey.pem`)
      const asked = "has lost its files; another one is to be ordered at once"
      // The next words may follow at once.
      const after = Effect.sync(() => (said.includes(asked) ? said[said.indexOf(asked) + 1] : undefined))
      const next = yield* until(after, (words) => words !== undefined)
      assert.match(next ?? "", /^has lost its files; another one (cannot be ordered yet|was not issued|could not be)/)
    }).pipe(Effect.scoped)
  )
})
