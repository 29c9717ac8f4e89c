/**
 * The memberships of this user, a file each, and beside it the keys of a join that is not finished: stored before they are used, so
 * that the same line finishes what was cut.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import type { InviteLink } from "@catenet/crypto/invite/InviteLink"
import { native } from "@catenet/crypto/native"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { join as pathOf } from "node:path"
import { StateUnusable } from "../../Failure.ts"
import * as PrivateFile from "../../state/PrivateFile.ts"
import * as JoinClient from "./JoinClient.ts"

const keyLength = 32

/** The key that asks for the membership, and this member's Noise key. */
const ownKeys = Effect.fnUntraced(function* (path: string) {
  const stored = yield* PrivateFile.read(path)
  if (stored !== undefined && stored.length !== 2 * keyLength)
    return yield* new StateUnusable({ path, detail: "it is damaged. Delete it, and ask for another invite link." })
  const random = yield* SecureRandom.SecureRandom
  const bytes = stored ?? (yield* random.randomBytes(2 * keyLength))
  if (stored === undefined) yield* PrivateFile.replaceAll([{ path, bytes }])
  return {
    seed: Redacted.make(Bytes.copy(bytes, 0, keyLength)),
    noiseKey: Redacted.make(Bytes.copy(bytes, keyLength)),
    again: stored !== undefined
  }
})

const redeem = Effect.fnUntraced(function* (link: InviteLink, file: string, pending: string) {
  const { again, noiseKey, seed } = yield* ownKeys(pending)
  const membership = yield* JoinClient.membership(link, seed)
  yield* JoinClient.redeem(link, membership, noiseKey, again)
  const values = [
    ...membership.values,
    ["CT_CHANNEL_NOISE_KEY", Hex.encode(Redacted.value(noiseKey))] as const,
    ["CT_AGENT_STATE_DIR", file.replace(/\.env$/u, "")] as const
  ]
  const contents = `# ${membership.use}\n${values.map(([name, value]) => `${name}=${value}\n`).join("")}`
  yield* PrivateFile.replaceAll([{ path: file, bytes: new TextEncoder().encode(contents) }])
  return contents
})

/** Redeems the link, unless that was done here before. One at a time works in a folder. */
export const join = Effect.fn("JoinFolder.join")(function* (link: InviteLink, folder: string) {
  const id = Hex.encode(native.sha256(Redacted.value(link.token))).slice(0, 16)
  const file = pathOf(folder, `${id}.env`)
  const pending = pathOf(folder, `${id}.keys`)
  const known = yield* PrivateFile.read(file)
  const contents = known === undefined ? yield* redeem(link, file, pending) : new TextDecoder().decode(known)
  // Also those of a join that was cut after it had stored the membership.
  yield* PrivateFile.remove(pending)
  return { id, file, contents }
})
