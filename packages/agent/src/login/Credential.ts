/**
 * The user's bearer token: the variable, else its file (read at every use), else the stored login, whose tokens are refreshed. An
 * unreadable file or an unresponsive provider is a temporary error, not a missing token.
 */
import type { CredentialState } from "@catenet/domain/enrollment/AgentStatus"
import { unixSeconds } from "@catenet/platform/UnixTime"
import { Data, Effect, FileSystem, Redacted, Result, Schedule } from "effect"
import type { BearerSource } from "../settings/LoginVariables.ts"
import * as FolderLock from "../state/FolderLock.ts"
import * as IdentityProviderClient from "./IdentityProviderClient.ts"
import * as StoredLogin from "./StoredLogin.ts"

/** There is no token, or it cannot be read now. The reason is the beginning of a sentence. */
export class TokenMissing extends Data.TaggedError("TokenMissing")<{
  readonly reason: string
  /** `passing`: may work later. `refused`: refused by the identity provider. */
  readonly kind: "none" | "passing" | "refused"
}> {}

const none = new TokenMissing({
  reason: "this agent has no bearer token: run ct-agent login, or set CT_OIDC_TOKEN or CT_OIDC_TOKEN_FILE",
  kind: "none"
})
const unreadable = new TokenMissing({ reason: "the file of CT_OIDC_TOKEN_FILE cannot be read", kind: "passing" })
const ended = new TokenMissing({ reason: "the stored login has ended: run ct-agent login again", kind: "refused" })

/** A file that cannot be read may be there again in a moment: its renewal replaces it. */
const patience = { schedule: Schedule.exponential("500 millis"), times: 2 }

/** The trimmed text of the file. */
const readFile = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.mapBoth(fs.readFileString(path), {
    onSuccess: (text) => text.trim(),
    onFailure: () => unreadable
  })
})

const readStored = (path: string) =>
  Effect.mapError(
    StoredLogin.read(path),
    ({ message }) => new TokenMissing({ reason: `the stored login cannot be used: ${message}`, kind: "none" })
  )

/** Requests new tokens and stores them before use. The caller holds the lock. */
const refreshed = Effect.fnUntraced(function* (
  path: string,
  login: StoredLogin.StoredLogin,
  token: Redacted.Redacted,
  asking: typeof Effect.interruptible
) {
  const form = { grant_type: "refresh_token", refresh_token: Redacted.value(token), client_id: login.clientId }
  const given = yield* asking(IdentityProviderClient.tokens(login.issuer, form)).pipe(
    Effect.catchTags({
      ProviderAway: ({ reason }) =>
        Effect.fail(
          new TokenMissing({ reason: `the identity provider does not refresh the login: ${reason}`, kind: "passing" })
        ),
      ProviderRefused: Effect.fnUntraced(function* ({ reason }) {
        // Without it, every process sees that the user must log in again.
        yield* Effect.ignore(StoredLogin.write(path, { ...login, refreshToken: undefined }))
        return yield* new TokenMissing({
          reason: `the identity provider ended the login (${reason}): run ct-agent login again`,
          kind: "refused"
        })
      })
    })
  )
  const { accessExpiresAt, accessToken } = given
  const isNew = given.refreshToken !== undefined
  const renewed: StoredLogin.StoredLogin = {
    ...login,
    accessToken,
    accessExpiresAt,
    // A response without a refresh token means that the old one stays valid.
    refreshToken: given.refreshToken ?? token,
    refreshExpiresAt: isNew ? given.refreshExpiresAt : (given.refreshExpiresAt ?? login.refreshExpiresAt)
  }
  yield* StoredLogin.write(path, renewed).pipe(
    Effect.catch(({ message }) =>
      Effect.logWarning(
        `the refreshed login could not be stored, so a later start may have to log in again: ${message}`
      )
    )
  )
  return accessToken
})

/** A response is always stored, because its refresh token may no longer be valid. */
const refresh = (...[path, login, token]: [string, StoredLogin.StoredLogin, Redacted.Redacted]) =>
  Effect.uninterruptibleMask((restore) => refreshed(path, login, token, restore))

const ofStored = Effect.fnUntraced(function* (path: string) {
  const login = yield* readStored(path)
  if (login === undefined) return yield* none
  if (StoredLogin.isFresh(login, yield* unixSeconds)) return login.accessToken
  if (!StoredLogin.isRefreshable(login, yield* unixSeconds)) return yield* ended
  return yield* Effect.gen(function* () {
    // Another process may have refreshed it in between, or logged out.
    const current = yield* readStored(path)
    if (current === undefined) return yield* none
    if (StoredLogin.isFresh(current, yield* unixSeconds)) return current.accessToken
    const { refreshToken } = current
    if (refreshToken === undefined || !StoredLogin.isRefreshable(current, yield* unixSeconds)) return yield* ended
    return yield* refresh(path, current, refreshToken)
  }).pipe(
    FolderLock.holding(path),
    Effect.mapError((error) =>
      error instanceof TokenMissing ? error : new TokenMissing({ reason: error.message, kind: "passing" })
    )
  )
})

/** The token of the variable or its file; undefined if neither is set. */
const fromVariables = Effect.fnUntraced(function* ({ token, tokenFile }: BearerSource) {
  if (token !== undefined) return token
  if (tokenFile === undefined) return undefined
  const text = yield* Effect.retry(readFile(tokenFile), patience)
  return text === "" ? undefined : Redacted.make(text)
})

/** Fails if there is none. */
export const resolve = Effect.fn("Credential.resolve")(function* (source: BearerSource) {
  return (yield* fromVariables(source)) ?? (yield* ofStored(source.stored))
})

const stateOfStored = Effect.fnUntraced(function* (path: string) {
  const read = yield* Effect.result(StoredLogin.read(path))
  if (Result.isFailure(read)) return "stored-expired" as const
  if (read.success === undefined) return "none" as const
  const at = yield* unixSeconds
  if (StoredLogin.isFresh(read.success, at)) return "stored" as const
  return StoredLogin.isRefreshable(read.success, at)
    ? ("stored-expired-refreshable" as const)
    : ("stored-expired" as const)
})

/** What `/status` and `bridge/config` call it. */
export const stateOf = Effect.fn("Credential.stateOf")(function* ({
  stored,
  token,
  tokenFile
}: BearerSource): Effect.fn.Return<CredentialState, never, FileSystem.FileSystem> {
  if (token !== undefined) return "env"
  const text = tokenFile === undefined ? "" : yield* Effect.orElseSucceed(readFile(tokenFile), () => undefined)
  return text === "" ? yield* stateOfStored(stored) : "env"
})

/** Warns at startup about problems that would appear late: an unreadable token, or an expired login. */
export const warn = Effect.fn("Credential.warn")(function* ({ stored, token, tokenFile }: BearerSource) {
  if (token !== undefined) return
  if (tokenFile !== undefined)
    return yield* readFile(tokenFile).pipe(
      Effect.asVoid,
      Effect.catch(() =>
        Effect.logWarning(
          "CT_OIDC_TOKEN_FILE names a file that cannot be read now. It is read again whenever the token is needed."
        )
      )
    )
  yield* Effect.ignore(
    Effect.tapError(StoredLogin.read(stored), ({ message }) =>
      Effect.logWarning(`the stored login cannot be used: ${message}`)
    )
  )
})
