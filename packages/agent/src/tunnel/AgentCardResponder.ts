/**
 * Answers the well-known path of an agent's card from a file, in the origin's place (CT_AGENT_CARD_FILE). The file is read for each
 * request, so that a card that is written anew is served at once; it is neither verified nor changed.
 */
import type { GateVerdict } from "@catenet/proxy/internal/GateVerdict"
import { Effect, FileSystem } from "effect"
import * as KeyFile from "../state/KeyFile.ts"

const wellKnown = "/.well-known/agent-card.json"

interface Answer {
  readonly status: 200 | 405 | 503
  readonly fields: Readonly<Record<string, string>>
  readonly body: Buffer
}

const reasons = { 200: "OK", 405: "Method Not Allowed", 503: "Service Unavailable" } as const

const sentence = (status: 405 | 503, text: string, more: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  fields: { "content-type": "text/plain; charset=utf-8", ...more },
  body: Buffer.from(`${text}\n`)
})

/** Anyone may read a card, also from a page of another site. */
const shown = (body: Buffer): Answer => ({
  status: 200,
  fields: {
    "content-type": "application/json",
    "access-control-allow-origin": "*",
    "cache-control": "max-age=60",
    "x-content-type-options": "nosniff"
  },
  body
})

/** Whether a request line or a `:path` names the card. */
const namesCard = (target: string) => {
  const path = target.replace(/^https?:\/\/[^/?#]*/iu, "")
  return path === wellKnown || path.startsWith(`${wellKnown}?`)
}

const requestLine = /^(?:\r?\n)*([A-Z_-]{1,32}) +([^ \r\n]+) +HTTP\/[\d.]+ *\r?\n/u
const fieldOf = (name: string) => new RegExp(`^${name}:(.*)\r?\n`, "gimu")

/**
 * The head for the origin, whose connection ends with the answer: so each request of HTTP/1 comes by here. A client that asks for
 * another protocol goes on in that.
 */
const once = (head: string, rest: Buffer) => {
  const tokens = [...head.matchAll(fieldOf("connection"))].flatMap(([, value = ""]) => value.split(","))
  const kept = tokens.map((token) => token.trim()).filter((token) => !/^(?:keep-alive|close|)$/iu.test(token))
  if (kept.some((token) => token.toLowerCase() === "upgrade")) return undefined
  const bare = head.replaceAll(fieldOf("connection"), "").replaceAll(fieldOf("keep-alive"), "")
  const [line = ""] = requestLine.exec(bare) ?? []
  const field = `connection: ${[...kept, "close"].join(", ")}\r\n`
  return Buffer.concat([Buffer.from(`${line}${field}${bare.slice(line.length)}`, "latin1"), rest])
}

/** What follows of a client's first bytes: an answer, or what the origin gets. */
type Follows = { readonly answer: Buffer } | { readonly origin: Buffer }

export interface AgentCardResponder {
  /**
   * If the edge terminates TLS: handles an HTTP/1 client by its whole first request head and the bytes after it, or anything else
   * by its first bytes.
   */
  readonly http1: (begun: Buffer) => Effect.Effect<Follows>
  /** If this agent terminates TLS: the handler of a request; undefined if the origin answers it. */
  readonly judge: (method: string, target: string) => Promise<GateVerdict> | undefined
}

/** Says now that the file cannot be read: it may be written later. */
export const make = Effect.fn("AgentCardResponder.make")(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const read = Effect.gen(function* () {
    const { size } = yield* fs.stat(path)
    return size > KeyFile.longest ? undefined : Buffer.from(yield* fs.readFile(path))
  }).pipe(Effect.orElseSucceed(() => undefined))
  if ((yield* read) === undefined)
    yield* Effect.logWarning(
      `CT_AGENT_CARD_FILE: ${path} cannot be read, or ${KeyFile.tooLong}. Write it with ct-agent channel agent-card.`
    )
  const answerTo = (method: string): Effect.Effect<Answer> =>
    method === "GET" || method === "HEAD"
      ? Effect.map(read, (card) =>
          card === undefined ? sentence(503, "This agent has no card at the moment.") : shown(card)
        )
      : Effect.succeed(sentence(405, "A card can be read only.", { allow: "GET, HEAD" }))

  const answering: AgentCardResponder = {
    http1: Effect.fnUntraced(function* (begun: Buffer) {
      const text = begun.toString("latin1")
      const end = /\r?\n\r?\n/u.exec(text)
      const [, method = "", target = ""] = requestLine.exec(text) ?? []
      if (end === null || method === "") return { origin: begun }
      const length = end.index + end[0].length
      if (!namesCard(target)) return { origin: once(text.slice(0, length), begun.subarray(length)) ?? begun }
      const { body, fields, status } = yield* answerTo(method)
      const lines = Object.entries({ ...fields, "content-length": String(body.length), connection: "close" })
      const head = `HTTP/1.1 ${status} ${reasons[status]}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`
      return { answer: method === "HEAD" ? Buffer.from(head) : Buffer.concat([Buffer.from(head), body]) }
    }),
    judge: (method, target) =>
      namesCard(target)
        ? Effect.runPromise(Effect.map(answerTo(method), (answer): GateVerdict => ({ _tag: "Responds", answer })))
        : undefined
  }
  return answering
})
