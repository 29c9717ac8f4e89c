/** Visitors of one host name at a steady rate, each on a connection of its own, and one who keeps his open through everything. */
import type { Target } from "@catenet/testing/stack/e2e/Visitor"
import { Agent, request } from "node:https"
import { setTimeout as sleep } from "node:timers/promises"
import type { TLSSocket } from "node:tls"

export interface Seen {
  visits: number
  /** What those were given who got no page. */
  readonly lost: Array<string>
  /** SHA-256 of the certificates that were shown, in the order in which they came. */
  readonly certificates: Set<string>
  /** Connections of the visitor who keeps one. */
  kept: number
}

const patience = 15_000

/** One request; resolves with the certificate that was shown. Rejects unless it was valid and the page came. */
const visit = ({ ca, host, port }: Target, agent: Agent | false) =>
  new Promise<TLSSocket>((resolve, reject) => {
    const sent = request(
      { host: "127.0.0.1", port, servername: host, ca, agent, headers: { host: `${host}:${port}` }, timeout: patience },
      (response) => {
        const socket = response.socket as TLSSocket
        response.once("error", reject)
        response.once("end", () =>
          response.statusCode === 200 ? resolve(socket) : reject(new Error(`status ${response.statusCode}`))
        )
        response.resume()
      }
    )
    sent.once("timeout", () => sent.destroy(new Error("no answer in time")))
    sent.once("error", reject)
    sent.end()
  })

/** So many a second until the signal, however long each takes; resolves when the last one has left. `keeps` is one who stays. */
export const steadyVisitors = (target: Target, perSecond: number, signal: AbortSignal, keeps = true) => {
  const seen: Seen = { visits: 0, lost: [], certificates: new Set(), kept: 0 }
  const running = new Set<Promise<void>>()
  const come = (agent: Agent | false, heard: (socket: TLSSocket) => void) => {
    const visiting = visit(target, agent)
      .then(heard, (error: Error) => void seen.lost.push(error.message))
      .finally(() => {
        seen.visits++
        running.delete(visiting)
      })
    running.add(visiting)
    return visiting
  }
  const shown = (socket: TLSSocket) => {
    const fingerprint = socket.getPeerX509Certificate()?.fingerprint256
    if (fingerprint !== undefined) seen.certificates.add(fingerprint)
  }
  const arrive = async () => {
    const from = performance.now()
    for (let count = 0; !signal.aborted; count++) {
      void come(false, shown)
      await sleep(Math.max(0, from + ((count + 1) * 1000) / perSecond - performance.now()))
    }
  }
  const stay = async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const sockets = new Set<TLSSocket>()
    while (!signal.aborted) {
      await come(agent, (socket) => void sockets.add(socket))
      seen.kept = sockets.size
      await sleep(500)
    }
    agent.destroy()
  }
  const done = Promise.all([arrive(), keeps ? stay() : undefined]).then(async () => {
    await Promise.all(running)
    return seen
  })
  return { done, seen }
}
