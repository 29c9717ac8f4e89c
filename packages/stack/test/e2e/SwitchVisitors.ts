/**
 * Visitors of a tunnel while its name turns green: so many new ones a second by turns over HTTP/1.1, HTTP/2 alone and WebSocket,
 * and one of each kind that came before and stays. What each was answered and which certificate it was shown is counted.
 */
import { dial, type Target } from "@catenet/testing/stack/e2e/Visitor"
import { request as httpRequest } from "node:http"
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2"
import { setTimeout as sleep } from "node:timers/promises"
import type { TLSSocket } from "node:tls"
import { type ClientOptions, WebSocket } from "ws"

const kinds = ["http1", "http2", "websocket"] as const
export type Kind = (typeof kinds)[number]

const protocol: Readonly<Record<Kind, string>> = { http1: "http/1.1", http2: "h2", websocket: "http/1.1" }

const patience = 30_000

const inTime = async <A>(asked: Promise<A>, what: string): Promise<A> => {
  const over = new AbortController()
  const late = sleep(patience, undefined, { signal: over.signal, ref: false }).then(() => {
    throw new Error(`${what}: no answer within ${patience} ms`)
  })
  late.catch(() => undefined)
  return Promise.race([asked, late]).finally(() => over.abort())
}

const http1 = (socket: TLSSocket, host: string) =>
  new Promise<string>((resolve, reject) => {
    const request = httpRequest(
      { createConnection: () => socket, headers: { host, connection: "close" } },
      (response) => {
        response.resume().once("end", () => resolve(String(response.statusCode)))
        response.once("error", reject)
      }
    )
    request.once("error", reject).end()
  })

const ask2 = (session: ClientHttp2Session) =>
  new Promise<string>((resolve, reject) => {
    const stream = session.request({ ":path": "/" })
    let status = "none"
    stream.once("response", (headers) => (status = String(headers[":status"])))
    stream.once("error", reject)
    stream.once("close", () => resolve(status))
    stream.resume()
  })

const session2 = (socket: TLSSocket, host: string) => {
  const session = connectHttp2(`https://${host}`, { createConnection: () => socket })
  session.on("error", () => undefined)
  return session
}

const openSocket = async (socket: TLSSocket, host: string) => {
  const client = new WebSocket(`ws://${host}/`, { createConnection: () => socket } as ClientOptions)
  client.on("error", () => undefined)
  await new Promise((resolve, reject) => client.once("open", resolve).once("error", reject))
  return client
}

const echoed = (client: WebSocket) =>
  new Promise<string>((resolve, reject) => {
    client.once("message", (data) => resolve((data as Buffer).toString() === "hello" ? "200" : "another echo"))
    client.once("close", () => reject(new Error("the WebSocket closed")))
    client.send("hello")
  })

const asks: Readonly<Record<Kind, (socket: TLSSocket, host: string) => Promise<string>>> = {
  http1,
  http2: (socket, host) => {
    const session = session2(socket, host)
    return ask2(session).finally(() => session.close())
  },
  websocket: async (socket, host) => {
    const client = await openSocket(socket, host)
    return echoed(client).finally(() => client.close())
  }
}

export interface Seen {
  /** How many were answered so, such as "http2 200". */
  readonly answers: Map<string, number>
  /** How many were shown the certificate, by its fingerprint. */
  readonly certificates: Map<string, number>
  /** Requests of those that stayed. */
  stayed: number
  /** New visitors a second, as they really came. */
  rate: number
}

const count = (counts: Map<string, number>, key: string) => void counts.set(key, (counts.get(key) ?? 0) + 1)

/** While visitors go on for so long. */
export const goOn = (seconds: number) => sleep(seconds * 1_000)

/** Visitors that come and stay until the signal; resolves when the last has been answered. */
export const visitors = async (target: Target, perSecond: number, signal: AbortSignal): Promise<Seen> => {
  const seen: Seen = { answers: new Map(), certificates: new Map(), stayed: 0, rate: 0 }
  const say = (kind: Kind, asked: Promise<string>) =>
    inTime(asked, kind).then(
      (status) => count(seen.answers, `${kind} ${status}`),
      (error: Error) => count(seen.answers, `${kind} ${error.message}`)
    )
  const enter = async (kind: Kind) => {
    const socket = await dial(target, { ALPNProtocols: [protocol[kind]] })
    socket.on("error", () => undefined)
    if (socket.alpnProtocol !== protocol[kind]) throw new Error(`${socket.alpnProtocol} was chosen`)
    count(seen.certificates, socket.getPeerX509Certificate()?.fingerprint256 ?? "none")
    return socket
  }
  const visit = (kind: Kind) =>
    say(
      kind,
      enter(kind).then((socket) => asks[kind](socket, target.host))
    )

  const stay = async () => {
    const session = session2(await enter("http2"), target.host)
    const client = await openSocket(await enter("websocket"), target.host)
    while (!signal.aborted) {
      await say("http2", ask2(session))
      await say("websocket", echoed(client))
      seen.stayed += 2
      await sleep(50)
    }
    session.close()
    client.close()
  }

  const begun = performance.now()
  const running = new Set<Promise<void>>([stay()])
  let came = 0
  while (!signal.aborted) {
    const due = Math.floor(((performance.now() - begun) / 1_000) * perSecond)
    for (; came < due; came++) {
      const one = visit(kinds[came % kinds.length] ?? "http1").finally(() => running.delete(one))
      running.add(one)
    }
    await sleep(5)
  }
  seen.rate = came / ((performance.now() - begun) / 1_000)
  await Promise.all(running)
  return seen
}
