/**
 * The client's side of a mesh tunnel: from a capability to a sealed stream that ends at the origin. Each stream is a TLS
 * connection of its own (role C), tried at the edge's address and then at its port 443.
 */
import type { Capability } from "@catenet/crypto/Capability"
import { native } from "@catenet/crypto/native"
import * as ProofOfWork from "@catenet/crypto/ProofOfWork"
import { requestRendezvous } from "@catenet/wire/transport/MeshRendezvous"
import { Data, Effect, Option, Redacted, Result } from "effect"
import type { TLSSocket } from "node:tls"
import * as Handshake from "../mesh/Handshake.ts"
import { NoiseStream } from "../mesh/NoiseStream.ts"
import { formatHostPort, type HostPort } from "../settings/Parse.ts"
import * as EdgeDial from "../tunnel/EdgeDial.ts"
import { rungs } from "../tunnel/Establish.ts"

/** The edge asks for more work than a client should do, or its challenge never came. */
export class RendezvousFailed extends Data.TaggedError("RendezvousFailed")<{
  readonly edge: string
  readonly why: string
}> {
  override get message() {
    return `edge ${this.edge}: ${this.why}`
  }
}

export interface Target {
  readonly capability: Capability
  readonly edge: HostPort
  /** PEM of the edge's root. */
  readonly ca: string
  readonly datagrams: boolean
}

const slice = 4096

/** Searches in slices, so that other streams go on meanwhile. */
const solve = async (challenge: ProofOfWork.Challenge, token: Uint8Array): Promise<bigint> => {
  for (let from = 0n; ; from += BigInt(slice)) {
    const found = ProofOfWork.search(native, challenge, token, from, slice)
    if (Option.isSome(found)) return found.value
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const meet = Effect.fnUntraced(function* (socket: TLSSocket, edge: string, token: Redacted.Redacted<Uint8Array>) {
  const bytes = Redacted.value(token)
  let excessive = false
  const met = yield* Effect.promise(() =>
    requestRendezvous(socket, bytes, async (challenge) => {
      excessive = challenge.difficulty > ProofOfWork.maxDifficulty
      return excessive ? 0n : solve(challenge, bytes)
    })
  )
  if (excessive) return yield* new RendezvousFailed({ edge, why: "it asks for an unreasonable proof of work" })
  if (Result.isFailure(met)) return yield* new RendezvousFailed({ edge, why: `no challenge (${met.failure.reason})` })
})

const on = Effect.fnUntraced(function* ({ capability, ca, datagrams }: Target, address: HostPort) {
  const edge = formatHostPort(address)
  const socket = yield* EdgeDial.dial(address, ca, ["ct-edge"])
  return yield* Effect.gen(function* () {
    yield* meet(socket, edge, capability.routingToken)
    const session = yield* Handshake.begin(socket, capability.originKey).pipe(
      Effect.catchTag("HandshakeFailed", ({ why }) =>
        Effect.fail(
          new RendezvousFailed({
            edge,
            why: `${why}. The agent is offline, the capability was replaced, or too many clients connect at once`
          })
        )
      )
    )
    return new NoiseStream(socket, session, { datagrams })
  }).pipe(Effect.onError(() => Effect.sync(() => socket.destroy())))
})

/** One stream to the origin. */
export const open = Effect.fn("MeshClient.open")(function* (target: Target) {
  const [first, second] = rungs(target.edge, true)
  const attempt = on(target, first ?? target.edge)
  if (second === undefined) return yield* attempt
  return yield* Effect.catchTag(attempt, "DialFailed", (error) =>
    Effect.mapError(on(target, second), (later) => (later._tag === "DialFailed" ? error : later))
  )
})
