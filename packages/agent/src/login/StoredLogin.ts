/**
 * The stored login of `ct-agent login`: one JSON file, replaced atomically. A file that another user owns or can read is
 * rejected: who can write it chooses whom this user acts as, and who can read it can act as this user.
 */
import { redact } from "@catenet/domain/values/Redaction"
import { Effect, FileSystem, Option, Redacted, Schema } from "effect"
import { dirname } from "node:path"
import { StateUnusable } from "../Failure.ts"
import { unusable } from "../state/FileErrors.ts"
import * as PrivateFile from "../state/PrivateFile.ts"

/** Times are Unix seconds; undefined if the identity provider did not send one. */
export interface StoredLogin {
  readonly accessToken: Redacted.Redacted
  readonly refreshToken: Redacted.Redacted | undefined
  readonly accessExpiresAt: number | undefined
  readonly refreshExpiresAt: number | undefined
  readonly issuer: string
  readonly clientId: string
  /** The control plane that named the issuer, so that later commands need no variable. */
  readonly controlPlane: string | undefined
}

const Text = Schema.NonEmptyString.check(Schema.isMaxLength(32_768))
const Secret = Schema.RedactedFromValue(Text, { label: "token" })
const Moment = Schema.NullOr(Schema.Int)

const File = Schema.fromJsonString(
  Schema.Struct({
    access_token: Secret,
    refresh_token: Schema.optionalKey(Schema.NullOr(Secret)),
    access_expires_at: Schema.optionalKey(Moment),
    refresh_expires_at: Schema.optionalKey(Moment),
    issuer: Text,
    client_id: Text,
    control_plane: Schema.optionalKey(Schema.NullOr(Text))
  })
)
const decode = Schema.decodeUnknownOption(File)

const longest = 131_072

const again = "Run ct-agent login again"
const wrong = (path: string, what: string) => new StateUnusable({ path, detail: `${what}. ${again}.` })

/** The content of a file that only this user owns and may read; undefined if it does not exist. */
const ownBytes = Effect.fnUntraced(
  function* (path: string) {
    const fs = yield* FileSystem.FileSystem
    const file = yield* fs.open(path, { flag: "r", noFollow: process.platform !== "win32" })
    const { mode, size, type, uid } = yield* file.stat
    const me = process.getuid?.()
    if (type !== "File") return yield* wrong(path, "it is no file")
    if (me !== undefined && Option.isSome(uid) && uid.value !== me)
      return yield* wrong(path, "another user owns it, so it is not used. Remove it")
    if (me !== undefined && (mode & 0o077) !== 0)
      return yield* new StateUnusable({
        path,
        detail: `others can read it, so it is not used. ${again}; what stood in it may be known to them.`
      })
    if (size > longest) return yield* wrong(path, "it is too long for a stored login")
    return Number(size) === 0
      ? new Uint8Array()
      : Option.getOrElse(yield* file.readAlloc(Number(size)), () => new Uint8Array())
  },
  Effect.scoped,
  Effect.catchReason("PlatformError", "NotFound", () => Effect.undefined),
  (reading, path) =>
    Effect.mapError(reading, (error) => (error instanceof StateUnusable ? error : unusable(path)(error)))
)

/** The login in this file; undefined if there is no file. Fails if the file cannot be used. */
export const read = Effect.fn("StoredLogin.read")(function* (path: string) {
  const bytes = yield* ownBytes(path)
  if (bytes === undefined) return undefined
  const found = Option.getOrUndefined(decode(new TextDecoder().decode(bytes)))
  if (found === undefined) return yield* wrong(path, "it holds no login")
  const login: StoredLogin = {
    accessToken: found.access_token,
    refreshToken: found.refresh_token ?? undefined,
    accessExpiresAt: found.access_expires_at ?? undefined,
    refreshExpiresAt: found.refresh_expires_at ?? undefined,
    issuer: found.issuer,
    clientId: found.client_id,
    controlPlane: found.control_plane ?? undefined
  }
  return login
})

const text = (login: StoredLogin) =>
  `${JSON.stringify(
    {
      access_token: Redacted.value(login.accessToken),
      refresh_token: login.refreshToken === undefined ? null : Redacted.value(login.refreshToken),
      access_expires_at: login.accessExpiresAt ?? null,
      refresh_expires_at: login.refreshExpiresAt ?? null,
      issuer: login.issuer,
      client_id: login.clientId,
      ...(login.controlPlane === undefined ? {} : { control_plane: login.controlPlane })
    },
    undefined,
    2
  )}\n`

/** Replaces the file. Creates the folder, accessible only to this user, if needed. */
export const write = Effect.fn("StoredLogin.write")(function* (path: string, login: StoredLogin) {
  yield* PrivateFile.folder(dirname(path))
  yield* PrivateFile.replaceAll([{ path, bytes: new TextEncoder().encode(text(login)) }])
})

/** Removes it. */
export const forget = (path: string) => PrivateFile.remove(path)

/** Seconds that a token must still be good for when it is used. */
const margin = 30

/** Whether the access token can be used now. Not if its expiry is unknown. */
export const isFresh = ({ accessExpiresAt }: StoredLogin, now: number) =>
  accessExpiresAt !== undefined && accessExpiresAt - now > margin

/** Whether the identity provider may still issue another access token for it. */
export const isRefreshable = ({ refreshExpiresAt, refreshToken }: StoredLogin, now: number) =>
  refreshToken !== undefined && (refreshExpiresAt === undefined || refreshExpiresAt > now)

/** A sentence of another program, in one line and without secrets. */
export const quoted = (raw: string) => redact(raw.replace(/\p{Cc}+/gu, " ")).slice(0, 300)
