/** A member of a channel in the process of a benchmark, at the front door of an edge. */
import type { Policy } from "@catenet/crypto/admission/KeyExchange"
import * as Grant from "@catenet/crypto/Grant"
import { native } from "@catenet/crypto/native"
import type { Member } from "@catenet/testing/agent/Member"
import type { TestEdge } from "@catenet/testing/edge/TestEdge"
import { Effect, Redacted, Result } from "effect"
import * as ChannelSession from "../../../agent/src/channel/session/ChannelSession.ts"
import type * as FallbackDialer from "../../../agent/src/channel/session/FallbackDialer.ts"

type Place = Pick<TestEdge, "frontDoor" | "meshRoot">

const brokerOf = (world: Place, { grant, holderSeed }: Member, postQuantum: Policy): FallbackDialer.Broker => {
  const frontDoor = { host: "127.0.0.1", port: world.frontDoor }
  return {
    _tag: "Broker",
    broker: frontDoor,
    relay: frontDoor,
    frontDoor,
    isFrontDoorOnly: true,
    root: world.meshRoot,
    webSocket: undefined,
    node: undefined,
    grant: Result.getOrThrow(Grant.fromHex(grant)),
    holderKey: Redacted.make(holderSeed),
    listen: undefined,
    isUpgrading: false,
    postQuantum
  }
}

/** A session of this member, in this process. */
export const session = (world: Place, member: Member, role: "initiate" | "accept", postQuantum: Policy = "prefer") => {
  const own = { role, noise: native.x25519.keyPair(member.noiseSecret), configured: undefined, isUpgrading: false }
  return Effect.flatMap(ChannelSession.meet(brokerOf(world, member, postQuantum), own, undefined), (met) =>
    ChannelSession.open(met, own)
  )
}
