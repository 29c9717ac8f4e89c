/** `mcp gateway`: one MCP server, on stdin and stdout or HTTP, of all peers whose invite lines this user has taken up. */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Files } from "@catenet/platform/Files"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { ConfigProvider, Context, Effect, Layer, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { homedir } from "node:os"
import { join } from "node:path"
import type { Readable, Writable } from "node:stream"
import { QuicDial } from "../carrier/QuicDial.ts"
import * as GatewayPeer from "../channel/mcp/GatewayPeer.ts"
import type { GatewayClient } from "../channel/mcp/GatewaySession.ts"
import * as McpGateway from "../channel/mcp/McpGateway.ts"
import { PostQuantumPeers } from "../channel/session/PostQuantumPeers.ts"
import { UsageWrong } from "../Failure.ts"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import { Events } from "../observe/Events.ts"
import * as MemberSettings from "../settings/MemberSettings.ts"
import { Screen } from "../terminal/Screen.ts"
import * as Signals from "../terminal/Signals.ts"
import * as Channel from "./channel.ts"
import { nameOf } from "./mcpAdd.ts"

const folder = () => join(homedir(), ".ct-agent", "channels")

const contentsOf = (path: string) =>
  Effect.tryPromise({
    try: () => Files.readFile(path, "utf8"),
    catch: () => ConfigurationInvalid.of(path, "cannot be read", "name a file that ct-agent channel join has written")
  })

/** The files of this user's memberships that are for MCP clients, by name. */
const joined = Effect.gen(function* () {
  const names = yield* Effect.promise(() => Files.readdir(folder()).catch((): Array<string> => []))
  const files = names
    .filter((name) => name.endsWith(".env"))
    .toSorted()
    .map((name) => join(folder(), name))
  const found = yield* Effect.forEach(files, (file) =>
    Effect.map(contentsOf(file), (text) =>
      text.startsWith("# mcp\n") && /^CT_CHANNEL_ROLE=["']?initiate\b/mu.test(text) ? [file] : []
    )
  )
  return found.flat()
})

interface Peer {
  readonly name: string
  readonly settings: MemberSettings.MemberSettings
  readonly broker: Channel.Broker
}

/** Variables of this process are of one member at most, so only the files count. */
const settingsOf = Effect.fnUntraced(
  function* (file: string) {
    const settings = yield* MemberSettings.read(file)
    const { meeting, role } = settings
    if (meeting._tag !== "Broker" || role !== "initiate")
      return yield* ConfigurationInvalid.of(
        file,
        "does not begin sessions at an edge",
        "name the file of a member that initiates, with CT_CHANNEL_BROKER"
      )
    const peer: Peer = { name: nameOf(file, yield* contentsOf(file)), settings, broker: meeting }
    return peer
  },
  Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({})))
)

/** Two peers of one name would have the same tools. */
const distinct = (peers: ReadonlyArray<Peer>): ReadonlyArray<Peer> => {
  const taken = new Set<string>()
  return peers.map((peer) => {
    let name = peer.name
    for (let count = 2; taken.has(name); count++) name = `${peer.name}-${count}`
    taken.add(name)
    return { ...peer, name }
  })
}

const layerOf = ({ settings }: Peer) =>
  Layer.mergeAll(
    Events.layer(settings.stateDir),
    PostQuantumPeers.layer(settings.stateDir),
    QuicDial.layerWhere(MemberSettings.wantsQuic(settings.meeting))
  )

/** Starts the peer for a client. */
type Start = (client: GatewayClient) => Effect.Effect<GatewayPeer.GatewayPeer, never, AgentMetrics | Scope.Scope>

/** What each gateway of this process needs of the peer; a peer that cannot be tried is left out. */
const prepared = Effect.fnUntraced(
  function* (peer: Peer) {
    const context = Context.merge(yield* Effect.context<SecureRandom.SecureRandom>(), yield* Layer.build(layerOf(peer)))
    const open = yield* Effect.provideContext(Channel.opening(peer.settings, peer.broker), context)
    const start: Start = (client) => Effect.provideContext(GatewayPeer.make(peer.name, client, open), context)
    return [start]
  },
  (preparing, { name }) =>
    preparing.pipe(
      Effect.catch(({ message }) => Effect.as(Effect.logWarning(`${name} is left out: ${message}`), [] as Array<Start>))
    )
)

/** Serves over HTTP until a signal. */
const listen = Effect.fnUntraced(function* (
  port: number,
  serve: (stdin: Readable, stdout: Writable) => Effect.Effect<void, never, AgentMetrics>
) {
  const { fault } = yield* AgentMetrics
  const { open } = yield* Effect.promise(() => import("../mcp/GatewayEndpoint.ts"))
  const address = yield* open(port, serve, fault)
  yield* Effect.logWarning(`every program on this machine may call ${address}`)
  ;(yield* Screen).result(address)
  yield* Effect.never
})

interface Options {
  readonly files: ReadonlyArray<string>
  readonly http: number | undefined
}

export const gateway = ({ files, http }: Options) =>
  Effect.gen(function* () {
    if (http !== undefined && (http < 0 || http > 65_535))
      return yield* new UsageWrong({ detail: "--http takes a port from 1 to 65535, or 0 for a free one." })
    const named = files.length > 0 ? files : yield* joined
    if (named.length === 0)
      return yield* ConfigurationInvalid.of(
        "The gateway",
        "has no peer",
        "take up an invite line first (ct-agent channel join), or name the files of channels"
      )
    const peers = distinct(yield* Effect.forEach(named, settingsOf))
    const starts = (yield* Effect.forEach(peers, prepared)).flat()
    const serve = (stdin: Readable, stdout: Writable) =>
      McpGateway.serve((client) => Effect.forEach(starts, (start) => start(client)), stdin, stdout)
    const serving =
      http === undefined ? Effect.scoped(serve(process.stdin, process.stdout)) : Effect.scoped(listen(http, serve))
    yield* Effect.raceFirst(serving, Signals.first)
  }).pipe(Effect.scoped, Effect.provide([NodeFileSystem.layer, AgentMetrics.layer, SecureRandom.layerWebCrypto]))
