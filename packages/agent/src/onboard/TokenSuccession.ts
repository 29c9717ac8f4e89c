/**
 * The routing token that took the place of the one this agent was given: an owner replaces it, and the end of a grant does. It
 * is kept in `routing-token` of the state folder, behind the hash of the given one, so that another token that is set later
 * is used as it is.
 */
import { native } from "@catenet/crypto/native"
import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
import { Data, Effect, Redacted, Result } from "effect"
import * as PrivateFile from "../state/PrivateFile.ts"

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

/** What the tunnel of this given token has now, as far as is known. What cannot be read is asked for again when it is needed. */
export const current = Effect.fn("TokenSuccession.current")(function* (stateDir: string, given: Token) {
  const kept = yield* Effect.orElseSucceed(read(stateDir), () => undefined)
  return kept?.given === TokenEncoding.hash(native, given) ? kept.token : given
})

/** Keeps the token that took the place of `old`, which was given or had itself taken the place of the given one. */
export const keep = Effect.fn("TokenSuccession.keep")(function* (stateDir: string, { old, token }: TokenReplaced) {
  const kept = yield* Effect.orElseSucceed(read(stateDir), () => undefined)
  const hashed = TokenEncoding.hash(native, old)
  const given = kept !== undefined && TokenEncoding.hash(native, kept.token) === hashed ? kept.given : hashed
  const text = `${given} ${Redacted.value(TokenEncoding.hexText(token))}\n`
  yield* PrivateFile.replaceAll([{ path: at(stateDir), bytes: new TextEncoder().encode(text) }])
})
