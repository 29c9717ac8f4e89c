/**
 * The peers that have proved their keys in a hybrid key exchange, and the edges that have carried the offers of one: without it they are
 * refused until the owner says that this is right (`channel forget-peer`). Files in the state folder, read each time, so that the command
 * reaches a running member.
 */
import type { Name as KeyExchange, Policy } from "@catenet/crypto/admission/KeyExchange"
import * as Hex from "@catenet/crypto/Hex"
import { Context, Effect, type FileSystem, Layer, Option, Semaphore } from "effect"
import { join } from "node:path"
import * as FolderLock from "../../state/FolderLock.ts"
import * as PrivateFile from "../../state/PrivateFile.ts"
import { type Peer, PeerRefused } from "./Peer.ts"

/** Names that are remembered in a file; the one that was noted longest ago is dropped first. */
const maxNames = 4_096

type Known = Pick<Peer, "agreement" | "holder" | "noiseKey"> & { readonly edge?: string | undefined }

/** The holder, or the Noise key of a peer without one. */
const nameOf = ({ holder, noiseKey }: Known) => Hex.encode(holder ?? noiseKey)

const kinds = ["peers", "edges"] as const
type Kind = (typeof kinds)[number]

const pathIn = (stateDir: string, kind: Kind) => join(stateDir, `post-quantum-${kind}`)

const read = Effect.fnUntraced(function* (path: string) {
  const bytes = yield* PrivateFile.read(path)
  return new TextDecoder().decode(bytes).split("\n").filter(Boolean)
})

const write = Effect.fnUntraced(function* (path: string, names: ReadonlyArray<string>) {
  yield* PrivateFile.replaceAll([{ path, bytes: new TextEncoder().encode(names.map((name) => `${name}\n`).join("")) }])
})

const remove = Effect.fnUntraced(function* (path: string, name: string) {
  if (!(yield* read(path)).includes(name)) return false
  const others = Effect.map(read(path), (names) => names.filter((each) => each !== name))
  yield* FolderLock.holding(path)(Effect.flatMap(others, (names) => write(path, names)))
  return true
})

/** Removes the peer or the edge; false if it was not there. */
export const forget = Effect.fn("PostQuantumPeers.forget")((stateDir: string, name: string) =>
  Effect.map(
    Effect.forEach(kinds, (kind) => remove(pathIn(stateDir, kind), name)),
    (removed) => removed.includes(true)
  )
)

/** Several members of this user may share a state folder. */
const add = Effect.fnUntraced(function* (path: string, name: string) {
  if ((yield* read(path)).includes(name)) return
  const more = Effect.map(read(path), (names) => [...names.filter((each) => each !== name), name].slice(-maxNames))
  yield* FolderLock.holding(path)(Effect.flatMap(more, (names) => write(path, names)))
})

const make = (stateDir: string) =>
  Effect.map(Effect.context<FileSystem.FileSystem>(), (context) => {
    // The pairs of a room open their sessions at once; the lock between processes would make them wait by turns.
    const adding = Semaphore.makeUnsafe(1)
    return PostQuantumPeers.of({
      stateDir,
      isKnown: (kind, name) =>
        Effect.provideContext(
          Effect.map(read(pathIn(stateDir, kind)), (names) => names.includes(name)),
          context
        ),
      add: (kind, name) => adding.withPermits(1)(Effect.provideContext(add(pathIn(stateDir, kind), name), context))
    })
  })

export class PostQuantumPeers extends Context.Service<
  PostQuantumPeers,
  {
    readonly stateDir: string
    readonly isKnown: (kind: Kind, name: string) => Effect.Effect<boolean, { readonly message: string }>
    readonly add: (kind: Kind, name: string) => Effect.Effect<void, { readonly message: string }>
  }
>()("agent/channel/session/PostQuantumPeers") {
  /** Those of a member with this state folder. A process without the service remembers nothing. */
  static readonly layer = (stateDir: string) => Layer.effect(this, make(stateDir))
}

/**
 * The peer, refused where a remembered one or a remembered edge has lost its offer. Where the edge carries none, a remembered peer may
 * still use the exchange and must: the handshake shows it.
 */
export const check = Effect.fn("PostQuantumPeers.check")(function* <A extends Known>(
  peer: A,
  policy: Policy = "prefer"
) {
  const service = yield* Effect.serviceOption(PostQuantumPeers)
  const { agreement, edge } = peer
  if (Option.isNone(service) || agreement.pattern === "IKhfs" || policy === "off") return peer
  const { isKnown, stateDir } = service.value
  const refused = (why: string) => new PeerRefused({ why })
  const knows = (kind: Kind, name: string) => Effect.mapError(isKnown(kind, name), ({ message }) => refused(message))
  const allow = (name: string) => `allow it: CT_AGENT_STATE_DIR=${stateDir} ct-agent channel forget-peer ${name}`
  const isLate = agreement.isUnanswered && !agreement.isCarried
  if (isLate && edge !== undefined && (yield* knows("edges", edge)))
    return yield* refused(
      `the edge ${edge} has carried offers of post-quantum key exchange before and says nothing of them now. If its operator has ` +
        `gone back to an older program, ${allow(edge)}`
    )
  const name = nameOf(peer)
  if (!(yield* knows("peers", name))) return peer
  const why =
    "it has used post-quantum key exchange before and offers none now, or the edge has removed its offer. If its owner has turned it " +
    `off or replaced the program, ${allow(name)}`
  return isLate ? { ...peer, agreement: { ...agreement, required: why } } : yield* refused(why)
})

/** Remembers a peer that has proved its key in a hybrid key exchange, and the edge that has carried both offers unchanged. */
export const note = Effect.fn("PostQuantumPeers.note")(function* (peer: Known, keyExchange: KeyExchange) {
  const service = yield* Effect.serviceOption(PostQuantumPeers)
  if (Option.isNone(service) || keyExchange === "x25519") return
  const { add } = service.value
  const { agreement, edge } = peer
  const isCarried = edge !== undefined && agreement.pattern === "IKhfs"
  yield* add("peers", nameOf(peer)).pipe(
    Effect.andThen(isCarried ? add("edges", edge) : Effect.void),
    Effect.catch(({ message }) =>
      Effect.logWarning(`the peer's post-quantum key exchange cannot be remembered: ${message}`)
    )
  )
})
