/** What is secret in a request of channels is not said again in the problem that answers it. */
import { database, server } from "@catenet/testing/server/Accounts"
import { account, ask } from "@catenet/testing/server/channels/Asking"
import { idOf, invitationBy, keyOf, redemptionOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"

const channel = idOf("hall")
const holder = keyOf("laptop")
const grant = `5ec7e7${"ab".repeat(136)}`
const invitation = invitationBy("operator", channel, "guest", 4_000_000_000n)
const good = redemptionOf(invitation, { channel, invitee: "guest", holder: "laptop" })
const token = `5ec7e7${"cd".repeat(29)}`

/** Each secret whole, cut, with a letter that is none, and as another type. */
const spoiled = (secret: string): ReadonlyArray<unknown> => [
  secret,
  secret.slice(0, -1),
  `${secret}zz`,
  [secret],
  { secret }
]

const redemptions = ["invitation", "redeem_sig", "noise_attestation", "challenge"] as const
const requests: ReadonlyArray<readonly [path: string, secret: string, body: (value: unknown) => unknown]> = [
  [`/me/channels/${channel}/grants/${holder}`, grant, (grant_hex) => ({ grant_hex })],
  [`/me/channels/${idOf("other")}/grants/${holder}`, grant, (grant_hex) => ({ grant_hex })],
  ["/bootstrap/redeem", token, (value) => ({ token: value, pubkey: keyOf("agent"), proof: "ab".repeat(64) })],
  ["/bootstrap/redeem", token, (proof) => ({ token: "ab".repeat(32), pubkey: keyOf("agent"), proof })],
  ...redemptions.map(
    (name) =>
      [
        "/channel/invite/redeem",
        `5ec7e7${(good[name] ?? "ab".repeat(32)).slice(6)}`,
        (value: unknown) => ({ ...good, [name]: value })
      ] as const
  )
]

layer(Layer.provideMerge(Layer.fresh(database), server()), { excludeTestServices: true, timeout: "60 seconds" })(
  "problems of channels",
  (it) => {
    it.effect("repeat no grant, token, invitation or signature", () =>
      Effect.gen(function* () {
        yield* ask(account("ada"), "/me/channels", { channel, operator_pubkey: keyOf("operator") })
        for (const [path, secret, body] of requests)
          for (const value of spoiled(secret)) {
            const { body: problem, status } = yield* ask(account("ada"), path, body(value))
            assert.isAtLeast(status, 400, path)
            assert.notInclude(JSON.stringify(problem).toLowerCase(), secret.slice(0, 12), path)
          }
      })
    )
  }
)
