/** Load for the benchmarks: requests in flight, downloads, new connections, each timed from the client's side. */
import { Agent, request as httpRequest, type RequestOptions } from "node:http"
import { Agent as TlsAgent, request as httpsRequest } from "node:https"
import { connect as connectTls } from "node:tls"

/** Where the load goes; `servername` and `ca` make it HTTPS. */
export interface Aim {
  readonly port: number
  readonly servername?: string
  readonly ca?: string
}

export interface Rate {
  readonly perSecond: number
  /** Milliseconds of each request, in order of completion. */
  readonly latencies: ReadonlyArray<number>
}

const optionsOf = (aim: Aim, path: string, agent: Agent | TlsAgent | false): RequestOptions & { ca?: string } => ({
  host: "127.0.0.1",
  port: aim.port,
  path,
  agent,
  headers: { host: aim.servername ?? "127.0.0.1" },
  ...(aim.servername === undefined ? {} : { servername: aim.servername, ca: aim.ca ?? "" })
})

const ask = (aim: Aim, path: string, agent: Agent | TlsAgent | false): Promise<number> =>
  new Promise((resolve, reject) => {
    const outgoing = (aim.servername === undefined ? httpRequest : httpsRequest)(
      optionsOf(aim, path, agent),
      (response) => {
        let size = 0
        response.on("data", (chunk: Buffer) => (size += chunk.length))
        response.on("end", () => resolve(size))
        response.on("error", reject)
      }
    )
    outgoing.on("error", reject)
    outgoing.end()
  })

/** Keeps so many requests in flight on kept-alive connections for so long. */
export const requests = async (aim: Aim, inFlight: number, millis: number, path = "/"): Promise<Rate> => {
  const settings = { keepAlive: true, maxSockets: inFlight }
  const agent = aim.servername === undefined ? new Agent(settings) : new TlsAgent(settings)
  const latencies: Array<number> = []
  const until = performance.now() + millis
  const from = performance.now()
  const worker = async () => {
    while (performance.now() < until) {
      const start = performance.now()
      await ask(aim, path, agent)
      latencies.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  const seconds = (performance.now() - from) / 1000
  agent.destroy()
  return { perSecond: latencies.length / seconds, latencies }
}

/** Megabytes per second of one download on each of so many connections at once. */
export const megabytesPerSecond = async (aim: Aim, connections: number, megabytesEach: number): Promise<number> => {
  const path = `/stream/${megabytesEach * 1024 * 1024}`
  const from = performance.now()
  const sizes = await Promise.all(Array.from({ length: connections }, () => ask(aim, path, false)))
  const seconds = (performance.now() - from) / 1000
  return sizes.reduce((sum, size) => sum + size, 0) / 1024 / 1024 / seconds
}

/**
 * New connections per second: TLS handshake, one request, close. Visitors who return bring the ticket of an earlier visit, so that
 * nothing is signed.
 */
export const connectionsPerSecond = async (
  aim: Aim,
  inFlight: number,
  millis: number,
  visitors: "new" | "returning" = "new"
): Promise<number> => {
  const agent = visitors === "returning" ? new TlsAgent({ keepAlive: false }) : false
  let count = 0
  const until = performance.now() + millis
  const from = performance.now()
  const worker = async () => {
    while (performance.now() < until) {
      await ask(aim, "/", agent)
      count++
    }
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  return count / ((performance.now() - from) / 1000)
}

/** Handshakes per second without a request, for comparing relays of TLS. */
export const handshakesPerSecond = async (aim: Required<Aim>, inFlight: number, millis: number): Promise<number> => {
  let count = 0
  const until = performance.now() + millis
  const from = performance.now()
  const worker = async () => {
    while (performance.now() < until) {
      await new Promise<void>((resolve, reject) => {
        const { ca, port, servername } = aim
        const socket = connectTls({ host: "127.0.0.1", port, servername, ca })
        socket.once("error", reject)
        socket.once("secureConnect", () => {
          count++
          socket.destroy()
          resolve()
        })
      })
    }
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  return count / ((performance.now() - from) / 1000)
}
