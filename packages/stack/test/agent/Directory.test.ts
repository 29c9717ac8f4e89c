/** A user's agents in the directory of a real control plane, by the bearer and a proof by the holder key, without the admin token. */
import { native } from "@catenet/crypto/native"
import { bearerOf, database, server } from "@catenet/testing/server/Accounts"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { randomBytes } from "node:crypto"
import { ended, home } from "./AccountStack.ts"

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
const key = () => {
  const seed = randomBytes(32)
  return { seed: hex(seed), holder: hex(native.ed25519.publicKey(new Uint8Array(seed))) }
}

layer(Layer.provideMerge(Layer.fresh(database), server()), { excludeTestServices: true, timeout: "120 seconds" })(
  "a user's agent in the directory",
  (it) => {
    it.effect("is registered by its bearer and holder key, listed, found, and removed by its own account alone", () =>
      Effect.gen(function* () {
        const at = yield* home
        const url = yield* TestServer.baseUrl
        const [ada, bob] = [yield* bearerOf("ada"), yield* bearerOf("bob")]
        const { holder, seed } = key()
        const as = (token: string, args: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}) =>
          ended(at, ["channel", ...args], { CT_AGENT_CP_URL: url, CT_OIDC_TOKEN: token, ...more })
        const card = {
          CT_CHANNEL_HOLDER_KEY: seed,
          CT_AGENT_CARD_ROLES: "writer,critic",
          CT_AGENT_CARD_SKILLS: "shout|Says a text in capitals",
          CT_AGENT_CARD_URL: "https://a.example/.well-known/agent-card.json"
        }
        const found = (query: string) =>
          Effect.promise(async () => {
            const listed = (await (await fetch(`${url}/registry/agents?${query}`)).json()) as ReadonlyArray<unknown>
            return listed.length
          })

        const none = yield* as(ada, ["directory"])
        assert.deepStrictEqual([none.code, none.stdout], [0, ""])
        assert.include(none.stderr, "agent-card registers one")

        const made = yield* as(ada, ["agent-card", "--a2a"], card)
        assert.strictEqual(made.code, 0, made.stderr)
        assert.include(made.stderr, "The card is registered in the directory")
        const listed = yield* as(ada, ["directory"])
        const line = new RegExp(
          `^${holder}  \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ  writer,critic  ${card.CT_AGENT_CARD_URL}\\n$`,
          "u"
        )
        assert.match(listed.stdout, line, listed.stderr)
        const [entry, ...others] = JSON.parse((yield* as(ada, ["directory", "--json"])).stdout)
        assert.deepStrictEqual(others, [])
        assert.deepInclude(entry, { holder_pubkey: holder, role_tags: ["writer", "critic"], skill_ids: ["shout"] })
        // It is signed before it is registered.
        const lives = entry.expires_at - entry.registered_at
        assert.isAtMost(lives, 86_400)
        assert.isAbove(lives, 86_400 - 60)
        assert.deepStrictEqual([yield* found("role=critic&skill=shout"), yield* found("role=singer")], [1, 0])

        // What is another account's is not there for this one.
        const refused = yield* Effect.all(
          [
            as(bob, ["directory", "remove", holder]),
            as("no token", ["directory"]),
            as("no token", ["agent-card"], card)
          ],
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          refused.map(({ code }) => code),
          [4, 4, 4],
          refused.map(({ stderr }) => stderr).join("\n")
        )
        assert.strictEqual(yield* found("role=critic"), 1)

        const removed = yield* as(ada, ["directory", "remove", holder])
        assert.deepStrictEqual([removed.code, removed.stdout], [0, ""], removed.stderr)
        assert.include(removed.stderr, "the agent is no longer in the directory")
        assert.strictEqual(yield* found("role=critic"), 0)
        assert.strictEqual((yield* as(ada, ["directory", "remove", holder])).code, 4)
      })
    )
  }
)
