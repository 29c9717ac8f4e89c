/**
 * The routing token of a mesh tunnel, which the capability does not hold: a private file beside the origin key. It is hex with
 * a line end, so that it is not taken for a key where the origin key lies among the retired ones.
 */
import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
import { Effect, Redacted, Result } from "effect"
import { StateUnusable } from "../Failure.ts"
import * as KeyFile from "../state/KeyFile.ts"
import type * as PrivateFile from "../state/PrivateFile.ts"

const placeOf = (originKey: string) => `${originKey}.token`

/** What is to be written for the agents of this origin key. */
export const content = (originKey: string, token: Redacted.Redacted<Uint8Array>): PrivateFile.Content => ({
  path: placeOf(originKey),
  bytes: new TextEncoder().encode(`${Redacted.value(TokenEncoding.hexText(token))}\n`)
})

/** The stored token; undefined when there is none yet. Another file is not taken for one. */
export const read = Effect.fn("RoutingTokenFile.read")(function* (originKey: string) {
  const path = placeOf(originKey)
  const bytes = yield* KeyFile.read(path)
  if (bytes === undefined || bytes.length === 0) return undefined
  const token = TokenEncoding.fromHexText(new TextDecoder().decode(bytes).trim())
  if (Result.isSuccess(token)) return token.success
  return yield* new StateUnusable({
    path,
    detail: "it is not a routing token of 64 hex characters. Remove it, and set CT_AGENT_TOKEN to the tunnel's."
  })
})
