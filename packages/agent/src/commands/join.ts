/**
 * `channel join`: redeems an invite link, generates the member's Noise key, and stores what `channel` needs, for this user only.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import * as InviteLink from "@catenet/crypto/invite/InviteLink"
import { native } from "@catenet/crypto/native"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { homedir } from "node:os"
import { join as pathOf } from "node:path"
import * as JoinClient from "../channel/invite/JoinClient.ts"
import { StateUnusable, UsageWrong } from "../Failure.ts"
import { mcpEntry } from "../Invocation.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as FolderLock from "../state/FolderLock.ts"
import * as PrivateFile from "../state/PrivateFile.ts"
import { Screen } from "../terminal/Screen.ts"
import * as McpAdd from "./mcpAdd.ts"

/**
 * This user's memberships, one file each, and the keys of unfinished joins beside them: stored before use, so that the same line
 * completes an interrupted join.
 */
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

const redeem = Effect.fnUntraced(function* (link: InviteLink.InviteLink, file: string, pending: string) {
  const { again, noiseKey, seed } = yield* ownKeys(pending)
  const membership = yield* JoinClient.membership(link, seed)
  yield* JoinClient.redeem(link, membership, noiseKey, again)
  const values = [
    ...membership.values,
    ["CT_CHANNEL_NOISE_KEY", Hex.encode(Redacted.value(noiseKey))] as const,
    ["CT_AGENT_STATE_DIR", file.replace(/\.env$/u, "")] as const
  ]
  const head = membership.name === undefined ? `# ${membership.use}` : `# ${membership.use}\n# name: ${membership.name}`
  const contents = `${head}\n${values.map(([name, value]) => `${name}=${value}\n`).join("")}`
  yield* PrivateFile.replaceAll([{ path: file, bytes: new TextEncoder().encode(contents) }])
  return contents
})

/** Redeems the link, unless that was done here before. One at a time works in a folder. */
export const enterFolder = Effect.fn("join.join")(function* (link: InviteLink.InviteLink, folder: string) {
  const id = Hex.encode(native.sha256(Redacted.value(link.token))).slice(0, 16)
  const file = pathOf(folder, `${id}.env`)
  const pending = pathOf(folder, `${id}.keys`)
  const known = yield* PrivateFile.read(file)
  const contents = known === undefined ? yield* redeem(link, file, pending) : new TextDecoder().decode(known)
  // Including variables of a join that was interrupted after it had stored the membership.
  yield* PrivateFile.remove(pending)
  return { id, file, contents }
})

const text = (file: string, name: string, use: "mcp" | "server" | "variables") =>
  use === "mcp"
    ? JSON.stringify({ mcpServers: { [name]: mcpEntry(file) } }, undefined, 2)
    : use === "server"
      ? `ct-agent channel serve --mcp-command "COMMAND" --config ${file}`
      : `ct-agent channel --config ${file}`

/** The member that accepts has the MCP server, the one that initiates its clients. */
const usedAs = (contents: string) =>
  !contents.startsWith("# mcp\n") ? "variables" : /^CT_CHANNEL_ROLE=["']?accept\b/mu.test(contents) ? "server" : "mcp"

interface Options {
  readonly link: string
  /** The MCP client whose file gets the entry. */
  readonly client: string | undefined
  readonly yes: boolean
}

export const join = Effect.fn("join.join")(
  function* ({ client, link: given, yes }: Options) {
    const screen = yield* Screen
    if (client !== undefined) yield* McpAdd.known(client)
    // The list of processes shows the arguments to all users of the machine, and the link is one of them.
    process.title = "ct-agent channel join"
    const link = InviteLink.read(given)
    if (link === undefined)
      return yield* new UsageWrong({
        detail:
          "This is no invite link. Copy all of it: it is one word that has /join# in it and ends with 86 characters."
      })
    const folder = pathOf(homedir(), ".ct-agent", "channels")
    yield* PrivateFile.folder(folder)
    if (!(yield* FolderLock.take(folder, ".join.lock")))
      return yield* new StateUnusable({
        path: folder,
        detail: "another ct-agent channel join is running. Give the line again when it has ended."
      })
    const { contents, file } = yield* enterFolder(link, folder)
    const use = usedAs(contents)
    if (client !== undefined && use !== "mcp")
      return yield* new UsageWrong({
        detail: `You have joined, but this member is no server for ${client}. Its variables are in ${file}.`
      })
    if (client !== undefined) return yield* McpAdd.addFile({ client, name: undefined, file: undefined, yes }, file)
    screen.result(text(file, McpAdd.nameOf(file, contents), use))
    if (use === "mcp") screen.log(`To write it into a client's file: ct-agent mcp add claude --config ${file}`)
  },
  Effect.scoped,
  Effect.provide([NodeFileSystem.layer, OutgoingHttp.layer, SecureRandom.layerWebCrypto])
)
