/**
 * One session in frames between a local MCP client and its peer. Servers count their requests from the same number, so the ids of
 * those behind the first session are mapped: an answer to a server that is gone must not reach another one.
 */
import type * as Json from "@catenet/crypto/Json"
import { ended as sentence } from "@catenet/domain/values/Sentence"
import { Deferred, Effect } from "effect"
import type { Duplex } from "node:stream"
import * as Notification from "../rpc/Notification.ts"
import { isObject, type JsonObject } from "../rpc/Tool.ts"
import { FramedMessages, type PeerEnd } from "./FramedMessages.ts"
import { memberOf } from "./McpResult.ts"
import { bytesOf, isResponse, keyOf } from "./StdioTransport.ts"

interface Listeners {
  /** A message for the client. */
  readonly onMessage: (line: Uint8Array) => void
  /** The client's request of this id has its answer. */
  readonly onAnswer: (id: Json.Json) => void
  readonly onDrain: () => void
  /** `why` is a sentence. */
  readonly onEnd: (why: string) => void
}

export class ClientSession {
  readonly messages: FramedMessages
  readonly #ended = Deferred.makeUnsafe<PeerEnd>()
  readonly ended: Effect.Effect<PeerEnd> = Deferred.await(this.#ended)
  /** Ids of the peer's requests that wait for the client, by the ids that the client sees. */
  readonly #theirs = new Map<string, Json.Json>()
  /** Own requests. */
  readonly #mine = new Map<string, (answer: JsonObject) => void>()
  readonly #number: number
  readonly #onAnswer: Listeners["onAnswer"]

  /** `number`: how many sessions came before it. */
  constructor(stream: Duplex, number: number, { onAnswer, onDrain, onEnd, onMessage }: Listeners) {
    this.#number = number
    this.#onAnswer = onAnswer
    this.messages = new FramedMessages(stream, {
      onMessage: (message, line) => {
        const passed = this.#received(message, line)
        if (passed !== undefined) onMessage(passed)
      },
      onDrain,
      onEnd: (end) => {
        const what = end.isLost ? "The session with the peer was lost" : "The session with the peer has ended"
        onEnd(sentence(`${what}: ${end.why}`))
        Deferred.doneUnsafe(this.#ended, Effect.succeed(end))
      }
    })
  }

  /** Asks the peer at once, without the client; the answer never comes if the session ends. */
  ask(id: Json.Json, line: Uint8Array): Effect.Effect<JsonObject> {
    const answer = Deferred.makeUnsafe<JsonObject>()
    this.#mine.set(keyOf(id), (message) => void Deferred.doneUnsafe(answer, Effect.succeed(message)))
    this.messages.send(line)
    return Deferred.await(answer)
  }

  /** Sends a message of the client, unless it answers the server of another session. */
  send(message: JsonObject, line: Uint8Array): void {
    const id = memberOf(message, "id")
    if (id === undefined || !isResponse(message)) return this.messages.send(line)
    const original = this.#theirs.get(keyOf(id))
    if (original === undefined) return
    this.#theirs.delete(keyOf(id))
    this.messages.send(this.#number === 0 ? line : bytesOf({ ...message, id: original }))
  }

  #mapped(id: Json.Json): Json.Json {
    return this.#number === 0 ? id : `${this.#number}:${keyOf(id)}`
  }

  /** A message of the peer as the client gets it, if it gets it. */
  #received(message: JsonObject, line: Uint8Array): Uint8Array | undefined {
    const id = memberOf(message, "id")
    if (id === undefined) {
      const params = memberOf(message, "params")
      const requestId = memberOf(params, "requestId")
      const isCancelled = memberOf(message, "method") === Notification.cancelled && requestId !== undefined
      if (this.#number === 0 || !isCancelled || !isObject(params)) return line
      return bytesOf({ ...message, params: { ...params, requestId: this.#mapped(requestId) } })
    }
    if (!isResponse(message)) {
      this.#theirs.set(keyOf(this.#mapped(id)), id)
      return this.#number === 0 ? line : bytesOf({ ...message, id: this.#mapped(id) })
    }
    const own = this.#mine.get(keyOf(id))
    if (own === undefined) {
      this.#onAnswer(id)
      return line
    }
    this.#mine.delete(keyOf(id))
    return void own(message)
  }
}
