/**
 * A published pipeline of three roles, its operator's topology, and the agents as people run them: six providers that find their
 * consumer by derived channels, at a real edge of a real control plane. Who is chosen shows what the policies do. One file, since one world of
 * seven agents serves every case.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as ChannelIds from "@catenet/crypto/ChannelIds"
import * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { type Agent, makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { start } from "@catenet/testing/edge/TestEdge"
import { eventually } from "@catenet/testing/Eventually"
import { bearerOf, server } from "@catenet/testing/server/Accounts"
import { account, ask } from "@catenet/testing/server/channels/Asking"
import { keyOf, materialOf, seedOf } from "@catenet/testing/server/channels/ChannelsKeys"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import { X509Certificate } from "node:crypto"

const olga = account("olga")
const operator_pubkey = keyOf("operator")
const operatorKey = Result.getOrThrow(Hex.decode(operator_pubkey))
const pipeline = "story"
const consumer = "consumer"

const channelOf = (role: string) => ChannelIds.pipelineRole(native, operatorKey, pipeline, role)
const grantFor = (role: string, word: string, direction: "initiate" | "accept") =>
  Grant.toHex(
    Grant.sign(native, seedOf("operator"), {
      channel: channelOf(role),
      holder: Result.getOrThrow(Hex.decode(keyOf(word))),
      direction,
      rights: "rw",
      delegable: false,
      expiresAt: 4_000_000_000n
    })
  )
const keysOf = (word: string) => ({
  CT_CHANNEL_HOLDER_KEY: Hex.encode(Redacted.value(seedOf(word))),
  CT_CHANNEL_NOISE_KEY: Hex.encode(native.sha256(Bytes.fromText(`noise ${word}`)))
})

/** Two providers for each role, the one with the smaller key first. */
const providersOf = (role: string) =>
  [`${role} one`, `${role} two`].toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) as [string, string]
const roles = {
  writer: {
    service: "TextGeneration",
    slug: "text_generation",
    policy: null,
    terms: [
      ["7", "100"],
      ["5", "2"]
    ]
  },
  critic: {
    service: { Custom: "critic" },
    slug: "critic",
    policy: "RoundRobin",
    terms: [
      ["9", "100"],
      ["5", "100"]
    ]
  },
  guard: {
    service: "SafetyCheck",
    slug: "safety_check",
    policy: "LeastCalls",
    terms: [
      ["9", "100"],
      ["5", "100"]
    ]
  }
} as const
const tags = ["writer", "critic", "guard"] as const

const spec = {
  id: pipeline,
  roles: tags.map((tag) => ({ tag, units: 1, service: roles[tag].service, selection_policy: roles[tag].policy })),
  operator_pubkey_hex: operator_pubkey,
  selection_policy: "LowestFloor"
}

const home = Effect.acquireRelease(Effect.promise(makeHome), (made) =>
  Effect.promise(() => made[Symbol.asyncDispose]())
)
type Home = Effect.Success<typeof home>

const ended = (at: Home, args: ReadonlyArray<string>, env: Readonly<Record<string, string>>, input = "") =>
  Effect.promise(async () => {
    await using agent = runAgent(at, env, args, input)
    return { code: await agent.exited, stdout: agent.stdout(), stderr: agent.lines.join("\n") }
  })

layer(server(), { excludeTestServices: true, timeout: "120 seconds" })("an operator", (it) => {
  it.effect("binds a topology by its command, and no other's", () =>
    Effect.gen(function* () {
      const at = yield* home
      const token = yield* bearerOf("olga")
      const { body } = yield* ask(olga, "/me/topologies", undefined, { method: "POST" })
      const id = String(body["id"])
      const env = {
        CT_AGENT_CP_URL: yield* TestServer.baseUrl,
        CT_OIDC_TOKEN: token,
        CT_TOPOLOGY_ID: id,
        CT_CHANNEL_OPERATOR_KEY: Hex.encode(Redacted.value(seedOf("operator")))
      }
      const eve = { ...env, CT_OIDC_TOKEN: yield* bearerOf("eve") }
      const strange = yield* ended(at, ["channel", "bind-topology", "--put"], eve)
      assert.deepStrictEqual([strange.code, strange.stdout], [4, ""], strange.stderr)
      const operatorOf = Effect.map(ask(olga, `/me/topologies/${id}/operator`), ({ body: read }) =>
        JSON.stringify(read)
      )
      assert.notInclude(yield* operatorOf, operator_pubkey)
      const bound = yield* ended(at, ["channel", "bind-topology", "--put"], env)
      assert.strictEqual(bound.code, 0, bound.stderr)
      assert.match(
        bound.stdout,
        new RegExp(`^operator_pubkey = ${operator_pubkey}\nproof           = [0-9a-f]{128}\n$`, "u")
      )
      assert.include(yield* operatorOf, operator_pubkey)
      const missing = yield* ended(at, ["channel", "bind-topology", "--put"], {
        ...env,
        CT_TOPOLOGY_ID: "0".repeat(32)
      })
      assert.strictEqual(missing.code, 4, missing.stderr)
    }).pipe(Effect.scoped)
  )

  it.effect(
    "fills the roles of a pipeline by its policies, from providers on derived channels, and sends a text through them",
    () =>
      Effect.gen(function* () {
        const at = yield* home
        const url = yield* TestServer.baseUrl
        yield* bearerOf("olga")
        const world = yield* start({
          CT_EDGE_CP_URL: url,
          CT_EDGE_CHANNEL_LISTEN: "127.0.0.1:0",
          CT_EDGE_CHANNEL_RELAY_LISTEN: "127.0.0.1:0",
          // No provider is away for the moment between two joins.
          CT_EDGE_KA_PARK_TTL_SECS: "600"
        })
        const edge = {
          CT_CHANNEL_BROKER: `127.0.0.1:${world.bound.channelBroker?.port}`,
          CT_CHANNEL_RELAY: `127.0.0.1:${world.bound.channelRelay?.port}`,
          CT_CHANNEL_FRONT_DOOR: `127.0.0.1:${world.frontDoor}`,
          CT_CHANNEL_FRONT_DOOR_ONLY: "1",
          CT_CHANNEL_FRONT_DOOR_CERT: new X509Certificate(world.meshRoot).raw.toString("hex")
        }

        // Each finds the role's channel by the published operator.
        const joining = (word: string) => ({
          CT_AGENT_CP_URL: url,
          CT_PIPELINE_ID: pipeline,
          CT_PIPELINE_ROLE: "critic",
          CT_CHANNEL_HOLDER_KEY: keysOf(word).CT_CHANNEL_HOLDER_KEY,
          CT_CHANNEL_NOISE_PUBKEY: materialOf("00".repeat(32), word).noise_pubkey
        })
        assert.strictEqual((yield* ask(olga, "/me/pipelines", { spec })).status, 200)
        const printed = yield* Effect.forEach(
          [consumer, providersOf("critic")[0]],
          (word) => ended(at, ["channel", "join-pipeline-role", "--json"], joining(word)),
          { concurrency: 2 }
        )
        for (const [index, word] of [consumer, providersOf("critic")[0]].entries()) {
          const { channel_id, holder_pubkey, noise_attestation } = JSON.parse(printed[index]?.stdout ?? "{}")
          const material = materialOf(Hex.encode(channelOf("critic")), word)
          assert.deepStrictEqual(
            { channel_id, holder_pubkey, noise_attestation },
            {
              channel_id: Hex.encode(channelOf("critic")),
              holder_pubkey: material.holder,
              noise_attestation: material.noise_attestation
            }
          )
        }

        for (const tag of tags) {
          const channel = Hex.encode(channelOf(tag))
          assert.strictEqual((yield* ask(olga, "/me/channels", { channel, operator_pubkey })).status, 200)
          for (const word of [...providersOf(tag), consumer])
            assert.strictEqual(
              (yield* ask(olga, `/me/channels/${channel}/members`, materialOf(channel, word))).status,
              200
            )
        }
        const providers: Array<Agent> = []
        for (const tag of tags)
          for (const [index, word] of providersOf(tag).entries()) {
            const [price = "", units = ""] = roles[tag].terms[index] ?? []
            const provider = Effect.acquireRelease(
              Effect.sync(() =>
                runAgent(
                  at,
                  {
                    ...edge,
                    ...keysOf(word),
                    CT_CHANNEL_ROLE: "accept",
                    CT_CHANNEL_RELAY_ONLY: "1",
                    CT_CHANNEL_SERVE: "1",
                    CT_AGENT_METRICS_LISTEN: "127.0.0.1:0",
                    CT_CHANNEL_GRANT: grantFor(tag, word, "accept"),
                    CT_AGENT_SERVICE_HANDLER_CMD: `cat; echo " - ${word}"`,
                    CT_AGENT_OFFER_KIND: "local",
                    CT_AGENT_OFFER_MODELS: "m",
                    CT_AGENT_OFFER_UNITS: units,
                    CT_AGENT_OFFER_MIN_PRICE: price,
                    CT_AGENT_OFFER_CURRENCY: "EUR",
                    CT_AGENT_OFFER_SERVICES: roles[tag].slug
                  },
                  ["channel"]
                )
              ),
              (agent) => Effect.promise(() => agent[Symbol.asyncDispose]())
            )
            providers.push(yield* provider)
          }
        yield* Effect.promise(() =>
          Promise.all(
            providers.map(async (agent) => {
              const base = /http:\/\/[^/]+/u.exec(await agent.said("status, metrics and events at"))?.[0]
              const state = async () => (await fetch(`${base}/status`)).text()
              await eventually(async () => (await state()).includes('"channel_state":"waiting"'), "a provider waits")
            })
          )
        )

        const buying = {
          ...edge,
          ...keysOf(consumer),
          CT_AGENT_CP_URL: url,
          CT_PIPELINE_ID: pipeline,
          CT_PIPELINE_WAIT_SECS: "60",
          CT_PIPELINE_GRANTS: tags.map((tag) => grantFor(tag, consumer, "initiate")).join(","),
          CT_AGENT_STATE_DIR: `${at.path}/consumer`
        }
        // The former name of the command still works.
        const commands = [
          ["pipeline", "match", "--json"],
          ["channel", "convene", "--json"],
          ["--json", "channel", "convene", "--run"]
        ]
        const chosen: Record<string, Array<string>> = { writer: [], critic: [], guard: [] }
        for (const round of [1, 2, 3]) {
          const isLast = round === 3
          const { code, stderr, stdout } = yield* ended(at, commands[round - 1] ?? [], buying, "a story")
          assert.strictEqual(code, 0, stderr)
          const { assignments, output } = JSON.parse(stdout) as {
            assignments: ReadonlyArray<{ role: string; provider: string; price: number; match_ref: string }>
            output?: string
          }
          for (const { match_ref, provider, role } of assignments) {
            assert.match(match_ref, /^[0-9a-f]{64}$/u)
            const word = providersOf(role).find((each) => keyOf(each) === provider)
            chosen[role]?.push(word ?? provider)
          }
          assert.strictEqual(
            output,
            isLast ? `a story${tags.map((tag) => ` - ${chosen[tag]?.at(-1)}`).join("")}` : undefined
          )
        }
        const [dear, cheap] = providersOf("writer")
        const [first, second] = providersOf("critic")
        const [dearer, cheaper] = providersOf("guard")
        assert.deepStrictEqual(chosen, {
          // The cheapest has two units, and takes no third bid.
          writer: [cheap, cheap, dear],
          // The one with the smaller key first, whatever it costs, and then the next.
          critic: [first, second, first],
          // The one that was chosen least; of equals the cheaper.
          guard: [cheaper, dearer, cheaper]
        })
      }).pipe(Effect.scoped)
  )
})
