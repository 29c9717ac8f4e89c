/** What the owner of a channel does by commands, at a real control plane. */
import { native } from "@catenet/crypto/native"
import { bearerOf, database, server } from "@catenet/testing/server/Accounts"
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
  }
)
