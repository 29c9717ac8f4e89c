/** How long the requests of an honest visitor take, on connections that it keeps. */
import { Agent, request } from "node:https"

export interface Aim {
  readonly port: number
  readonly servername: string
  readonly ca: string
}

const connections = 2

/** Milliseconds of each request made within so much time. The first on each connection does not count. */
export const latencies = async ({ ca, port, servername }: Aim, millis: number): Promise<ReadonlyArray<number>> => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const options = { host: "127.0.0.1", port, servername, ca, agent, headers: { host: servername } }
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      request(options, (response) => response.resume().once("end", resolve).once("error", reject))
        .once("error", reject)
        .end()
    })
  const seen: Array<number> = []
  const worker = async () => {
    // The time begins when the connection stands: on a busy machine its handshake alone may take as long.
    await ask()
    const until = performance.now() + millis
    do {
      const from = performance.now()
      await ask()
      seen.push(performance.now() - from)
    } while (performance.now() < until)
  }
  await Promise.all(Array.from({ length: connections }, worker))
  agent.destroy()
  return seen
}

/** Of no request at all it is endless. */
export const p99 = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * 0.99))] ??
  Number.POSITIVE_INFINITY
