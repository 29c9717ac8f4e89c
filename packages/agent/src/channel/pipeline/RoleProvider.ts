/** One who serves on the channel of a role, in a session that stays open: its offer, and calls of its tools. */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import type * as Json from "@catenet/crypto/Json"
import * as Offer from "@catenet/crypto/market/Offer"
import { native } from "@catenet/crypto/native"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { Data, Effect, Result } from "effect"
import { unixSeconds } from "../../UnixTime.ts"
import * as RpcClient from "../rpc/RpcClient.ts"
import type { ChannelSession } from "../session/ChannelSession.ts"

/** What a provider answered cannot be used, or it did not answer. */
export class ProviderFailed extends Data.TaggedError("ProviderFailed")<{ readonly why: string }> {
  override get message() {
    return this.why
  }
}

export interface RoleProvider {
  readonly holder: string
  readonly offer: Offer.Offer
  readonly call: (tool: string, args: Json.Json) => Effect.Effect<Json.Json, ProviderFailed>
}

/** A service may take the two minutes that its command has; offers and bids are answered at once. */
const boundOf = (tool: string) => (tool.startsWith("service/") ? "125 seconds" : "15 seconds")

const failed = ({ message }: { readonly message: string }) => new ProviderFailed({ why: message })

const callOf = (client: RpcClient.RpcClient): RoleProvider["call"] =>
  Effect.fn("RoleProvider.call")(function* (name, args) {
    const reply = yield* client.request("tools/call", { name, arguments: args }).pipe(
      Effect.mapError(failed),
      Effect.timeoutOrElse({
        duration: boundOf(name),
        orElse: () => Effect.fail(failed({ message: `no answer to ${name} within ${boundOf(name)}` }))
      })
    )
    return yield* Effect.mapError(Effect.fromResult(Envelope.readResponse(reply)), failed)
  })

/** Asks the peer of a session for its offer, which must be its own, signed and alive. */
export const ofSession = Effect.fn("RoleProvider.ofSession")(function* ({ peerHolder, stream }: ChannelSession) {
  const call = callOf(RpcClient.make(stream))
  const shown = Offer.json.fromJson(yield* call("auction/offer", {}))
  if (Result.isFailure(shown)) return yield* failed({ message: `its offer cannot be read: ${shown.failure.message}` })
  const offer = shown.success
  if (peerHolder === undefined || !Bytes.equal(offer.holder, peerHolder))
    return yield* failed({ message: "its offer is signed by another holder" })
  const now = yield* unixSeconds
  if (!Offer.verify(native, offer, now))
    return yield* failed({ message: "its offer has expired, or its signature does not verify" })
  const provider: RoleProvider = { holder: Hex.encode(offer.holder), offer, call }
  return provider
})
