/** `channel join`: redeems an invite link, makes this member's Noise key, and stores what `channel` needs, for this user only. */
import * as InviteLink from "@catenet/crypto/invite/InviteLink"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { homedir } from "node:os"
import { join as pathOf } from "node:path"
import * as JoinFolder from "../channel/invite/JoinFolder.ts"
import { StateUnusable, UsageWrong } from "../Failure.ts"
import { invocation } from "../Invocation.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as FolderLock from "../state/FolderLock.ts"
import * as PrivateFile from "../state/PrivateFile.ts"
import { Screen } from "../terminal/Screen.ts"

const text = (file: string, name: string, use: "mcp" | "server" | "variables") =>
  use === "mcp"
    ? JSON.stringify(
        {
          mcpServers: {
            [name]: {
              command: invocation()[0],
              args: [...invocation().slice(1), "channel", "mcp", "--config", file]
            }
          }
        },
        undefined,
        2
      )
    : use === "server"
      ? `ct-agent channel serve --mcp-command "COMMAND" --config ${file}`
      : `ct-agent channel --config ${file}`

/** The member that accepts has the MCP server, the one that initiates its clients. */
const usedAs = (contents: string) =>
  !contents.startsWith("# mcp\n") ? "variables" : /^CT_CHANNEL_ROLE=["']?accept\b/mu.test(contents) ? "server" : "mcp"

export const join = Effect.fn("join.join")(
  function* ({ link: given }: { readonly link: string }) {
    const screen = yield* Screen
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
    const { contents, file, id } = yield* JoinFolder.join(link, folder)
    screen.result(text(file, `catenet-${id.slice(0, 8)}`, usedAs(contents)))
  },
  Effect.scoped,
  Effect.provide([NodeFileSystem.layer, OutgoingHttp.layer, SecureRandom.layerWebCrypto])
)
