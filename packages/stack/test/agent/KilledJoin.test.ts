/**
 * `channel join` with a real control plane: killed at any step, twice with the same link, too late. The link is used once, and who
 * was cut finishes with the same line.
 */
import * as Hex from "@catenet/crypto/Hex"
import type { InviteLink } from "@catenet/crypto/invite/InviteLink"
import { native } from "@catenet/crypto/native"
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { files, http, Steps } from "@catenet/testing/agent/Steps"
import { database, server } from "@catenet/testing/server/Accounts"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, References } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import * as JoinFolder from "../../../agent/src/commands/join.ts"
import * as PrivateFile from "../../../agent/src/state/PrivateFile.ts"
import * as JoinLinks from "./JoinLinks.ts"

const whole = Number.POSITIVE_INFINITY

/** What a join says, or that it was killed. What was killed is neither awaited nor interrupted. */
const joined = (link: InviteLink, folder: string, steps = new Steps(whole, "killed")) =>
  Effect.promise(() =>
    Promise.race([
      Effect.runPromise(
        Effect.andThen(PrivateFile.folder(folder), JoinFolder.enterFolder(link, folder)).pipe(
          Effect.match({ onSuccess: ({ contents }) => contents, onFailure: ({ message }) => `refused: ${message}` }),
          Effect.provide([files(steps), http(steps), SecureRandom.layerWebCrypto]),
          Effect.provideService(References.MinimumLogLevel, "None")
        )
      ),
      steps.reached.promise
    ])
  )

const noiseKeyOf = (contents: string) => {
  const secret = /^CT_CHANNEL_NOISE_KEY=(.*)$/mu.exec(contents)?.[1] ?? assert.fail(contents)
  return Hex.encode(native.x25519.publicKey(new Uint8Array(Buffer.from(secret, "hex"))))
}
const home = Effect.acquireRelease(Effect.promise(makeHome), (each) =>
  Effect.promise(() => each[Symbol.asyncDispose]())
)
const folderOf = ({ path }: { readonly path: string }) => join(path, "channels")
const left = (folder: string) => readdirSync(folder).filter((name) => !name.startsWith(".join.lock"))

layer(Layer.provideMerge(Layer.fresh(database), server()), { excludeTestServices: true, timeout: "60 seconds" })(
  "one who joins by a link",
  (it) => {
    it.effect("finishes with the same line wherever the first try was killed", () =>
      Effect.gen(function* () {
        const channel = yield* JoinLinks.open("ada")
        let stopped = 0
        for (let at = 0; ; at++) {
          const folder = folderOf(yield* home)
          const { holder, link } = yield* JoinLinks.mint("ada", channel)
          const steps = new Steps(at, "killed")
          const first = yield* joined(link, folder, steps)
          const contents = yield* joined(link, folder)
          assert.match(contents, /^# mcp\n/u, `after step ${at}: ${contents}`)
          if (first !== "killed") assert.strictEqual(first, contents)
          const member = (yield* JoinLinks.members("ada", channel)).find((each) => each.holder === holder)
          assert.strictEqual(member?.noiseKey, noiseKeyOf(contents), `step ${at} left another key`)
          assert.strictEqual(left(folder).length, 1, `step ${at} left ${left(folder).join()}`)
          const [file = ""] = left(folder)
          assert.strictEqual(statSync(join(folder, file)).mode & 0o777, 0o600)
          assert.strictEqual(readFileSync(join(folder, file), "utf8"), contents)
          const elsewhere = yield* joined(link, folderOf(yield* home))
          assert.include(elsewhere, "used already", `after step ${at}`)
          if (steps.count <= at) break
          stopped++
        }
        assert.isAbove(stopped, 15)
      }).pipe(Effect.scoped)
    )

    it.effect("is one of two who try at the same time", () =>
      Effect.gen(function* () {
        const channel = yield* JoinLinks.open("bob")
        for (let round = 1; round <= 5; round++) {
          const { link } = yield* JoinLinks.mint("bob", channel)
          const folders = [folderOf(yield* home), folderOf(yield* home)]
          const answers = yield* Effect.forEach(folders, (folder) => joined(link, folder), { concurrency: 2 })
          const winner = answers.find((answer) => answer.startsWith("# mcp")) ?? assert.fail(answers.join())
          assert.include(
            answers.find((answer) => answer !== winner),
            "used already"
          )
          const members = yield* JoinLinks.members("bob", channel)
          assert.lengthOf(members, round)
          assert.include(
            members.map(({ noiseKey }) => noiseKey),
            noiseKeyOf(winner)
          )
        }
        // Two processes of one user: the keys of one never take the place of the other's.
        const { text } = yield* JoinLinks.mint("bob", channel)
        const at = yield* home
        const run = () => runAgent(at, {}, ["channel", "join", text])
        const [one, two] = [run(), run()]
        const codes = yield* Effect.promise(() => Promise.all([one.exited, two.exited]))
        assert.include(codes, 0, [...one.lines, ...two.lines].join("\n"))
        for (const [index, { lines }] of [one, two].entries())
          if (codes[index] !== 0) assert.include(lines.at(-1), "another ct-agent channel join is running")
        const again = run()
        assert.strictEqual(yield* Effect.promise(() => again.exited), 0)
        // This member accepts: it has the server, and others its clients.
        assert.match(again.stdout(), /^ct-agent channel serve --mcp-command "COMMAND" --config \/\S+\.env\n$/u)
      }).pipe(Effect.scoped)
    )

    it.effect("is refused by a sentence when the link is over", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const channel = yield* JoinLinks.open("cleo")
        const folder = folderOf(yield* home)
        const late = yield* JoinLinks.mint("cleo", channel)
        yield* sql`update bootstrap_tokens set expires_at = 1 where redeemed_at is null`
        assert.include(yield* joined(late.link, folder), "has expired. Ask the person who sent it for another one.")
        assert.include(yield* joined(late.link, folderOf(yield* home)), "Ask the person who sent it for another one.")
        assert.deepStrictEqual(yield* JoinLinks.members("cleo", channel), [])
        const gone = yield* JoinLinks.mint("cleo", channel)
        yield* JoinLinks.close("cleo", channel)
        assert.include(yield* joined(gone.link, folder), "is not there any more")
      }).pipe(Effect.scoped)
    )
  }
)
