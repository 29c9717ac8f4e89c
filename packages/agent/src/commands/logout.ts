/** `logout`: ends the stored login at the identity provider, and in any case deletes it from this machine. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, FileSystem, Result } from "effect"
import { configFile } from "../Flags.ts"
import * as IdentityProviderClient from "../login/IdentityProviderClient.ts"
import * as StoredLogin from "../login/StoredLogin.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import * as LoginVariables from "../settings/LoginVariables.ts"
import * as FolderLock from "../state/FolderLock.ts"

const revoke = Effect.fnUntraced(function* ({ clientId, issuer, refreshToken }: StoredLogin.StoredLogin) {
  if (refreshToken === undefined) return
  yield* IdentityProviderClient.revoke(issuer, clientId, refreshToken).pipe(
    Effect.catch(({ reason }) =>
      Effect.logWarning(`the identity provider was not informed, and the login ends there by itself: ${reason}`)
    )
  )
})

const leave = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* Effect.orElseSucceed(fs.exists(path), () => true)))
    return yield* Effect.logInfo("there is no stored login")
  const login = yield* Effect.result(StoredLogin.read(path))
  if (Result.isSuccess(login) && login.success !== undefined) yield* revoke(login.success)
  yield* StoredLogin.forget(path)
  yield* Effect.logInfo(`logged out; ${path} is removed`)
})

export const logout = Effect.gen(function* () {
  const values = yield* EnvironmentFile.read(yield* configFile, LoginVariables.account)
  const { stored } = LoginVariables.sourceOf(values)
  yield* FolderLock.holding(stored)(leave(stored))
  if (values.bearer !== undefined || values.bearerFile !== undefined)
    yield* Effect.logWarning("CT_OIDC_TOKEN or CT_OIDC_TOKEN_FILE is still set, and is used.")
}).pipe(Effect.provide([NodeFileSystem.layer, OutgoingHttp.layer]))
