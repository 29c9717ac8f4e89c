/**
 * From what the agent was given to what it can serve with: a routing token and, if it enrolled, its identity. Nothing is redeemed
 * twice: stored identities and secrets are used before a token is spent, and everything is stored before it is used, so that an
 * agent that lost a response retries with the same key and is recognized. A spent token is reported with its possible causes.
 */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
import { clause, ended } from "@catenet/domain/values/Sentence"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Data, Effect, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { Refused, Unreachable } from "../Failure.ts"
import type { Settings } from "../settings/Settings.ts"
import * as AgentIdentity from "../state/AgentIdentity.ts"
import * as PrivateFile from "../state/PrivateFile.ts"
import * as BootstrapSecret from "./BootstrapSecret.ts"
import { OnboardingClient } from "./OnboardingClient.ts"

/**
 * The routing token that replaced the given one, because an owner replaced it or a grant ended. It is stored in `routing-token`
 * of the state folder with the hash of the given one, so that another token that is set later is used unchanged.
 */
export type Token = Redacted.Redacted<Uint8Array>

/** The edge refused the token, and the control plane gave the one that the tunnel has now. */
export class TokenReplaced extends Data.TaggedError("TokenReplaced")<{ readonly old: Token; readonly token: Token }> {}

const at = (stateDir: string) => `${stateDir}/routing-token`

const read = Effect.fnUntraced(function* (stateDir: string) {
  const bytes = yield* PrivateFile.read(at(stateDir))
  const [given = "", text = ""] = new TextDecoder()
    .decode(bytes ?? new Uint8Array())
    .trim()
    .split(" ")
  const token = Result.getOrUndefined(TokenEncoding.fromHexText(text))
  return token === undefined ? undefined : { given, token }
})

/**
 * The current token of the given token's tunnel, as far as known. An unreadable file is ignored and the token requested again
 * when needed.
 */
export const current = Effect.fn("Onboarding.current")(function* (stateDir: string, given: Token) {
  const kept = yield* Effect.orElseSucceed(read(stateDir), () => undefined)
  return kept?.given === TokenEncoding.hash(native, given) ? kept.token : given
})

/** Stores the token that replaced `old`, which was given or had itself replaced the given one. */
export const keep = Effect.fn("Onboarding.keep")(function* (stateDir: string, { old, token }: TokenReplaced) {
  const kept = yield* Effect.orElseSucceed(read(stateDir), () => undefined)
  const hashed = TokenEncoding.hash(native, old)
  const given = kept !== undefined && TokenEncoding.hash(native, kept.token) === hashed ? kept.given : hashed
  const text = `${given} ${Redacted.value(TokenEncoding.hexText(token))}\n`
  yield* PrivateFile.replaceAll([{ path: at(stateDir), bytes: new TextEncoder().encode(text) }])
})

export interface Onboarded {
  readonly agentId: string
  readonly identity: AgentIdentity.AgentIdentity | undefined
  /** Undefined only in mesh mode, where a capability may bring its own. */
  readonly token: Redacted.Redacted<Uint8Array> | undefined
}

const bytesOf = (text: Redacted.Redacted | undefined) =>
  text === undefined ? undefined : Redacted.make(Result.getOrThrow(Hex.decode(Redacted.value(text), 32)))

const prepared = Effect.fnUntraced(function* (settings: Settings, agentId: string) {
  const random = yield* SecureRandom.SecureRandom
  return yield* AgentIdentity.prepare(settings.stateDir, agentId, random.randomBytes(32))
})

const exchanged = Effect.fnUntraced(function* (
  settings: Settings,
  agentId: string,
  mine: AgentIdentity.AgentIdentity | undefined,
  token: Redacted.Redacted
) {
  const { stateDir } = settings
  if (mine !== undefined) return yield* BootstrapSecret.exchange(stateDir, token, mine.seed)
  // Without a response, the token may have been redeemed for this key, which is kept for the next start.
  return yield* BootstrapSecret.exchange(stateDir, token, yield* prepared(settings, agentId)).pipe(
    Effect.tapErrorTag("Refused", () => AgentIdentity.forget(stateDir)),
    Effect.tapErrorTag("ConfigurationInvalid", () => AgentIdentity.forget(stateDir))
  )
})

const enroll = Effect.fnUntraced(function* (
  settings: Settings,
  agentId: string,
  joinToken: Redacted.Redacted<Uint8Array>,
  previous: string | undefined
) {
  const controlPlane = yield* OnboardingClient
  const seed = yield* prepared(settings, agentId)
  const tenant = yield* controlPlane.redeem(joinToken, agentId, seed).pipe(
    Effect.catchTag("TokenSpent", ({ detail }) => {
      const cause =
        previous === undefined
          ? `the folder ${settings.stateDir} holds no identity. If this agent enrolled before, point CT_AGENT_STATE_DIR to the ` +
            "folder of that start"
          : `the folder ${settings.stateDir} belongs to agent ${previous}, and CT_AGENT_ID says ${agentId}. Set CT_AGENT_ID to ` +
            `${previous}, or unset it`
      return Effect.fail(
        new Refused({
          detail: `${ended(detail)} Here ${clause(cause)}; otherwise get a fresh join token from the install page of the tunnel.`
        })
      )
    }),
    // Without an answer the token may be spent, for this key: it stays for the next start.
    Effect.tapErrorTag("Refused", () => AgentIdentity.forget(settings.stateDir))
  )
  yield* AgentIdentity.complete(settings.stateDir, tenant)
  return { seed, agent: agentId, tenant }
})

/** The whole onboarding. With `required`, an agent that is not enrolled and has no join token fails. */
export const onboard = Effect.fn("Onboarding.onboard")(function* (settings: Settings, required: boolean) {
  const restored = yield* AgentIdentity.restore(settings.stateDir)
  const agentId = yield* AgentIdentity.agentId(settings.stateDir, settings.agentId)
  const mine = restored !== undefined && restored.agent === agentId ? restored : undefined
  const kept = yield* BootstrapSecret.restore(settings.stateDir)
  const lacking = settings.token === undefined || (settings.joinToken === undefined && mine === undefined)
  const secret =
    kept ??
    (settings.bootstrap !== undefined && lacking
      ? yield* exchanged(settings, agentId, mine, settings.bootstrap)
      : undefined)
  const given = bytesOf(settings.token) ?? secret?.routingToken
  const token = given && (yield* current(settings.stateDir, given))
  const joinToken = bytesOf(settings.joinToken) ?? secret?.joinToken
  if (token === undefined && settings.mode !== "mesh")
    return yield* ConfigurationInvalid.of(
      "CT_AGENT_TOKEN",
      "is not set",
      "copy the routing token of the tunnel from the portal, or set CT_BOOTSTRAP"
    )
  if (mine !== undefined) {
    yield* Effect.logInfo("restored the enrolled identity").pipe(
      Effect.annotateLogs({ agent: mine.agent, tenant: mine.tenant, control_plane: settings.controlPlane })
    )
    return { agentId, identity: mine, token } satisfies Onboarded
  }
  if (joinToken === undefined) {
    if (required)
      return yield* ConfigurationInvalid.of(
        "CT_AGENT_JOIN_TOKEN",
        "is not set",
        "copy the join token from the install page of the tunnel, or set CT_BOOTSTRAP"
      )
    if (restored !== undefined)
      yield* Effect.logWarning(
        `the stored identity belongs to agent ${restored.agent}, not to ${agentId}; correct CT_AGENT_ID to use it`
      )
    return { agentId, identity: undefined, token } satisfies Onboarded
  }
  const identity = yield* enroll(settings, agentId, joinToken, restored?.agent)
  if (secret !== undefined)
    yield* Effect.catchTag(BootstrapSecret.forgetJoinToken(settings.stateDir, secret), "StateUnusable", (error) =>
      Effect.logWarning(`the spent join token stays in the state folder: ${error.message}`)
    )
  yield* Effect.logInfo("enrolled").pipe(
    Effect.annotateLogs({ agent: agentId, tenant: identity.tenant, control_plane: settings.controlPlane })
  )
  return { agentId, identity, token } satisfies Onboarded
})

/** `onboard`, limited by CT_AGENT_ONBOARD_TIMEOUT_SECS if set. */
export const bounded = (settings: Settings, required: boolean) => {
  const seconds = settings.onboardTimeoutSecs
  const whole = onboard(settings, required)
  return seconds === undefined
    ? whole
    : Effect.timeoutOrElse(whole, {
        duration: `${seconds} seconds`,
        orElse: () =>
          Effect.fail(
            new Unreachable({
              detail:
                `Onboarding took longer than ${seconds} s (CT_AGENT_ONBOARD_TIMEOUT_SECS). Check that ${settings.controlPlane} ` +
                "can be reached, and start again: the key is stored, and a token that was spent for it still counts."
            })
          )
      })
}
