/** Connects a session to what the settings ask for, in this order: a call, a stream handler, tools, or stdin and stdout. */
import * as Hex from "@catenet/crypto/Hex"
import { countReads } from "@catenet/wire/transport/BufferMemory"
import { flushed } from "@catenet/wire/transport/Flushed"
import { Effect, Fiber, type FileSystem, type Scope } from "effect"
import type { Duplex } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { CallFailed, ErrorReplied } from "../../Failure.ts"
import type { AgentMetrics } from "../../observe/AgentMetrics.ts"
import type { Events } from "../../observe/Events.ts"
import type { Meeting, MemberSettings } from "../../settings/MemberSettings.ts"
import type { Screen } from "../../terminal/Screen.ts"
import * as BridgeTools from "../bridge/BridgeTools.ts"
import * as McpBackend from "../mcp/McpBackend.ts"
import * as McpServerProxy from "../mcp/McpServerProxy.ts"
import type { MessagesCut } from "../rpc/MessageReader.ts"
import * as RpcClient from "../rpc/RpcClient.ts"
import * as RpcServer from "../rpc/RpcServer.ts"
import * as ToolCalls from "../rpc/ToolCalls.ts"
import * as MemberTools from "../serve/MemberTools.ts"
import * as StreamHandler from "../serve/StreamHandler.ts"
import { SessionTermination } from "../session/ChannelFailure.ts"
import * as ChannelSession from "../session/ChannelSession.ts"
import { PeerRefused } from "../session/Peer.ts"
import * as OneShotCall from "./OneShotCall.ts"

// Connects a session with stdin and stdout. The end of stdin ends the session, once the peer has ended too.

/** Time for the peer to end after this side has. */
const drainMillis = 30_000

/**
 * Both directions, until both have ended. A person at a terminal does not end stdin, so there the peer's end is enough. The first
 * failure ends the other direction.
 */
const pipeStdio = Effect.fn("SessionHandler.join")(function* (stream: Duplex) {
  let lastReceived = 0
  const received = Effect.tryPromise({
    try: async (signal) => {
      const done = pipeline(stream, process.stdout, { end: false, signal })
      stream.on("data", (chunk: Uint8Array) => {
        lastReceived += chunk.length
      })
      countReads(stream)
      await done
      await flushed(process.stdout)
    },
    catch: SessionTermination.of
  })
  const sent = Effect.tryPromise({
    try: (signal) => {
      const done = pipeline(process.stdin, stream, { signal })
      countReads(process.stdin)
      return done
    },
    catch: SessionTermination.of
  })
  const silence = Effect.gen(function* () {
    let before = -1
    // The peer has ended, so only the reader of stdout can be slow.
    while (stream.readableEnded || lastReceived !== before) {
      before = lastReceived
      yield* Effect.sleep(drainMillis)
    }
    return yield* new SessionTermination({ why: `the peer said nothing for ${drainMillis / 1000} s and did not end` })
  })
  const receiving = yield* Effect.forkScoped(received)
  const sending = Effect.andThen(sent, Effect.raceFirst(Fiber.join(receiving), silence))
  return yield* process.stdin.isTTY
    ? Effect.raceFirst(Fiber.join(receiving), sending)
    : Effect.all([Fiber.join(receiving), sending], { concurrency: "unbounded", discard: true })
})

export interface SessionHandler {
  /** Whether it serves one peer after the other. */
  readonly isServing: boolean
  /** One session, to its end. */
  readonly run: (
    session: ChannelSession.ChannelSession
  ) => Effect.Effect<void, CallFailed | ErrorReplied | SessionTermination | MessagesCut | PeerRefused, Screen>
}

const closeDelay = "6 seconds"

/** A session that may still move to another way is kept for a while after the answer was printed. */
const delayed = (meeting: Meeting) =>
  meeting._tag === "Broker" && (meeting.node !== undefined || meeting.isUpgrading)
    ? Effect.sleep(closeDelay)
    : Effect.void

/** Time for a peer to continue after the command has ended: its data may still be in transit. */
const rawCloseBound = "10 seconds"

/** A process that ends discards unsent QUIC data; with TCP the operating system sends the rest. */
const underWay = ({ carriedBy }: ChannelSession.ChannelSession) =>
  Effect.suspend(() => (carriedBy().endsWith("quic") ? Effect.sleep("3 seconds") : Effect.void))

/** Raw bytes go both ways, whatever they mean: the peer must be allowed both. */
const rawly = <A, E, R>({ peerRights, stream }: ChannelSession.ChannelSession, join: Effect.Effect<A, E, R>) =>
  peerRights === "rw"
    ? Effect.andThen(
        // The bytes do not show whether they are complete.
        Effect.sync(() => stream.markEnd()),
        join
      )
    : Effect.fail(
        new PeerRefused({
          why: `its grant permits ${peerRights}, and a raw stream needs rw. Ask the operator of the channel for a grant with both rights.`
        })
      )

/** Whether a session of this kind is raw bytes. */
export const isRaw = ({ sessionHandler: { _tag } }: MemberSettings) => _tag === "Pipe" || _tag === "StreamHandler"

type Serve = Extract<MemberSettings["sessionHandler"], { readonly _tag: "Serve" }>

/** Serves tools to one peer after the other. */
const toolsOf = Effect.fnUntraced(function* (settings: MemberSettings, { confirm = [], mcpCommand }: Serve) {
  const { serving } = settings
  const own = [...(yield* MemberTools.make(serving)), ...(yield* BridgeTools.make(settings))]
  const more = mcpCommand === undefined ? undefined : yield* McpBackend.make(mcpCommand, serving.passes)
  const taken = new Set(own.map(({ name }) => name))
  const tools = more === undefined ? () => own : () => [...own, ...more.tools().filter(({ name }) => !taken.has(name))]
  let sessions = 0
  const calls = yield* ToolCalls.make(confirm, process.stdin)
  const callsOf = ({ peerHolder, peerKey }: ChannelSession.ChannelSession) =>
    calls.by(Hex.encode(peerHolder ?? peerKey))
  const inFrames = (stream: Duplex, line: string, session: ChannelSession.ChannelSession) =>
    McpServerProxy.serve(stream, {
      command: { line, service: "mcp", passes: serving.passes },
      own,
      caller: { noiseKey: session.peerKey, rights: session.peerRights },
      calls: callsOf(session),
      isWanted: () => sessions >= serving.concurrency
    })
  const serve = (session: ChannelSession.ChannelSession) =>
    Effect.andThen(
      RpcServer.serve(session.stream, {
        tools,
        caller: { noiseKey: session.peerKey, rights: session.peerRights },
        calls: callsOf(session),
        ...(more === undefined ? {} : { onToolsChanged: more.onChange, prepare: more.begin }),
        isWanted: () => sessions >= serving.concurrency,
        probe: () => session.stream.begin(),
        ...(mcpCommand === undefined ? {} : { inFrames: (stream: Duplex) => inFrames(stream, mcpCommand, session) })
      }),
      ChannelSession.close(session)
    )
  return {
    isServing: true,
    run: (session: ChannelSession.ChannelSession) =>
      Effect.suspend(() => {
        sessions++
        return Effect.ensuring(
          serve(session),
          Effect.sync(() => sessions--)
        )
      })
  }
})

/** Prepares what is needed before a peer is looked for. */
export const of = Effect.fn("SessionHandler.of")(function* (
  settings: MemberSettings
): Effect.fn.Return<SessionHandler, CallFailed, Scope.Scope | Events | AgentMetrics | FileSystem.FileSystem | Screen> {
  const { sessionHandler, meeting, serving } = settings
  switch (sessionHandler._tag) {
    case "CallService": {
      const text = yield* OneShotCall.input
      return {
        isServing: false,
        run: (session) =>
          OneShotCall.callService(RpcClient.make(session.stream), sessionHandler.service, text).pipe(
            Effect.andThen(delayed(meeting)),
            Effect.ensuring(ChannelSession.close(session))
          )
      }
    }
    case "Call":
      return {
        isServing: false,
        run: (session) =>
          OneShotCall.call(RpcClient.make(session.stream), sessionHandler.method, sessionHandler.params).pipe(
            Effect.andThen(delayed(meeting)),
            Effect.ensuring(ChannelSession.close(session))
          )
      }
    case "StreamHandler": {
      const command = { line: sessionHandler.command, service: sessionHandler.service, passes: serving.passes }
      return {
        isServing: true,
        run: (session) =>
          rawly(
            session,
            Effect.andThen(StreamHandler.join(session.stream, command), ChannelSession.close(session, rawCloseBound))
          )
      }
    }
    case "Serve":
      return yield* toolsOf(settings, sessionHandler)
    case "Pipe":
      return {
        isServing: false,
        run: (session) => rawly(session, Effect.andThen(Effect.scoped(pipeStdio(session.stream)), underWay(session)))
      }
  }
})
