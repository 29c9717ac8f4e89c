/**
 * The tokens that a bootstrap token was exchanged for, in `bootstrap.secret` of the state folder: stored before use; the join
 * token is removed once it is spent.
 */
import * as Bootstrap from "@catenet/crypto/Bootstrap"
import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
import { ended } from "@catenet/domain/values/Sentence"
import { Effect, Redacted, Result } from "effect"
import { Refused, StateUnusable } from "../Failure.ts"
import * as PrivateFile from "../state/PrivateFile.ts"
import { OnboardingClient } from "./OnboardingClient.ts"

export interface Kept {
  /** Undefined once it is spent. */
  readonly joinToken: Redacted.Redacted<Uint8Array> | undefined
  readonly routingToken: Redacted.Redacted<Uint8Array>
}

const routingOnly = "CT_AGENT_TOKEN="
/** Room for the longest secret: 8192 characters. */
const secretBytes = 32_768
const at = (stateDir: string) => `${stateDir}/bootstrap.secret`

const write = (stateDir: string, text: string) =>
  PrivateFile.replaceAll([{ path: at(stateDir), bytes: new TextEncoder().encode(text) }])

const parse = (text: string): Result.Result<Kept, unknown> =>
  text.startsWith(routingOnly)
    ? Result.map(TokenEncoding.fromHexText(text.slice(routingOnly.length)), (routingToken) => ({
        joinToken: undefined,
        routingToken
      }))
    : Bootstrap.parse(Redacted.make(text))

/** The stored secret, or undefined before the first exchange. */
export const restore = Effect.fn("BootstrapSecret.restore")(function* (stateDir: string) {
  const path = at(stateDir)
  // A secret that an interrupted start has staged is requested again.
  yield* PrivateFile.discard([path])
  const bytes = yield* PrivateFile.read(path)
  if (bytes === undefined) return undefined
  return yield* Effect.mapError(
    Effect.fromResult(parse(new TextDecoder().decode(bytes).trim())),
    () => new StateUnusable({ path, detail: "it is damaged. Delete it and set a new CT_BOOTSTRAP." })
  )
})

/** Exchanges a bootstrap token for the key of this seed, which must be stored by now, and stores the result. */
export const exchange = Effect.fn("BootstrapSecret.exchange")(function* (
  stateDir: string,
  token: Redacted.Redacted,
  seed: Redacted.Redacted<Uint8Array>
) {
  const controlPlane = yield* OnboardingClient
  yield* PrivateFile.folder(stateDir)
  yield* PrivateFile.read(at(stateDir))
  yield* PrivateFile.reserve(at(stateDir), secretBytes)
  const secret = yield* Effect.catchTag(controlPlane.exchange(token, seed), "TokenSpent", ({ detail }) =>
    Effect.fail(
      new Refused({
        detail:
          `${ended(detail)} The folder ${stateDir} has no stored result of it. If this agent was started before, point ` +
          "CT_AGENT_STATE_DIR to the folder of that start; else ask the portal for a new CT_BOOTSTRAP."
      })
    )
  ).pipe(Effect.onError(() => PrivateFile.discard([at(stateDir)])))
  yield* PrivateFile.rewrite({ path: at(stateDir), bytes: new TextEncoder().encode(Redacted.value(secret)) })
  yield* PrivateFile.commit([at(stateDir)])
  const kept: Kept = yield* Effect.mapError(
    Effect.fromResult(Bootstrap.parse(secret)),
    () =>
      new Refused({
        detail: "The control plane answered a bootstrap secret that this agent cannot read. Update the agent."
      })
  )
  return kept
}, Effect.uninterruptible)

/** Stores tokens that were issued to this user, not for a bootstrap token. */
export const keep = Effect.fn("BootstrapSecret.keep")(function* (
  stateDir: string,
  { joinToken, token }: { readonly joinToken: string; readonly token: string }
) {
  yield* write(stateDir, `CT_JOIN_TOKEN=${joinToken};${routingOnly}${token}`)
})

/** Forgets the join token, which is spent. */
export const forgetJoinToken = (stateDir: string, { routingToken }: Kept) =>
  write(stateDir, routingOnly + Redacted.value(TokenEncoding.hexText(routingToken)))
