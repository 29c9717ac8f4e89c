/**
 * A load generator that costs little beside what it measures: HTTP/1.1 on plain sockets, one request in flight on each
 * kept-alive connection. It understands answers with a `Content-Length` and no others.
 */
import { connect } from "node:net"

export interface Load {
  readonly port: number
  readonly connections: number
  readonly millis: number
  /** The bytes of the next request on a connection. */
  readonly next: (connection: number) => string
  /** The only status that counts; any other ends the run. */
  readonly status: number
}

export interface Answered {
  readonly perSecond: number
  /** Requests that were answered in all. */
  readonly count: number
  /** Milliseconds of each request. */
  readonly latencies: ReadonlyArray<number>
}

export const request = (
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown
): string => {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const all = {
    host: "127.0.0.1",
    ...headers,
    ...(text === undefined ? {} : { "content-type": "application/json", "content-length": String(text.length) })
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${text ?? ""}`
}

const length = /\r\ncontent-length: *(\d+)\r\n/i

/** The size of the whole answer at the start of the text, once its head is there. */
const sizeOf = (text: string): number | Error | undefined => {
  const head = text.indexOf("\r\n\r\n")
  if (head === -1) return undefined
  const found = length.exec(text)
  if (found === null || found.index > head) return new Error(`an answer without a length: ${text.slice(0, 300)}`)
  return head + 4 + Number(found[1])
}

interface Connection {
  /** Sends a request, and gives the whole answer; one at a time. */
  readonly exchange: (text: string) => Promise<string>
  readonly close: () => void
}

const open = (port: number): Connection => {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true }).setEncoding("latin1")
  let waiting: PromiseWithResolvers<string> | undefined
  let text = ""
  socket.on("data", (chunk: string) => {
    text = text === "" ? chunk : text + chunk
    const size = sizeOf(text)
    if (size instanceof Error) return void socket.destroy(size)
    if (size === undefined || text.length < size) return
    const answer = text.slice(0, size)
    text = text.slice(size)
    waiting?.resolve(answer)
  })
  socket.once("error", (cause) => waiting?.reject(cause))
  socket.once("close", () => waiting?.reject(new Error("a connection was closed before its answer")))
  return {
    exchange: (text) => {
      waiting = Promise.withResolvers()
      socket.write(text, "latin1")
      return waiting.promise
    },
    close: () => void socket.end()
  }
}

/**
 * Opens the connections and asks on each of them once, which does not count: a server accepts them one after the other,
 * so the last would wait for all others. What it gives keeps every connection busy for the time, and closes them.
 */
export const opened = async ({ connections, millis, next, port, status }: Load): Promise<() => Promise<Answered>> => {
  const wanted = `HTTP/1.1 ${status} `
  const all = Array.from({ length: connections }, () => open(port))
  const ask = async ({ exchange }: Connection, place: number) => {
    const answer = await exchange(next(place))
    if (!answer.startsWith(wanted)) throw new Error(`not a ${status}: ${answer.slice(0, 2000)}`)
  }
  await Promise.all(all.map(ask))
  return async () => {
    const latencies: Array<number> = []
    const from = performance.now()
    const until = from + millis
    const keepBusy = async (connection: Connection, place: number) => {
      for (let sentAt = from, now = from; sentAt < until; sentAt = now) {
        await ask(connection, place)
        now = performance.now()
        latencies.push(now - sentAt)
      }
      connection.close()
    }
    await Promise.all(all.map(keepBusy))
    const seconds = (performance.now() - from) / 1000
    return { perSecond: latencies.length / seconds, count: latencies.length, latencies }
  }
}

/** Keeps every connection busy for so long. */
export const pump = async (load: Load): Promise<Answered> => (await opened(load))()

/** One request and the body of its answer, for checking that two servers say the same. */
export const ask = async (port: number, text: string): Promise<string> => {
  const { close, exchange } = open(port)
  const answer = await exchange(text)
  close()
  return answer.slice(answer.indexOf("\r\n\r\n") + 4)
}
