import * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import { portable } from "@catenet/crypto/portable"
import { ChannelId, ChannelRegistration } from "@catenet/domain/channels/Channel"
import { bearerOf } from "@catenet/testing/server/Accounts"
import { hold, row, type Row } from "@catenet/testing/server/Contract"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"
import { BridgeDialer, BridgeDialFailed } from "../../src/channels/BridgeDialer.ts"
import { account, server, tunnel, variables } from "../tunnels/records/FactsServer.ts"

const holderKey = "11".repeat(32)
const noiseKey = "22".repeat(32)
const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, "hex"))
const holder = Hex.encode(portable.ed25519.publicKey(bytes(holderKey)))
const noise = Hex.encode(portable.x25519.publicKey(bytes(noiseKey)))

const ada = { bearer: "ada" }
const unknownId = "0123456789abcdef".repeat(2)
const channel = "c1".repeat(32)
const foreign = "c2".repeat(32)

/** A grant with an unchecked signature, which the channel's broker checks. */
const grant = (of: { readonly channel: string; readonly holder: string }) =>
  Grant.toHex(
    Grant.sign(portable, Redacted.make(bytes("77".repeat(32))), {
      channel: bytes(of.channel),
      holder: bytes(of.holder),
      direction: "both",
      rights: "rw",
      delegable: false,
      expiresAt: 1n
    })
  )

/** An agent that knows one tool. */
const agent = Layer.succeed(BridgeDialer, ({ arguments: given, tool, ...under }) =>
  tool === "bridge/status"
    ? Effect.succeed({
        version: "1.2.3",
        readiness: { oidc_credential: "none", relay_available: true },
        given,
        ...under
      })
    : Effect.fail(new BridgeDialFailed({ why: "it has no such tool" }))
)

const keys = { CT_BRIDGE_HOLDER_KEY: holderKey, CT_BRIDGE_NOISE_KEY: noiseKey }

layer(server(keys).pipe(Layer.provide(agent)), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("the agent bridge", (it) => {
  it.effect("answers as declared", () =>
    Effect.gen(function* () {
      const { id } = yield* tunnel("ada", "cam")
      const { id: bare } = yield* tunnel("ada", "bare")
      const register = (sub: string, registered: string) =>
        Effect.flatMap(account(sub), ({ channels }) =>
          channels.register({
            payload: Schema.decodeSync(ChannelRegistration)({ channel: registered, operator_pubkey: "33".repeat(32) })
          })
        )
      yield* register("ada", channel)
      yield* register("bob", foreign)
      const at = { id }
      const deposit = (channel_id: string, grant_hex: string, more: Partial<Row>): Row =>
        row("storeGrant", 200, {
          at,
          as: ada,
          body: { channel_id, grant_hex },
          ...more
        })
      const notTheirs = (call: string, body?: unknown): ReadonlyArray<Row> => {
        const sent = body === undefined ? {} : { body }
        return [
          row(call, "404 TunnelNotFound", { at, as: { bearer: "bob" }, ...sent }),
          row(call, "404 TunnelNotFound", { at: { id: unknownId }, as: ada, ...sent })
        ]
      }
      const stands = { bridge_holder: holder, bridge_noise_pubkey: noise }
      yield* hold(
        "bridge",
        ada,
        [
          row("get", 200, { at, as: ada, answer: { mode: "off", channel: null, ...stands } }),
          row("call", "404 BridgeGrantMissing", { at, as: ada, body: { tool: "bridge/status" } }),
          deposit("xyz", "", { status: 400, code: "MalformedRequest" }),
          deposit("", "", { body: "{", status: 400, code: "MalformedRequest" }),
          deposit("", "", { body: "[]", status: 422, code: "WrongShape" }),
          deposit("", "", { body: `"${"x".repeat(2 * 1024 * 1024)}"`, status: 413, code: "BodyTooLarge" }),
          deposit("", "", {
            body: "a=b",
            headers: { "content-type": "application/x-www-form-urlencoded" },

            status: 415,
            code: "UnsupportedMediaType"
          }),
          deposit("xyz", "", {
            at: { id: unknownId },
            status: 404,
            code: "TunnelNotFound",
            because: "owner before form"
          }),
          deposit(channel, "f".repeat(278), { status: 400, code: "GrantUndecodable" }),
          deposit(channel, grant({ channel: foreign, holder }), { status: 400, code: "GrantMismatch" }),
          deposit(channel, grant({ channel, holder: noise }), { status: 400, code: "GrantMismatch" }),
          row("get", 200, { at, as: ada, answer: { mode: "off", channel: null, ...stands } }),
          deposit(foreign, grant({ channel: foreign, holder }), { because: "what it is worth is seen at the call" }),
          row("get", 200, { at, as: ada, answer: { mode: "off", channel: foreign, ...stands } }),
          deposit("c3".repeat(32), grant({ channel: "c3".repeat(32), holder }), { because: "the channel may come" }),
          deposit(channel, grant({ channel, holder }), {}),
          deposit(channel, grant({ channel, holder }), { because: "a grant may be replaced" }),
          row("setMode", 200, { at, as: ada, body: { mode: "permanent" } }),
          row("setMode", "400 MalformedRequest", { at, as: ada, body: { mode: "sometimes" } }),
          row("get", 200, { at, as: ada, answer: { mode: "permanent", channel, ...stands } }),
          row("get", 200, { at: { id: bare }, as: ada, answer: { mode: "off", channel: null, ...stands } }),
          row("call", "502 BridgeCallFailed", { at, as: ada, body: { tool: "bridge/other" } }),
          row("call", 200, {
            at,
            as: ada,
            body: {
              tool: "bridge/status",
              arguments: { deep: [1] }
            },
            answer: {
              result: {
                version: "1.2.3",
                readiness: {
                  oidc_credential: "none",
                  relay_available: true
                },
                given: { deep: [1] },
                channel,
                grant: grant({
                  channel,
                  holder
                })
              }
            }
          }),
          row("call", "400 MalformedRequest", { at, as: ada, body: { tool: "Bad Tool" } }),
          ...notTheirs("get"),
          ...notTheirs("setMode", { mode: "off" }),
          ...notTheirs("storeGrant", { channel_id: channel, grant_hex: grant({ channel, holder }) }),
          ...notTheirs("call", { tool: "bridge/status" })
        ],
        {
          "get BridgeNotConfigured": "held below, on a server without the keys",
          "storeGrant BridgeNotConfigured": "held below",
          "call BridgeNotConfigured": "held below"
        }
      )
      const { channels, tunnelRecords, tunnels } = yield* account("ada")
      const theirs = yield* (yield* account("bob")).channels.listMembers({
        params: { channel: Schema.decodeSync(ChannelId)(foreign) },
        query: {}
      })
      assert.deepStrictEqual(theirs.members, [], "the bridge becomes no member of a channel of another account")
      const { members } = yield* channels.listMembers({
        params: { channel: Schema.decodeSync(ChannelId)(channel) },
        query: {}
      })
      assert.deepStrictEqual(
        members.map((member) => [member.holder as string, member.noise_pubkey as string | null]),
        [[holder, noise]]
      )
      assert.isTrue((yield* tunnels.get({ params: { id } })).require_login, "a bridge that is on is behind the login")
      const listed = (yield* tunnelRecords.fleet({ query: {} })).find((each) => each.id === id)
      assert.deepInclude(listed, {
        bridge_mode: "permanent",
        bridge_granted: true,
        bridge_last_seen_secs_ago: 7,

        agent_version: "1.2.3",
        gaps: ["oidc_credential"]
      })
    })
  )

  it.effect("every route answers BridgeNotConfigured without keys, before any other check", () =>
    Effect.gen(function* () {
      const { id } = yield* tunnel("cleo", "cam")
      const headers = { authorization: `Bearer ${yield* bearerOf("cleo")}`, "content-type": "application/json" }
      const { issuer } = yield* TestIssuer
      const bare = yield* Layer.build(TestServer.replica({ ...variables, CT_OIDC_ISSUER: issuer }))
      for (const tunnelId of [id, unknownId]) {
        for (const [method, path, body] of [
          ["GET", "", undefined],
          ["POST", "/grant", "{}"],
          ["POST", "/call", JSON.stringify({ tool: "bridge/status" })]
        ] as const) {
          const response = yield* TestServer.raw(`/me/tunnels/${tunnelId}/agent-bridge${path}`, {
            method,
            headers,
            ...(body === undefined ? {} : { body })
          }).pipe(Effect.provide(bare))
          assert.strictEqual(response.status, 503, `${method} ${path}`)
          assert.deepInclude(yield* Effect.promise(() => response.json()), { code: "BridgeNotConfigured" })
        }
      }
    }).pipe(Effect.scoped)
  )
})
