import * as Hex from "@catenet/crypto/Hex"
import * as GateSession from "@catenet/crypto/session/GateSession"
import * as PortalSession from "@catenet/crypto/session/PortalSession"
import * as Tokens from "@catenet/crypto/Tokens"
import { assert } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { type Runners, secret } from "./runner.ts"

export const sessions: Runners = {
  "gate-session": ({ input, expect }, suite) => {
    const expiresAt = BigInt(input.expires_at)
    const session = { host: input.host, identity: input.identity, expiresAt }
    const cookie = GateSession.seal(suite, secret(input.key), session)
    assert.strictEqual(cookie, expect.cookie)
    assert.strictEqual(cookie, `${expect.payload}.${expect.mac}`)
    const opened = GateSession.open(suite, secret(input.key), cookie, input.host, expiresAt - 1n)
    assert.deepStrictEqual(opened, Result.succeed(session))
  },
  "gate-check": ({ input, expect }, suite) => {
    const opened = GateSession.open(suite, secret(input.key), input.cookie, input.host, input.now)
    assert.strictEqual(Result.isSuccess(opened) ? opened.success.identity : null, expect?.identity ?? null)
  },
  "portal-session": ({ input, expect }, suite) => {
    const session = { subject: input.subject, expiresAt: BigInt(input.expires_at), email: input.email }
    const cookie = PortalSession.seal(suite, secret(input.key), session)
    assert.strictEqual(cookie, expect.cookie)
    assert.isTrue(cookie.startsWith(`${expect.payload}.`))
    const opened = PortalSession.open(suite, secret(input.key), cookie, session.expiresAt - 1n)
    assert.deepStrictEqual(opened, Result.succeed(session))
  },
  "share-token": ({ input, expect }, suite) => {
    const token = Tokens.urlText(secret(input.random_bytes))
    assert.strictEqual(Redacted.value(token), expect.token)
    assert.strictEqual(expect.token.length, expect.length)
    assert.strictEqual(Tokens.hashText(suite, token), expect.sha256_of_ascii_token)
    const raw = Result.getOrThrow(Tokens.fromUrlText(expect.token))
    assert.strictEqual(Hex.encode(suite.sha256(Redacted.value(raw))), expect.sha256_of_raw_bytes)
  }
}
