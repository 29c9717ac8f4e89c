/** How a member is let in at a relay node: the bytes of the broker's admission, on a plain connection. */
import * as Possession from "@catenet/crypto/admission/Possession"
import * as Grant from "@catenet/crypto/Grant"
import type { Seconds } from "@catenet/crypto/Integer"
import { native } from "@catenet/crypto/native"
import { Entropy } from "@catenet/platform/Entropy"
import { BrokerAdmission, type Step } from "@catenet/wire/channels/BrokerAdmission"
import { nextChunk } from "@catenet/wire/transport/NextChunk"
import { Clock, Effect, Result } from "effect"
import type { Socket } from "node:net"

const joinLimit = "15 seconds"
const nothing = new Uint8Array(0)

export const isAlive = (grant: Grant.Grant, now: Seconds): boolean => grant.expiresAt > BigInt(now)

/** Whether one of these operators has signed the grant. Without any the grant must only be alive: the gate in front has checked it. */
export const holds =
  (operators: ReadonlyArray<Uint8Array>) =>
  (grant: Grant.Grant, now: Seconds): boolean =>
    operators.length === 0
      ? isAlive(grant, now)
      : operators.some((operator) => Result.isSuccess(Grant.verify(native, grant, operator, now)))

/** The grant of the member; when it was refused or has left, the connection is over. */
export const admit = Effect.fn("RelayNodeAdmission.admit")(function* (
  socket: Socket,
  operators: ReadonlyArray<Uint8Array>
) {
  const clock = yield* Clock.Clock
  const admission = new BrokerAdmission({
    suite: native,
    first: "join",
    marked: true,
    phase: "relay",
    observed: undefined,
    requireAttested: false,
    challenge: () => Entropy.randomBytes(Possession.challengeLength),
    holds: holds(operators)
  })
  const exchange = Effect.gen(function* () {
    let step: Step = { _tag: "Read" }
    for (;;) {
      if (step._tag === "Read") {
        const chunk = yield* nextChunk(socket)
        step = chunk === undefined ? admission.end() : admission.push(chunk)
      } else if (step._tag === "Ask") {
        const now = Math.floor(clock.currentTimeMillisUnsafe() / 1000)
        step = admission.answered({ operatorKey: nothing, noise: undefined }, now)
      } else if (step._tag === "Challenge") {
        socket.write(step.bytes)
        step = admission.push(nothing)
      } else return step
    }
  })
  const verdict = yield* Effect.timeoutOrElse(exchange, {
    duration: joinLimit,
    orElse: () => Effect.sync(() => admission.end())
  })
  if (verdict._tag === "Admitted" && verdict.early.length === 0) return verdict.join.grant
  if (verdict._tag === "Dropped") {
    socket.destroy()
    return "left"
  }
  if (verdict._tag === "Refused") socket.end(verdict.bytes)
  else socket.destroy()
  return "refused"
})
