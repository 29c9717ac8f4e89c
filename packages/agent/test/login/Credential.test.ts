import { makeHome } from "@catenet/testing/agent/Agent"
import { files, Steps } from "@catenet/testing/agent/Steps"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, type FileSystem, Redacted, References, Result } from "effect"
import { TestClock } from "effect/testing"
import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import * as Credential from "../../src/login/Credential.ts"
import * as StoredLogin from "../../src/login/StoredLogin.ts"
import * as StubProvider from "../harness/StubProvider.ts"

/** How many stored logins are changed at random. */
const mutated = Number(process.env["CT_MUTATED_LOGINS"] ?? 500)

const home = Effect.map(
  Effect.acquireRelease(Effect.promise(makeHome), (made) => Effect.promise(() => made[Symbol.asyncDispose]())),
  ({ path }) => path
)

const login: StoredLogin.StoredLogin = {
  accessToken: Redacted.make("access-0"),
  refreshToken: Redacted.make("refresh-0"),
  accessExpiresAt: 300,
  refreshExpiresAt: 1800,
  issuer: "https://idp.example/realms/demo",
  clientId: "ct-agent-cli",
  controlPlane: "https://portal.example"
}

/** A source whose stored login is in this folder, with the file's own text when one is given. */
const sourceIn = (folder: string, more: Partial<Parameters<typeof Credential.resolve>[0]> = {}) => ({
  token: undefined,
  tokenFile: undefined,
  stored: join(folder, "login", "oidc-token.json"),
  ...more
})

const away = StubProvider.layer(() => ({ status: 503, body: "" }))
const run = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(Effect.provide(NodeFileSystem.layer), Effect.provideService(References.MinimumLogLevel, "None"))

const tokenOf = (source: Parameters<typeof Credential.resolve>[0], provider: typeof away) =>
  Effect.result(Effect.map(Credential.resolve(source), Redacted.value)).pipe(Effect.provide(provider))

const success = <A, E>(result: Result.Result<A, E>) =>
  Result.isSuccess(result) ? result.success : assert.fail(JSON.stringify(result.failure))
const failure = <A, E>(result: Result.Result<A, E>) =>
  Result.isFailure(result) ? result.failure : assert.fail(JSON.stringify(result.success))

describe("the bearer token", () => {
  it.effect("is that of the variable, else that of its file at every use, else that of the stored login", () =>
    Effect.gen(function* () {
      const folder = yield* home
      const tokenFile = join(folder, "token")
      const source = sourceIn(folder, { tokenFile })
      yield* StoredLogin.write(source.stored, login)
      const use = tokenOf(source, away)
      const state = Credential.stateOf(source)
      assert.strictEqual(yield* Credential.stateOf({ ...source, token: Redacted.make("given") }), "env")
      assert.strictEqual(success(yield* tokenOf({ ...source, token: Redacted.make("given") }, away)), "given")
      writeFileSync(tokenFile, " of the file\n")
      assert.deepStrictEqual([success(yield* use), yield* state], ["of the file", "env"])
      writeFileSync(tokenFile, "renewed")
      assert.strictEqual(success(yield* use), "renewed")
      writeFileSync(tokenFile, " \n")
      assert.deepStrictEqual([success(yield* use), yield* state], ["access-0", "stored"])
    }).pipe(Effect.scoped, run)
  )

  it.live("is not that of the stored login while its file cannot be read: that may pass", () =>
    Effect.gen(function* () {
      const folder = yield* home
      const source = sourceIn(folder, { tokenFile: join(folder, "absent") })
      yield* StoredLogin.write(source.stored, { ...login, accessExpiresAt: 4_102_444_800 })
      const { kind, reason } = failure(yield* tokenOf(source, away))
      assert.strictEqual(kind, "passing")
      assert.include(reason, "CT_OIDC_TOKEN_FILE")
      assert.strictEqual(yield* Credential.stateOf(source), "env")
    }).pipe(Effect.scoped, run)
  )
})

describe("a stored login", () => {
  it.effect("is one of five states, and counts as good while 30 seconds are left", () =>
    Effect.gen(function* () {
      const folder = yield* home
      const source = sourceIn(folder)
      yield* TestClock.setTime(1_000_000)
      const withEnds = (accessExpiresAt: number | undefined, refreshExpiresAt?: number, refresh = true) => ({
        ...login,
        accessExpiresAt,
        refreshExpiresAt,
        refreshToken: refresh ? login.refreshToken : undefined
      })
      assert.strictEqual(yield* Credential.stateOf(source), "none")
      for (const [stored, state] of [
        [withEnds(1031), "stored"],
        [withEnds(1031, undefined, false), "stored"],
        [withEnds(1030), "stored-expired-refreshable"],
        [withEnds(undefined), "stored-expired-refreshable"],
        [withEnds(1030, 1001), "stored-expired-refreshable"],
        [withEnds(1030, 1000), "stored-expired"],
        [withEnds(1030, undefined, false), "stored-expired"],
        [withEnds(undefined, undefined, false), "stored-expired"]
      ] as const) {
        yield* StoredLogin.write(source.stored, stored)
        assert.strictEqual(yield* Credential.stateOf(source), state, JSON.stringify(stored))
        const used = yield* tokenOf(source, away)
        if (state === "stored") assert.strictEqual(success(used), "access-0")
        else assert.strictEqual(failure(used).kind, state === "stored-expired" ? "refused" : "passing")
      }
      const missing = failure(yield* tokenOf(sourceIn(join(folder, "empty")), away))
      assert.include(missing.reason, "ct-agent login")
      assert.include(missing.reason, "CT_OIDC_TOKEN_FILE")
    }).pipe(Effect.scoped, run)
  )

  it.effect("is refreshed and stored before it is used, and keeps its refresh token when it gets no other", () =>
    Effect.gen(function* () {
      const source = sourceIn(yield* home)
      yield* StoredLogin.write(source.stored, { ...login, accessExpiresAt: 0 })
      const given: Array<string> = []
      const provider = StubProvider.layer(({ form }) => {
        given.push(form.get("refresh_token") ?? "")
        assert.strictEqual(form.get("client_id"), "ct-agent-cli")
        const number = given.length
        return {
          status: 200,
          body: { access_token: `access-${number}`, ...(number === 2 ? { refresh_token: "refresh-2" } : {}) }
        }
      })
      for (const number of [1, 2, 3]) assert.strictEqual(success(yield* tokenOf(source, provider)), `access-${number}`)
      assert.deepStrictEqual(given, ["refresh-0", "refresh-0", "refresh-2"])
      const text = readFileSync(source.stored, "utf8")
      assert.deepStrictEqual(JSON.parse(text), {
        access_token: "access-3",
        refresh_token: "refresh-2",
        access_expires_at: null,
        refresh_expires_at: null,
        issuer: login.issuer,
        client_id: login.clientId,
        control_plane: login.controlPlane
      })
      assert.include(text, '{\n  "access_token"')
      assert.strictEqual(statSync(source.stored).mode & 0o777, 0o600)
      assert.strictEqual(statSync(join(source.stored, "..")).mode & 0o777, 0o700)
    }).pipe(Effect.scoped, run)
  )

  it.live("is refreshed once by those who need it at the same time", () =>
    Effect.gen(function* () {
      const source = sourceIn(yield* home)
      yield* StoredLogin.write(source.stored, { ...login, accessExpiresAt: 0, refreshExpiresAt: undefined })
      let asked = 0
      const provider = StubProvider.layer(() => ({
        status: ++asked === 1 ? 200 : 400,
        body: asked === 1 ? { access_token: "access-1", expires_in: 300 } : { error: "invalid_grant" }
      }))
      const users = Array.from({ length: 6 }, () => tokenOf(source, provider))
      const given = yield* Effect.all(users, { concurrency: "unbounded" })
      assert.deepStrictEqual(given.map(success), Array(6).fill("access-1"))
      assert.strictEqual(asked, 1)
    }).pipe(Effect.scoped, run)
  )

  it.effect("whose refresh the provider refuses has ended for every process; silence ends nothing", () =>
    Effect.gen(function* () {
      const source = sourceIn(yield* home)
      yield* StoredLogin.write(source.stored, { ...login, accessExpiresAt: 0 })
      const before = readFileSync(source.stored, "utf8")
      for (const said of [
        { status: 500, body: "" },
        { status: 429, body: "" },
        { status: 200, body: "[]" }
      ]) {
        const { kind } = failure(
          yield* tokenOf(
            source,
            StubProvider.layer(() => said)
          )
        )
        assert.strictEqual(kind, "passing")
        assert.strictEqual(readFileSync(source.stored, "utf8"), before)
        assert.strictEqual(yield* Credential.stateOf(source), "stored-expired-refreshable")
      }
      const refuses = StubProvider.layer(() => ({ status: 400, body: { error: "invalid_grant" } }))
      const { kind, reason } = failure(yield* tokenOf(source, refuses))
      assert.strictEqual(kind, "refused")
      assert.include(reason, "ct-agent login")
      assert.strictEqual(yield* Credential.stateOf(source), "stored-expired")
    }).pipe(Effect.scoped, run)
  )

  it.effect("in a file that others own, read or can redirect is not used, and is not overwritten by a refresh", () =>
    Effect.gen(function* () {
      const folder = yield* home
      const source = sourceIn(folder)
      const spoil: ReadonlyArray<readonly [string, string, () => void]> = [
        ["others can read it", "chmod", () => chmodSync(source.stored, 0o640)],
        ["symbolic link", "link", () => symlinkSync(join(folder, "elsewhere"), source.stored)],
        ...(process.getuid?.() === 0
          ? [["another user owns it", "chown", () => chownSync(source.stored, 65_534, 0)] as const]
          : [])
      ]
      for (const [words, kind, act] of spoil) {
        yield* StoredLogin.forget(source.stored)
        if (kind === "link") yield* StoredLogin.write(join(folder, "elsewhere"), login)
        else yield* StoredLogin.write(source.stored, login)
        act()
        assert.include(failure(yield* tokenOf(source, away)).reason, words)
        assert.strictEqual(yield* Credential.stateOf(source), "stored-expired")
      }
    }).pipe(Effect.scoped, run)
  )

  it.effect(`that was changed at random is used as it was, or refused, and never written: ${mutated} of them`, () =>
    Effect.gen(function* () {
      const source = sourceIn(yield* home)
      yield* StoredLogin.write(source.stored, login)
      const good = readFileSync(source.stored)
      const folder = join(source.stored, "..")
      let refused = 0
      let seed = 7
      const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
      for (let round = 0; round < mutated; round++) {
        const bytes = Buffer.from(good)
        const at = random(bytes.length)
        const kind = random(4)
        const changed =
          kind === 0
            ? bytes.subarray(0, at)
            : kind === 1
              ? Buffer.concat([bytes.subarray(0, at), Buffer.from([random(256)]), bytes.subarray(at)])
              : kind === 2
                ? Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random(20))])
                : bytes.fill(random(256), at, Math.min(bytes.length, at + 1 + random(3)))
        writeFileSync(source.stored, changed)
        const result = yield* Effect.result(StoredLogin.read(source.stored))
        if (Result.isSuccess(result)) assert.isString(result.success?.issuer)
        else {
          refused++
          assert.strictEqual(result.failure._tag, "StateUnusable")
          assert.notMatch(result.failure.message, /access-0|refresh-0/u)
        }
        if (round % 100 === 0) assert.isTrue(readFileSync(source.stored).equals(changed))
      }
      assert.isAbove(refused, mutated * 0.4)
      assert.deepStrictEqual(readdirSync(folder), ["oidc-token.json"])
    }).pipe(Effect.scoped, run)
  )

  for (const fate of ["killed", "disk full"] as const)
    it(`is the old one or the new one wherever a login is stopped while it is stored (${fate})`, async () => {
      let stopped = 0
      for (let at = 0; ; at++) {
        await using made = await makeHome()
        const path = join(made.path, "login", "oidc-token.json")
        const now = <A, E>(effect: Effect.Effect<A, E, FileSystem.FileSystem>) => Effect.runPromise(run(effect))
        await now(StoredLogin.write(path, login))
        const steps = new Steps(at, fate)
        const writing = StoredLogin.write(path, { ...login, accessToken: Redacted.make("access-1") })
        const outcome = await Promise.race([
          Effect.runPromiseExit(Effect.provide(writing, files(steps))),
          steps.reached.promise
        ])
        const found = await now(StoredLogin.read(path))
        const token = found === undefined ? assert.fail(`step ${at} lost the login`) : Redacted.value(found.accessToken)
        assert.include(["access-0", "access-1"], token)
        if (outcome !== "killed" && outcome._tag === "Success") assert.strictEqual(token, "access-1")
        await now(StoredLogin.write(path, { ...login, accessToken: Redacted.make("access-2") }))
        assert.isFalse(existsSync(`${path}.new`))
        if (steps.count <= at) break
        stopped++
      }
      assert.isAbove(stopped, 4)
    })
})
