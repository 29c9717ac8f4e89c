/**
 * The same mutated requests through the proxy, at the edge and at the agent, to origins in three languages: each understands at most
 * what the proxy wrote, and the proxy writes nothing that names another visitor or another host. `CT_DIFFERENTIAL_CASES` sets how
 * many for each origin and tier (20,000 for a whole run), `CT_DIFFERENTIAL_SEED` where to begin.
 */
import { readProxyHeader } from "@catenet/platform/ProxyProtocol"
import { servingAgent } from "@catenet/testing/edge/Agent"
import { random } from "@catenet/testing/edge/fuzz/Mutation"
import { eventually, start, temporaryFolder, token, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { type AddressInfo, connect as connectTcp, createServer } from "node:net"
import { connect, createSecureContext } from "node:tls"
import * as Ways from "../proxy/Ways.ts"
import { type Origin, type Seen, startAll } from "./Origins.ts"
import { request } from "./Requests.ts"
import { readWritten, type Written } from "./Written.ts"

const caseCount = Number(process.env["CT_DIFFERENTIAL_CASES"] ?? 100)
const firstSeed = Number(process.env["CT_DIFFERENTIAL_SEED"] ?? 1)
const atOnce = 12
/** A visitor that gets no end of what it asked leaves. */
const lifeMillis = 1_500

/** What the proxy wrote on one connection to the origin, and what the origin understood of it. */
interface Carried {
  readonly written: Array<Buffer>
  readonly seen: Array<Seen>
}

/** Fields that say how a message is framed; each library keeps others of them to itself. */
const framing = new Set(["host", "content-length", "transfer-encoding", "trailer"])
const comparable = (fields: ReadonlyArray<readonly [string, string]>) =>
  fields
    .flatMap(([name, value]) => (framing.has(name.toLowerCase()) ? [] : [`${name.toLowerCase()}: ${value}`]))
    .toSorted()

const valuesOf = ({ fields }: Written, name: string) =>
  fields.flatMap(([each, value]) => (each.toLowerCase() === name ? [value] : []))

/** What is wrong with what the proxy wrote, whatever it was asked. */
const forged = (written: Written, host: string): string | undefined => {
  const own = { "x-forwarded-for": "127.0.0.1", "x-forwarded-proto": "https", host, "x-forwarded-host": host }
  for (const [name, value] of Object.entries(own)) {
    const values = valuesOf(written, name).map((each) => each.toLowerCase().replace(/\.?(?::\d*)?$/, ""))
    if (values.length !== 1 || values[0] !== value) return `${name} is ${JSON.stringify(values)}`
  }
  const disguised = written.fields.find(([name]) =>
    /^(?:x_forwarded|x-forwarded_|x_real|content_l|transfer_)/i.test(name)
  )
  return disguised === undefined ? undefined : `a field ${disguised[0]}`
}

const differs = (seen: Seen, written: Written | undefined): string | undefined => {
  if (written === undefined) return "a request that the proxy did not write"
  // Python's own server takes slashes before the first one away, so that no redirect leads to another host.
  const targets = [written.target, written.target.replace(/^\/+/, "/")]
  if (seen.method !== written.method || !targets.includes(seen.target)) return "another request line"
  if (seen.host !== valuesOf(written, "host")[0]) return "another host"
  if (JSON.stringify(comparable(seen.fields)) !== JSON.stringify(comparable(written.fields))) return "other fields"
  if (seen.whole && !written.whole) return "an end where the proxy wrote none"
  if (!written.body.startsWith(seen.body) || (seen.whole && seen.body !== written.body)) return "another body"
  return undefined
}

/** Follows what is written to the origin for the visitor at this port. */
const follow = (carried: Map<number, Carried>, origin: Origin, visitorPort: number) => {
  const one: Carried = { written: [], seen: [] }
  carried.set(visitorPort, one)
  const socket = connectTcp({ host: "127.0.0.1", port: origin.port, noDelay: true, allowHalfOpen: true })
  socket.once("connect", () => origin.seen.set(String(socket.localPort), one.seen))
  return { one, socket }
}

interface Place {
  readonly host: string
  readonly ca: string
  readonly carried: Map<number, Carried>
}

/** The edge ends TLS; an agent in this process carries what it wrote. */
const atEdge = Effect.fnUntraced(function* (world: TestEdge, origin: Origin, index: number) {
  const carried = new Map<number, Carried>()
  const host = `${origin.language}.zone.test`
  const tunnel = token(`${index + 1}`)
  yield* Effect.promise(() => world.authorize(tunnel, host, "gelb"))
  const headers = { "x-ct-routing-token": tunnel }
  yield* Effect.promise(() => world.admin("POST", "/internal/tunnel/options", { headers, body: { http_only: true } }))
  const agent = yield* servingAgent(world, tunnel, [host], (stream) => {
    agent.streams.length = 0
    const { one, socket } = follow(carried, origin, stream.header.client?.port ?? 0)
    stream.on("data", (chunk: Buffer) => one.written.push(chunk))
    stream.pipe(socket).pipe(stream)
    socket.on("error", () => stream.destroy())
    stream.on("error", () => socket.destroy())
  })
  return { host, ca: world.wildcardRoot, carried } satisfies Place
})

/** The agent ends TLS, in a process of its own; the PROXY protocol header says whose connection it is. */
const atAgent = Effect.fnUntraced(function* (
  serve: Effect.Success<ReturnType<typeof Ways.agents>>,
  world: TestEdge,
  origin: Origin,
  index: number
) {
  const carried = new Map<number, Carried>()
  const host = `own-${origin.language}.zone.test`
  const recorder = createServer({ noDelay: true, allowHalfOpen: true }, (incoming) => {
    incoming.on("error", () => undefined)
    let head = Buffer.alloc(0)
    const read = (chunk: Buffer) => {
      head = Buffer.concat([head, chunk])
      const found = readProxyHeader(head)
      if (found._tag !== "Header") return
      incoming.off("data", read)
      const { one, socket } = follow(carried, origin, found.client?.port ?? 0)
      const rest = head.subarray(found.length)
      if (rest.length > 0) {
        one.written.push(rest)
        socket.write(rest)
      }
      incoming.on("data", (bytes: Buffer) => one.written.push(bytes))
      incoming.pipe(socket).pipe(incoming)
      socket.on("error", () => incoming.destroy())
    }
    incoming.on("data", read)
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void recorder.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => void recorder.close())
  )
  const digit = `${index + 4}`
  yield* Effect.promise(() => world.authorize(token(digit), host))
  const { root, variables } = yield* Ways.ownPair(host)
  yield* serve(digit, host, {
    ...variables,
    CT_AGENT_ORIGIN: `127.0.0.1:${(recorder.address() as AddressInfo).port}`,
    CT_AGENT_ORIGIN_PROXY_PROTOCOL: "v2"
  })
  return { host, ca: root, carried } satisfies Place
})

/** Visitors, whose TLS sessions are resumed. */
const visitors = (world: TestEdge, { ca, host }: Place) => {
  const secureContext = createSecureContext({ ca, maxVersion: "TLSv1.2" })
  let session: Buffer | undefined
  return (bytes: Buffer) =>
    new Promise<number>((resolve) => {
      const raw = connectTcp({ host: "127.0.0.1", port: world.frontDoor, noDelay: true })
      const socket = connect({
        socket: raw,
        servername: host,
        secureContext,
        ...(session === undefined ? {} : { session })
      })
      let port = 0
      let timer: NodeJS.Timeout | undefined
      socket.on("session", (fresh) => (session = fresh))
      socket.on("error", () => undefined)
      socket.on("data", () => undefined)
      socket.once("secureConnect", () => {
        port = raw.localPort ?? 0
        timer = setTimeout(() => socket.destroy(), lifeMillis)
        socket.end(bytes)
      })
      socket.once("close", () => {
        clearTimeout(timer)
        resolve(port)
      })
    })
}

const judge = (origin: Origin, host: string, { seen: understood, written }: Carried): string | undefined => {
  const text = Buffer.concat(written).toString("latin1")
  // Another protocol passes the agent as it is, and must be one for the origin too.
  if (!/^[^ \r\n]+ [^ \r\n]+ HTTP\/1\.[01]\r\n/.test(text))
    return understood.length === 0
      ? undefined
      : `${origin.language} took what is no request for one: ${JSON.stringify(text)}`
  const all = readWritten(text)
  for (const each of all) {
    const wrong = forged(each, host)
    if (wrong !== undefined) return `the proxy wrote: ${wrong}`
  }
  for (const [at, seen] of understood.entries()) {
    const wrong = differs(seen, all[at])
    if (wrong !== undefined)
      return `${origin.language} understood ${wrong}: ${JSON.stringify({ seen, written: all[at] })}`
  }
  return undefined
}

it.live(
  `origins in three languages understand at most what edge and agent wrote of ${caseCount} mutated requests`,
  () =>
    Effect.gen(function* () {
      const world = yield* start()
      const serve = yield* Ways.agents(world)
      const origins = yield* startAll(yield* temporaryFolder)
      const places = yield* Effect.all(
        origins.flatMap((origin, index) =>
          [atEdge(world, origin, index), atAgent(serve, world, origin, index)].map((made) =>
            Effect.map(made, (place) => [origin, place] as const)
          )
        ),
        { concurrency: 3 }
      )
      const found: Array<string> = []
      const counts: Record<string, number> = {}
      yield* Effect.forEach(
        places,
        Effect.fnUntraced(function* ([origin, place]) {
          const { carried, host } = place
          const visit = visitors(world, place)
          const cases: Array<{ readonly seed: number; readonly bytes: Buffer; readonly carried: Carried }> = []
          let seed = firstSeed
          const worker = async () => {
            while (seed < firstSeed + caseCount) {
              const mine = seed++
              const bytes = request(host, random(mine))
              const port = await visit(bytes)
              const one = carried.get(port)
              carried.delete(port)
              if (one !== undefined) cases.push({ seed: mine, bytes, carried: one })
            }
          }
          yield* Effect.promise(() => Promise.all(Array.from({ length: atOnce }, worker)))
          // The last lines are still under way.
          let before = -1
          const understood = () => cases.reduce((sum, { carried: { seen } }) => sum + seen.length, 0)
          yield* Effect.promise(() =>
            eventually(async () => {
              await new Promise((resolve) => setTimeout(resolve, 150))
              const now = understood()
              const rests = now === before
              before = now
              return rests
            }, "the origin is silent")
          )
          counts[host] = understood()
          for (const one of cases) {
            const wrong = judge(origin, host, one.carried)
            if (wrong !== undefined)
              found.push(`seed ${one.seed}: ${wrong}\n  asked ${JSON.stringify(one.bytes.toString("latin1"))}`)
          }
        }),
        { concurrency: "unbounded", discard: true }
      )
      assert.deepStrictEqual(found.slice(0, 10), [], `${found.length} differences`)
      for (const [host, count] of Object.entries(counts))
        assert.isAbove(count, caseCount / 8, `${host} was asked little`)
    }).pipe(Effect.scoped),
  { timeout: 240_000 + caseCount * 60 }
)
