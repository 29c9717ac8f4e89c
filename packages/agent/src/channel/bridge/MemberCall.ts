/** A single call of a tool of a channel's peer, for programs that are members themselves. */
import type { Grant } from "@catenet/crypto/Grant"
import type * as Json from "@catenet/crypto/Json"
import { native } from "@catenet/crypto/native"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { Data, Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { AgentMetrics } from "../../observe/AgentMetrics.ts"
import type { HostPort } from "../../settings/HostPort.ts"
import { Meeting } from "../../settings/MemberSettings.ts"
import * as RpcClient from "../rpc/RpcClient.ts"
import * as ChannelSession from "../session/ChannelSession.ts"
import { refusalHint } from "../session/FallbackDialer.ts"

/** The edge's addresses: its own ports, its front door, or both. */
export interface EdgePlace {
  readonly ports: { readonly broker: HostPort; readonly relay: HostPort } | undefined
  readonly frontDoor: HostPort | undefined
  /** The only trusted root, PEM. */
  readonly root: string
}

export interface MemberCall {
  readonly place: EdgePlace
  readonly grant: Grant
  readonly holderKey: Redacted.Redacted<Uint8Array>
  readonly noiseKey: Redacted.Redacted<Uint8Array>
  readonly tool: string
  readonly arguments: Json.Json
}

/** The call was not made, or the peer did not do what it was called for. */
export class MemberCallFailed extends Data.TaggedError("MemberCallFailed")<{ readonly why: string }> {
  override get message() {
    return this.why
  }
}

const failed = ({ message: why }: { readonly message: string }) => new MemberCallFailed({ why })

/** The broker mode of this call; it listens nowhere. */
const meetingOf = ({ grant, holderKey, place: { frontDoor, ports, root } }: MemberCall) => {
  const only = ports ?? (frontDoor && { broker: frontDoor, relay: frontDoor })
  return (
    only &&
    Meeting.Broker({
      ...only,
      frontDoor,
      isFrontDoorOnly: ports === undefined,
      root,
      webSocket: undefined,
      node: undefined,
      grant,
      holderKey,
      listen: undefined,
      isUpgrading: false
    })
  )
}

/** The result of the tool. It waits for the peer for as long as the caller lets it. */
export const call = Effect.fn("MemberCall.call")(
  function* (given: MemberCall) {
    const broker = meetingOf(given)
    if (broker === undefined) return yield* new MemberCallFailed({ why: "no edge is named" })
    const noise = native.x25519.keyPair(Redacted.value(given.noiseKey))
    const member = { role: "initiate" as const, noise, configured: undefined, isUpgrading: false }
    const met = yield* ChannelSession.meet(broker, member, undefined).pipe(
      Effect.catchTag("AllStrategiesFailed", (error) =>
        Effect.fail(failed(error.refusal === undefined ? error : { message: refusalHint(error.refusal.token) }))
      ),
      Effect.mapError(failed)
    )
    yield* Effect.addFinalizer(() => Effect.sync(() => met.leg.stream.destroy()))
    const session = yield* Effect.mapError(ChannelSession.open(met, member), failed)
    const params = { name: given.tool, arguments: given.arguments }
    const reply = yield* Effect.mapError(RpcClient.make(session.stream).request("tools/call", params), failed)
    const result = yield* Effect.mapError(Effect.fromResult(Envelope.readResponse(reply)), failed)
    yield* ChannelSession.close(session)
    return result
  },
  Effect.scoped,
  Effect.provide([AgentMetrics.layer, SecureRandom.layerWebCrypto])
)
