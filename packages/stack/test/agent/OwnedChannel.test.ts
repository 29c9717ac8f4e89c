/** What the owner of a channel does by commands, at a real control plane. */
import * as ChannelIds from "@catenet/crypto/ChannelIds"
import * as ClaimProof from "@catenet/crypto/ClaimProof"
import { native } from "@catenet/crypto/native"
import { bearerOf, database, server } from "@catenet/testing/server/Accounts"
import { account, ask } from "@catenet/testing/server/channels/Asking"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { randomBytes } from "node:crypto"
import { ended, home } from "./AccountStack.ts"

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
const fresh = () => hex(randomBytes(32))
const signs = (seed: string) => hex(native.ed25519.publicKey(new Uint8Array(Buffer.from(seed, "hex"))))
const agrees = (key: string) => hex(native.x25519.publicKey(new Uint8Array(Buffer.from(key, "hex"))))

layer(Layer.provideMerge(Layer.fresh(database), server()), { excludeTestServices: true, timeout: "120 seconds" })(
  "the owner of a channel",
  (it) => {
    it.effect("registers it, makes members, grants and invitations, and keeps the allow-list, by commands", () =>
      Effect.gen(function* () {
        const at = yield* home
        const token = yield* bearerOf("ada")
        const [channel, operatorKey, holderKey, noiseKey, invitedKey] = [fresh(), fresh(), fresh(), fresh(), fresh()]
        const holder = signs(holderKey)
        const env = {
          CT_AGENT_CP_URL: yield* TestServer.baseUrl,
          CT_OIDC_TOKEN: token,
          CT_CHANNEL_ID: channel,
          CT_CHANNEL_OPERATOR_KEY: operatorKey
        }
        const run = (args: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}) =>
          ended(at, ["channel", ...args], { ...env, ...more })
        const done = (args: ReadonlyArray<string>, more?: Readonly<Record<string, string>>) =>
          Effect.map(run(args, more), ({ code, stderr, stdout }) => {
            assert.strictEqual(code, 0, `${args.join(" ")}: ${stderr}`)
            return stdout
          })

        assert.strictEqual(yield* done(["register"]), "")
        const other = { CT_CHANNEL_OPERATOR_PUBKEY: signs(fresh()) }
        const rekeyed = yield* run(["register"], other)
        assert.strictEqual(rekeyed.code, 4)
        assert.include(rekeyed.stderr, "operator")
        assert.include(rekeyed.stderr, "ct-agent channel register --rekey")
        yield* done(["register", "--rekey"], other)

        // The channel of a link is made of the operator and both holders; any channel takes material for itself.
        const bridge = { CT_CHANNEL_BRIDGE_HOLDER: signs(fresh()), CT_CHANNEL_OPERATOR_PUBKEY: signs(operatorKey) }
        const own = { CT_CHANNEL_HOLDER_KEY: holderKey, CT_CHANNEL_NOISE_PUBKEY: agrees(noiseKey) }
        const printed = JSON.parse(yield* done(["member-material", "--json"], { ...bridge, ...own }))
        const linked = { CT_CHANNEL_ID: printed.channel_id as string }
        yield* done(["register"], linked)
        const material = [holder, agrees(noiseKey), printed.noise_attestation as string]
        yield* done(["members", "add", ...material], linked)
        assert.strictEqual(yield* done(["members"], linked), `${holder}  ${agrees(noiseKey)}\n`)
        const granting = {
          CT_GRANT_CHANNEL: linked.CT_CHANNEL_ID,
          CT_GRANT_MEMBER_HOLDER: holder,
          CT_GRANT_DIRECTION: "initiate",
          CT_GRANT_EXPIRES: "4102444800"
        }
        assert.match(yield* done(["grant", "--deposit"], granting), /^[0-9a-f]{278}\n$/)
        const minted = yield* done(["claim-invite", ...material, "--label", "desk"], linked)
        assert.match(minted, /^https?:\/\/\S+\n$/)
        yield* done(["members", "remove", holder], linked)

        const inviting = {
          CT_INVITE_CHANNEL: linked.CT_CHANNEL_ID,
          CT_INVITE_IDENTITY: signs(invitedKey),
          CT_INVITE_DIRECTION: "accept",
          CT_INVITE_EXPIRES: "4102444800"
        }
        const invitation = (yield* done(["invite"], inviting)).trim()
        const invited = { CT_CHANNEL_HOLDER_KEY: invitedKey, CT_CHANNEL_NOISE_KEY: noiseKey }
        yield* done(["redeem", invitation], invited)
        assert.strictEqual((yield* run(["redeem", invitation], invited)).code, 4)
        assert.include(yield* done(["members"], linked), signs(invitedKey))

        const email = "a+b/c@example.test"
        const empty = yield* run(["allowlist", "list"])
        assert.deepStrictEqual([empty.code, empty.stdout], [0, ""])
        assert.include(empty.stderr, "empty")
        yield* done(["allowlist", "add", email])
        assert.strictEqual(yield* done(["allowlist", "list"]), `${email}\n`)
        yield* done(["allowlist", "remove", email])
        assert.strictEqual(yield* done(["allowlist", "list", "--json"]), '{"emails":[]}\n')
        const away = { CT_AGENT_CP_URL: "http://127.0.0.1:1", CT_OIDC_TOKEN: "x" }
        assert.strictEqual((yield* run(["allowlist", "list"], away)).code, 5)
      })
    )

    it.effect("takes it over from an account that registered its id first, by the operator's signature", () =>
      Effect.gen(function* () {
        const at = yield* home
        const operatorKey = fresh()
        const operator = signs(operatorKey)
        const holders = [signs(fresh()), signs(fresh())] as const
        const bytes = (key: string) => new Uint8Array(Buffer.from(key, "hex"))
        const link = hex(ChannelIds.link(native, bytes(operator), bytes(holders[0]), bytes(holders[1])))
        const role = hex(ChannelIds.pipelineRole(native, bytes(operator), "flappy", "physics"))
        const chosen = fresh()
        const squat = (channel: string, key: string) =>
          ask(account("eve"), "/me/channels", { channel, operator_pubkey: key })
        const run = (channel: string, more: Readonly<Record<string, string>> = {}) =>
          Effect.gen(function* () {
            return yield* ended(at, ["channel", "register"], {
              CT_AGENT_CP_URL: yield* TestServer.baseUrl,
              CT_OIDC_TOKEN: yield* bearerOf("ada"),
              CT_CHANNEL_ID: channel,
              ...more
            })
          })
        const signing = { CT_CHANNEL_OPERATOR_KEY: operatorKey }
        const linking = { CT_GRANT_MEMBER_HOLDER: holders[1], CT_CHANNEL_BRIDGE_HOLDER: holders[0] }
        yield* squat(link, signs(fresh()))
        yield* squat(role, signs(fresh()))
        yield* squat(chosen, operator)

        const unsigned = yield* run(link, { CT_CHANNEL_OPERATOR_PUBKEY: operator, ...linking })
        assert.strictEqual(unsigned.code, 4)
        assert.include(unsigned.stderr, "set CT_CHANNEL_OPERATOR_KEY")
        const underived = yield* run(link, signing)
        assert.strictEqual(underived.code, 4)
        assert.include(underived.stderr, "CT_PIPELINE_ID with CT_PIPELINE_ROLE")
        for (const [channel, from] of [
          [link, linking],
          [role, { CT_PIPELINE_ID: "flappy", CT_PIPELINE_ROLE: "physics" }],
          [chosen, {}]
        ] as const) {
          const { code, stderr } = yield* run(channel, { ...signing, ...from })
          assert.strictEqual(code, 0, stderr)
          assert.include(stderr, "took the channel over")
          assert.strictEqual((yield* squat(channel, operator)).status, 403)
          assert.notInclude((yield* run(channel, { ...signing, ...from })).stderr, "took")
        }
      })
    )

    it.effect("lets a member sign for the account that claims its membership", () =>
      Effect.gen(function* () {
        const at = yield* home
        const [holderKey, operator] = [fresh(), signs(fresh())]
        const { code, stderr, stdout } = yield* ended(
          at,
          ["channel", "member-material", "--json", "--account", "ada"],
          {
            CT_CHANNEL_OPERATOR_PUBKEY: operator,
            CT_CHANNEL_BRIDGE_HOLDER: signs(fresh()),
            CT_CHANNEL_HOLDER_KEY: holderKey,
            CT_CHANNEL_NOISE_PUBKEY: agrees(fresh())
          }
        )
        assert.strictEqual(code, 0, stderr)
        const { account_proof, channel_id, holder_pubkey } = JSON.parse(stdout) as Record<string, string>
        const bytes = (text = "") => new Uint8Array(Buffer.from(text, "hex"))
        const claiming = { channel: bytes(channel_id), holder: bytes(holder_pubkey), subject: "ada" }
        assert.isTrue(ClaimProof.verify(native, claiming, bytes(account_proof)))
      })
    )
  }
)
