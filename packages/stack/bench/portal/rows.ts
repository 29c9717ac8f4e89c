/**
 * The list of tunnels of an account with 10,000 beside that of one with ten, in turns; its weight; how soon Chromium paints it
 * beside files of the same bytes; and what a thousand open event streams cost. `CATENET_BENCH_ROUNDS` chooses how often.
 */
import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { setTimeout as pause } from "node:timers/promises"
import { chromium } from "playwright-core"
import { opened, request } from "../api/Pump.ts"
import * as Servers from "../api/Servers.ts"
import * as Surroundings from "../api/Surroundings.ts"
import { median, percentile, type Row } from "../Report.ts"
import { cookieOf, fill, sessions, tunnelIdsOf } from "./Fill.ts"

const rounds = Number(process.env["CATENET_BENCH_ROUNDS"] ?? 8)
const streams = 1_000
const streamsOfSession = 6
/** Seconds in which statements are counted. */
const idleSeconds = 20
const list = "/portal/tunnels"
const wants = { accept: "text/html", "accept-language": "en" }

const get = (path: string, session: number) =>
  request("GET", path, { ...wants, cookie: `__Host-ct_portal_session=${cookieOf(session)}` })

const turn = async (port: number, session: number) => {
  const busy = await opened({ port, connections: 2, millis: 1_000, next: () => get(list, session), status: 200 })
  return (await busy()).latencies
}

const times = async (port: number): Promise<ReadonlyArray<Row>> => {
  const [many, ten]: [Array<number>, Array<number>] = [[], []]
  for (let round = 0; round < rounds; round++)
    for (const session of round % 2 === 0 ? [0, 1] : [1, 0])
      (session === 0 ? many : ten).push(...(await turn(port, session)))
  const row = (name: string, share: number): Row => ({
    name: `list of 10,000 tunnels, ${name}`,
    value: percentile(many, share),
    unit: "ms",
    ratio: percentile(many, share) / percentile(ten, share),
    against: `that of ten (allowed: 3, ${many.length + ten.length} answers)`
  })
  return [row("p99", 0.99), row("p50", 0.5)]
}

const fetched = async (port: number, path: string) => {
  const headers = { ...wants, cookie: `__Host-ct_portal_session=${cookieOf(0)}` }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
  if (response.status !== 200) throw new Error(`${path}: ${response.status}`)
  return { type: response.headers.get("content-type") ?? "", body: Buffer.from(await response.arrayBuffer()) }
}

/** What a browser measured of one visit, in milliseconds, and how many files it waited for before it painted. */
interface Seen {
  readonly painted: number
  readonly firstByte: number
  readonly blocking: number
}

/** The page and what it loads. */
const filesOf = async (port: number) => {
  const page = await fetched(port, list)
  const loaded = [...page.body.toString().matchAll(/(?:href|src)="(\/portal\/static\/[^"]+)"/gu)].map(
    ([, path]) => path ?? ""
  )
  const others = await Promise.all(loaded.map(async (path) => [path, await fetched(port, path)] as const))
  return new Map([[list, page], ...others])
}

const paints = async (port: number, files: Awaited<ReturnType<typeof filesOf>>): Promise<ReadonlyArray<Row>> => {
  const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) => existsSync(path))
  if (executablePath === undefined) return []
  const still = createServer(({ url = "" }, response) => {
    const file = files.get(url)
    if (file === undefined) return void response.writeHead(404).end()
    return void response.writeHead(200, { "content-type": file.type }).end(file.body)
  })
  await new Promise<void>((resolve) => still.listen(0, "127.0.0.1", () => resolve()))
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] })
  try {
    const paint = async (at: number) => {
      const context = await browser.newContext()
      const cookie = {
        name: "__Host-ct_portal_session",
        value: cookieOf(0),
        domain: "127.0.0.1",
        path: "/",
        secure: true
      }
      await context.addCookies([cookie])
      const page = await context.newPage()
      await page.goto(`http://127.0.0.1:${at}${list}`)
      const seen = await page.evaluate<Seen>(`new Promise((resolve) =>
        new PerformanceObserver((found) => {
          const [{ responseStart }] = performance.getEntriesByType("navigation")
          const blocking = performance.getEntriesByType("resource").filter((each) => each.renderBlockingStatus === "blocking").length
          resolve({ painted: found.getEntries()[0].startTime, firstByte: responseStart, blocking })
        }).observe({ type: "paint", buffered: true }))`)
      await context.close()
      return seen
    }
    const [served, files]: [Array<Seen>, Array<Seen>] = [[], []]
    const { port: other } = still.address() as AddressInfo
    for (let round = 0; round < 2 * rounds; round++) {
      served.push(await paint(port))
      files.push(await paint(other))
    }
    return [
      {
        name: "first paint in Chromium (allowed: 200)",
        value: median(served.map(({ painted }) => painted)),
        unit: "ms median",
        ratio: median(served.map(({ painted }) => painted)) / median(files.map(({ painted }) => painted)),
        against: "files of the same bytes"
      },
      ...[0.5, 0.99].map((share) => {
        const [here, there] = [served, files].map((all) =>
          percentile(
            all.map(({ firstByte }) => firstByte),
            share
          )
        )
        return {
          name: `first byte in Chromium, p${share * 100}`,
          value: here ?? Number.NaN,
          unit: "ms",
          ratio: (here ?? Number.NaN) / (there ?? Number.NaN),
          against: "files of the same bytes"
        }
      }),
      {
        name: "resources that hold the first paint back",
        value: Math.max(...served.map(({ blocking }) => blocking)),
        unit: "files"
      }
    ]
  } finally {
    await browser.close()
    still.close()
  }
}

const residentOf = (pid: number) =>
  Number(/^VmRSS:\s+(\d+) kB/mu.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) / 1024

const stream = (port: number, session: number, ids: ReadonlyArray<string>) =>
  new Promise<Socket>((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1" }).setEncoding("latin1")
    socket.once("error", reject)
    socket.once("data", (text) =>
      String(text).startsWith("HTTP/1.1 200") ? resolve(socket) : reject(new Error(String(text).slice(0, 200)))
    )
    socket.on("data", () => undefined)
    socket.write(get(`/portal/events?tunnels=${ids.join(",")}`, session))
  })

const eventStreams = async (
  { pid, port }: Servers.Server,
  statements: () => Promise<number>
): Promise<ReadonlyArray<Row>> => {
  const counted = async () => {
    const before = await statements()
    await pause(idleSeconds * 1_000)
    return ((await statements()) - before) / idleSeconds
  }
  const open = async (count: number, first: number) => {
    const sockets: Array<Socket> = []
    for (let n = 0; n < count; n++) {
      const session = first + Math.floor(n / streamsOfSession)
      sockets.push(await stream(port, session, tunnelIdsOf(session)))
    }
    return sockets
  }
  // What is compiled and kept once does not count.
  for (const socket of await open(60, 200)) socket.destroy()
  const alone = await counted()
  const before = residentOf(pid)
  const sockets = await open(streams, 0)
  const watched = await counted()
  const after = residentOf(pid)
  for (const socket of sockets) socket.destroy()
  return [
    { name: "1,000 open event streams (allowed: 50)", value: after - before, unit: "MB" },
    {
      name: "statements a second while they rest",
      value: watched,
      unit: "/s",
      ratio: watched / alone,
      against: "none open"
    }
  ]
}

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const surroundings = await Surroundings.make()
  const url = await surroundings.database("portal", fill)
  const server = await Servers.controlPlane(surroundings, url)
  try {
    const files = await filesOf(server.port)
    const weight = [...files.values()].reduce((sum, { body }) => sum + body.length, 0)
    return [
      ...(await times(server.port)),
      { name: "weight of the list with all that it loads (allowed: 60)", value: weight / 1_000, unit: "kB" },
      ...(await paints(server.port, files)),
      ...(await eventStreams(server, () => surroundings.transactions(url)))
    ]
  } finally {
    await server.stop()
    await surroundings.dispose()
  }
}

/** As many sessions as the streams need. */
if (sessions * streamsOfSession < streams) throw new Error("too few sessions")
