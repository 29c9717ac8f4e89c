/** The platform's own sign-in over a database of a test, with the mail that it sends; it can be started again and again. */
import { until } from "@catenet/testing/Eventually"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { ConfigProvider, Context, Effect, Layer, Redacted } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type IdentityProvider, start } from "../../../idp/src/IdentityProvider.ts"
import type { RealmClient } from "../../../idp/src/Realm.ts"
import type { RealmOptions } from "../../../idp/src/RealmOptions.ts"
import { Settings } from "../../src/settings/Settings.ts"
import { SignInState } from "../../src/signin/SignInState.ts"
import * as Database from "../../src/store/Database.ts"
import { type Arrived, mailServer, roots } from "../notices/MailServer.ts"

export const publicUrl = "https://auth.example.test"
export const callback = "https://app.example.test/callback"
export const ada = "ada@example.test"

/** A folder whose realm has an owner with a password, from before there was a database. */
const folderWithRealm = Effect.acquireRelease(
  Effect.promise(async () => {
    const folder = mkdtempSync(join(tmpdir(), "catenet-signin-"))
    const idp = await start({ ...optionsOf(folder), users: [{ email: ada, password: "correct horse" }] })
    await idp.close()
    return folder
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const optionsOf = (folder: string, redirectUri = callback): RealmOptions => ({
  realm: "demo",
  host: "127.0.0.1",
  port: 0,
  folder,
  audience: "catenet",
  users: [],
  clients: [
    { clientId: "app", publicClient: true, standardFlowEnabled: true, redirectUris: [redirectUri] },
    { clientId: "cli", publicClient: true, directAccessGrantsEnabled: true }
  ]
})

const stateOf = (url: Redacted.Redacted, mail: string) =>
  Effect.map(
    Layer.build(
      Layer.fresh(
        SignInState.layer.pipe(
          Layer.provide([Layer.fresh(Database.layerClient), SecureRandom.layerWebCrypto]),
          Layer.provide(Settings.layer),
          Layer.provide(
            ConfigProvider.layer(
              ConfigProvider.fromUnknown({
                CT_CP_DATABASE_URL: Redacted.value(url),
                CT_CP_DATABASE_POOL: "2",
                CT_CP_SEAL_KEY: TestServer.sealKey,
                CT_CP_SMTP_URL: mail,
                CT_CP_SMTP_ROOTS: roots
              })
            )
          )
        )
      )
    ),
    (found) => Context.get(found, SignInState)
  )

/** A realm that can be started again and again, and the mail that it sends. */
export const platform = Effect.gen(function* () {
  const { serverUrl } = yield* TestDatabase
  const { arrived, url } = yield* mailServer("smtps")
  const folder = yield* folderWithRealm
  const running: { idp?: IdentityProvider } = {}
  yield* Effect.addFinalizer(() => Effect.promise(async () => running.idp?.close()))
  /** Behind `publicUrl`, or at its own address for an application elsewhere. */
  const restart = (redirectUri?: string) =>
    Effect.gen(function* () {
      yield* Effect.promise(async () => running.idp?.close())
      const { clients, mails, ...state } = yield* stateOf(serverUrl, url())
      const kept = { ...state, clients: clients<RealmClient>() }
      const idp = yield* Effect.promise(() =>
        start({
          ...optionsOf(folder, redirectUri),
          ...(redirectUri === undefined ? { publicUrl } : {}),
          state: kept,
          mailCode: mails.put,
          registration: { domains: ["new.test"] }
        })
      )
      running.idp = idp
      return idp
    })
  const origin = () => `http://127.0.0.1:${running.idp?.port ?? 0}`
  return { arrived, origin, restart }
})

export const mailTo = (arrived: ReadonlyArray<Arrived>, email: string, count = 1) =>
  Effect.map(
    until(
      Effect.sync(() => arrived.filter(({ to }) => to.includes(email))),
      ({ length }) => length >= count
    ),
    (mails) => mails.at(-1)?.text ?? ""
  )
export const codeOf = (mail: string) => (/^ {4}(\d{4} \d{4})\r?$/mu.exec(mail)?.[1] ?? "").replace(" ", "")
