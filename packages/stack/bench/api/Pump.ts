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

/** Keeps every connection busy for so long. */
export const pump = async ({ connections, millis, next, port, status }: Load): Promise<Answered> => {
  const latencies: Array<number> = []
  const wanted = `HTTP/1.1 ${status} `
  const from = performance.now()
  const until = from + millis
  const run = (connection: number) =>
    new Promise<void>((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true })
      let text = ""
      let sentAt = 0
      const send = () => {
        sentAt = performance.now()
        if (sentAt >= until) return void socket.end()
        socket.write(next(connection), "latin1")
      }
      socket.setEncoding("latin1")
      socket.once("connect", send)
      socket.on("data", (chunk: string) => {
        text = text === "" ? chunk : text + chunk
        const size = sizeOf(text)
        if (size instanceof Error) return void socket.destroy(size)
        if (size === undefined || text.length < size) return
        if (!text.startsWith(wanted)) return void socket.destroy(new Error(`not a ${status}: ${text.slice(0, 2000)}`))
        text = text.slice(size)
        latencies.push(performance.now() - sentAt)
        send()
      })
      socket.once("error", reject)
      socket.once("close", () => resolve())
    })
  await Promise.all(Array.from({ length: connections }, (_, connection) => run(connection)))
  const seconds = (performance.now() - from) / 1000
  return { perSecond: latencies.length / seconds, count: latencies.length, latencies }
}

/** One request and the body of its answer, for checking that two servers say the same. */
export const ask = (port: number, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1" })
    let answer = ""
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      answer += chunk
      const size = sizeOf(answer)
      if (size instanceof Error) return void socket.destroy(size)
      if (size === undefined || answer.length < size) return
      socket.end()
      resolve(answer.slice(answer.indexOf("\r\n\r\n") + 4, size))
    })
    socket.once("error", reject)
    socket.once("connect", () => socket.write(text, "latin1"))
  })
