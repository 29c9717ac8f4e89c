/** A load generator: keep-alive connections that each send the next request when the last answer is complete. */
import { connect } from "node:net"

export interface Load {
  readonly port: number
  readonly request: string
  readonly connections: number
  readonly seconds: number
}

export interface Outcome {
  readonly requestsPerSecond: number
  readonly p50: number
  readonly p99: number
}

const bodyEnd = (text: string): number => {
  const head = text.indexOf("\r\n\r\n")
  if (head < 0) return -1
  const length = Number(/content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0)
  const end = head + 4 + length
  return text.length >= end ? end : -1
}

/** Sends for the given time and says how it went. Latencies are in milliseconds. */
export const run = ({ connections, port, request, seconds }: Load): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const latencies: Array<number> = []
    const until = performance.now() + seconds * 1000
    let open = connections
    const ended = () => {
      if (--open > 0) return
      latencies.sort((a, b) => a - b)
      const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0
      resolve({ requestsPerSecond: Math.round(latencies.length / seconds), p50: at(0.5), p99: at(0.99) })
    }
    for (let n = 0; n < connections; n++) {
      const socket = connect(port, "127.0.0.1")
      socket.setNoDelay(true).setEncoding("latin1")
      let text = ""
      let start = 0
      const send = () => {
        if (performance.now() > until) return void socket.end()
        start = performance.now()
        socket.write(request)
      }
      socket.on("connect", send)
      socket.on("error", reject)
      socket.on("close", ended)
      socket.on("data", (chunk: string) => {
        text += chunk
        const end = bodyEnd(text)
        if (end < 0) return
        if (!/^HTTP\/1.1 2/.test(text)) return void reject(new Error(text))
        text = text.slice(end)
        latencies.push(performance.now() - start)
        send()
      })
    }
  })
