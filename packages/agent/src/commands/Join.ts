/** `channel join`: redeems an invite link, makes this member's Noise key, and stores what `channel` needs, for this user only. */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { homedir } from "node:os"
import { join as pathOf } from "node:path"
import * as InviteLink from "../channel/invite/InviteLink.ts"
import * as JoinCalls from "../channel/invite/JoinCalls.ts"
import { StateUnusable, UsageWrong } from "../Failure.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as PrivateFile from "../state/PrivateFile.ts"
import { Screen } from "../terminal/Screen.ts"

const keyLength = 32

/** The key that asks for the membership, and this member's Noise key: stored before they are used, for a start that is cut. */
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

const text = (file: string, name: string, use: "mcp" | "variables") =>
  use === "mcp"
    ? JSON.stringify(
        {
          mcpServers: {
            [name]: {
              command: process.execPath,
              args: [process.argv[1] ?? "ct-agent", "channel", "mcp", "--config", file]
            }
          }
        },
        undefined,
        2
      )
    : `ct-agent channel --config ${file}`

const usedAs = (contents: string) => (contents.startsWith("# mcp\n") ? "mcp" : "variables")

export const join = Effect.fn("Join.join")(
  function* ({ link: given }: { readonly link: string }) {
    const screen = yield* Screen
    const link = InviteLink.read(given)
    if (link === undefined)
      return yield* new UsageWrong({
        detail:
          "This is no invite link. Copy all of it: it is one word that has /join# in it and ends with 86 characters."
      })
    const folder = pathOf(homedir(), ".ct-agent", "channels")
    const id = Hex.encode(native.sha256(Redacted.value(link.token))).slice(0, 16)
    const file = pathOf(folder, `${id}.env`)
    const pending = pathOf(folder, `${id}.keys`)
    yield* PrivateFile.folder(folder)
    const known = yield* PrivateFile.read(file)
    const contents = known === undefined ? yield* redeemed(link, file, pending) : new TextDecoder().decode(known)
    screen.result(text(file, `catenet-${id.slice(0, 8)}`, usedAs(contents)))
  },
  Effect.provide([NodeFileSystem.layer, OutgoingHttp.layer, SecureRandom.layerWebCrypto])
)

const redeemed = Effect.fnUntraced(function* (link: InviteLink.InviteLink, file: string, pending: string) {
  const { again, noiseKey, seed } = yield* ownKeys(pending)
  const membership = yield* JoinCalls.membership(link, seed)
  yield* JoinCalls.redeem(link, membership, noiseKey, again)
  const values = [
    ...membership.values,
    ["CT_CHANNEL_NOISE_KEY", Hex.encode(Redacted.value(noiseKey))] as const,
    ["CT_AGENT_STATE_DIR", file.replace(/\.env$/u, "")] as const
  ]
  const contents = `# ${membership.use}\n${values.map(([name, value]) => `${name}=${value}\n`).join("")}`
  yield* PrivateFile.replaceAll([{ path: file, bytes: new TextEncoder().encode(contents) }])
  yield* PrivateFile.remove(pending)
  return contents
})
