/** Joins by an invite link: fetches the membership for the link's token and redeems its invitation. */
import * as Bootstrap from "@catenet/crypto/Bootstrap"
import * as Hex from "@catenet/crypto/Hex"
import * as Invitation from "@catenet/crypto/Invitation"
import type { InviteLink } from "@catenet/crypto/invite/InviteLink"
import * as PreparedMembership from "@catenet/crypto/invite/PreparedMembership"
import { native } from "@catenet/crypto/native"
import * as NoiseAttestation from "@catenet/crypto/NoiseAttestation"
import * as Redemption from "@catenet/crypto/Redemption"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { BootstrapRedemption } from "@catenet/domain/api/EnrollmentApi"
import { InvitationRedemption } from "@catenet/domain/channels/InvitationRedemption"
import { clause } from "@catenet/domain/values/Sentence"
import { Effect, Redacted, Result, Schema } from "effect"
import { HttpClient } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Refused, Unreachable } from "../../Failure.ts"

// The prepared membership of a link. It may set only these variables.

/** Variables of `channel` that an invite may set, and no others. */
const variables = [
  "CT_CHANNEL_ROLE",
  "CT_CHANNEL_GRANT",
  "CT_CHANNEL_HOLDER_KEY",
  "CT_CHANNEL_BROKER",
  "CT_CHANNEL_RELAY",
  "CT_CHANNEL_RELAY_ONLY",
  "CT_CHANNEL_FRONT_DOOR",
  "CT_CHANNEL_FRONT_DOOR_CERT",
  "CT_CHANNEL_FRONT_DOOR_ONLY"
] as const

const line = Schema.String.check(Schema.isPattern(/^[^\p{Cc}]{1,6000}$/u))

const Prepared = Schema.Struct({
  use: Schema.Literals(["mcp", "variables"]),
  name: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[\w-]{1,32}$/u))),
  invitation: Schema.String.check(Schema.isPattern(/^[0-9a-f]{278}$/u)),
  holderKey: Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/u)),
  values: Schema.Array(Schema.Tuple([Schema.Literals(variables), line]))
})
type Prepared = typeof Prepared.Type

const decode = Schema.decodeUnknownResult(Prepared)

/** Fails if it was sealed under another key or is invalid. */
const openPrepared = (key: Redacted.Redacted<Uint8Array>, text: string): Result.Result<Prepared, unknown> =>
  Result.flatMap(PreparedMembership.open(native, key, text), decode)

const bound = "10 seconds"
const another = "Ask the person who sent it for another one."
const refused = (what: string) => new Refused({ detail: `${what} ${another}` })

const unreachable = (controlPlane: string) => (error: unknown) =>
  error instanceof Refused
    ? error
    : new Unreachable({
        detail: `The control plane at ${controlPlane} does not answer: ${clause(error instanceof Error ? error.message : "no answer")}. Try the same line again.`
      })

/** The membership of the link; the same again for the same seed. */
export const membership = Effect.fn("JoinClient.membership")(function* (
  { controlPlane, key, token }: InviteLink,
  seed: Redacted.Redacted<Uint8Array>
) {
  const httpClient = yield* HttpClient.HttpClient
  const at = { group: "enrollment", httpClient, baseUrl: controlPlane } as const
  const redeem = yield* HttpApiClient.endpoint(ControlPlaneApi, { ...at, endpoint: "redeemBootstrap" })
  const payload = yield* Effect.orDie(
    Schema.decodeEffect(BootstrapRedemption)({
      token: Hex.encode(Redacted.value(token)),
      pubkey: Hex.encode(native.ed25519.publicKey(Redacted.value(seed))),
      proof: Hex.encode(Bootstrap.prove(native, seed, token))
    })
  )
  const { secret } = yield* redeem({ payload }).pipe(
    Effect.catchTags({
      BootstrapAlreadyRedeemed: ({ secret }) => Effect.succeed({ secret }),
      BootstrapTokenSpent: () => Effect.fail(refused("This invite link was used already.")),
      BootstrapTokenExpired: () => Effect.fail(refused("This invite link has expired.")),
      BootstrapTokenUnknown: () => Effect.fail(refused("The control plane does not know this invite link.")),
      BootstrapProofRefused: ({ detail }) => Effect.fail(new Refused({ detail }))
    }),
    Effect.timeout(bound),
    Effect.mapError(unreachable(controlPlane))
  )
  return yield* Effect.mapError(Effect.fromResult(openPrepared(key, Redacted.value(secret))), () =>
    refused("What the control plane gave for this invite link cannot be opened with it.")
  )
})

/** Makes the holder a member with this Noise key. `again` if an earlier attempt of this machine may have succeeded. */
export const redeem = Effect.fn("JoinClient.redeem")(function* (
  { controlPlane }: Pick<InviteLink, "controlPlane">,
  { holderKey, invitation: text }: Pick<Prepared, "holderKey" | "invitation">,
  noiseKey: Redacted.Redacted<Uint8Array>,
  again: boolean
) {
  const httpClient = yield* HttpClient.HttpClient
  const invitations = yield* HttpApiClient.group(ControlPlaneApi, {
    group: "invitations",
    httpClient,
    baseUrl: controlPlane
  })
  const invitation = yield* Effect.mapError(Effect.fromResult(Invitation.fromHex(text)), () =>
    refused("The invitation in this link is damaged.")
  )
  const seed = Redacted.make(new Uint8Array(Buffer.from(holderKey, "hex")))
  const holder = native.ed25519.publicKey(Redacted.value(seed))
  const publicKey = native.x25519.publicKey(Redacted.value(noiseKey))
  const { channel, invitee } = invitation
  yield* Effect.gen(function* () {
    const { challenge } = yield* invitations.challenge({})
    const asked = { channel, invitee, holder, challenge: new Uint8Array(Buffer.from(challenge, "hex")) }
    const attestation = NoiseAttestation.sign(native, seed, { channel, noiseKey: publicKey })
    const payload = yield* Effect.orDie(
      Schema.decodeEffect(InvitationRedemption)({
        invitation: text,
        redeem_sig: Hex.encode(Redemption.sign(native, seed, asked)),
        holder: Hex.encode(holder),
        noise_pubkey: Hex.encode(publicKey),
        noise_attestation: Hex.encode(attestation),
        challenge
      })
    )
    yield* invitations.redeem({ payload })
  }).pipe(
    Effect.catchTags({
      InvitationSpent: () =>
        again ? Effect.void : Effect.fail(refused("The invitation in this link was redeemed already.")),
      InvitationExpired: () => Effect.fail(refused("The invitation in this link has expired.")),
      InvitationRefused: () => Effect.fail(refused("The channel's operator key has changed since this link was made.")),
      ChannelUnknown: () => Effect.fail(refused("The channel of this link is not there any more.")),
      LimitReached: ({ detail }) => Effect.fail(new Refused({ detail }))
    }),
    Effect.timeout(bound),
    Effect.mapError(unreachable(controlPlane))
  )
})
