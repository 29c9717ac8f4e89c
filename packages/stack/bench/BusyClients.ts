/** Clients that keep a connection each and ask over it again and again, until they are asked to close it. */
import { Agent, get, type IncomingMessage } from "node:http"
import { Agent as TlsAgent, get as getByTls } from "node:https"
import type { Aim } from "./Load.ts"

const pauseMillis = 100
/** Not all at once, as people do not come at once either. */
const atOnce = 50

export interface BusyClients {
  /** How many clients have ended how: `asked to close`, or with the code of what broke their connections. */
  readonly ends: ReadonlyMap<string, number>
  /** When all of them have. */
  readonly ended: Promise<void>
}

type Take = (response: IncomingMessage) => void

const asked = ({ ca, port, servername }: Aim, path: string) => {
  const settings = { keepAlive: true, maxSockets: 1 }
  if (servername === undefined) {
    const agent = new Agent(settings)
    return (take: Take) => get({ host: "127.0.0.1", port, path, agent }, take)
  }
  const agent = new TlsAgent(settings)
  const tls = { host: "127.0.0.1", port, path, agent, servername, ca }
  return (take: Take) => getByTls({ ...tls, headers: { host: servername } }, take)
}

/** Resolves when all of them are served. */
export const busy = async (aim: Aim, path: string, count: number): Promise<BusyClients> => {
  const ends = new Map<string, number>()
  const ended = (how: string) => void ends.set(how, (ends.get(how) ?? 0) + 1)
  const stays = async (served: () => void) => {
    const ask = asked(aim, path)
    const closes = () =>
      new Promise<boolean>((resolve, reject) => {
        ask((response) => {
          response.resume().on("error", reject)
          response.on("end", () => resolve(response.headers.connection === "close"))
        }).on("error", reject)
      })
    try {
      while (!(await closes())) {
        served()
        await new Promise((resolve) => setTimeout(resolve, pauseMillis))
      }
      ended("asked to close")
    } catch (error) {
      ended(String(Reflect.get(Object(error), "code")))
    }
  }
  const all: Array<Promise<void>> = []
  while (all.length < count) {
    const coming = Array.from({ length: Math.min(atOnce, count - all.length) }, () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const ending = stays(resolve)
      all.push(ending)
      return Promise.race([promise, ending])
    })
    await Promise.all(coming)
  }
  return { ends, ended: Promise.all(all).then(() => undefined) }
}
