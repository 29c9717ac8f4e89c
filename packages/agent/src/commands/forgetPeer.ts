/** `channel forget-peer`: lets a peer join without the post-quantum key exchange that it has used before. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect } from "effect"
import { homedir } from "node:os"
import { join } from "node:path"
import * as PostQuantumPeers from "../channel/session/PostQuantumPeers.ts"
import { UsageWrong } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import * as Variables from "../settings/Variables.ts"
import { Screen } from "../terminal/Screen.ts"

export const forgetPeer = Effect.fn("forgetPeer")(function* ({ peer }: { readonly peer: string }) {
  const name = peer.toLowerCase()
  if (!/^(?:[0-9a-f]{64}|.+:\d+|wss?:\/\/.+)$/.test(name))
    return yield* new UsageWrong({
      detail:
        "A peer is named by its key, 64 hex digits, and an edge by its address. Copy it from the message that refused the peer."
    })
  const { stateDir = join(homedir(), ".ct-agent") } = yield* EnvironmentFile.read(
    yield* configFile,
    Variables.channelState
  )
  const { result } = yield* Screen
  result(
    (yield* PostQuantumPeers.forget(stateDir, name))
      ? `${name} may be met without post-quantum key exchange until it uses it again.`
      : `${name} is not among the peers and edges that have used post-quantum key exchange. Nothing was changed.`
  )
}, Effect.provide(NodeFileSystem.layer))
