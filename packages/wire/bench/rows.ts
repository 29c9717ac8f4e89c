/** What multiplexing costs and saves: the mux against plain TLS connections to the same process, measured in turn. */
import { Result } from "effect"
import { fork } from "node:child_process"
import { once } from "node:events"
import type { Duplex } from "node:stream"
import { connect, type TLSSocket } from "node:tls"
import { Mux, muxAlpn } from "../src/transport/Mux.ts"
import { certificate } from "../test/transport/certificate.ts"
import { bulkBytes, replyBytes, requestBytes } from "./service.ts"

export interface Row {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** `value` divided by that of `against`. */
  readonly ratio?: number
  readonly against?: string
}

type Open = () => Promise<Duplex>

const rounds = 3
const requestMillis = 1_000
const concurrency = 32
const bulkUnits = ["MB/s", "MB/s of one core"]
const upload = Buffer.alloc(64 * 1024, 7)
const request = Buffer.alloc(requestBytes, "R")

const dial = async (port: number, alpn: string): Promise<TLSSocket> => {
  const options = {
    host: "127.0.0.1",
    port,
    servername: "localhost",
    ca: certificate,
    ALPNProtocols: [alpn],
    allowHalfOpen: true
  }
  const socket = connect(options)
  socket.setNoDelay(true)
  await once(socket, "secureConnect")
  return socket
}

const drainTo = async (stream: Duplex): Promise<number> => {
  let got = 0
  stream.on("data", (chunk: Buffer) => {
    got += chunk.length
  })
  await once(stream, "end")
  return got
}

const download = async (stream: Duplex): Promise<void> => {
  stream.end("D")
  if ((await drainTo(stream)) !== bulkBytes) throw new Error("short download")
}

const uploadTo = async (stream: Duplex): Promise<void> => {
  stream.write("U")
  for (let sent = 0; sent < bulkBytes; sent += upload.length) {
    if (!stream.write(upload)) await once(stream, "drain")
  }
  stream.end()
  await drainTo(stream)
}

/** MB/s of `streams` transfers side by side, and MB per second of this process's processor time. */
const throughput = async (
  open: Open,
  streams: number,
  transfer: (stream: Duplex) => Promise<void>
): Promise<ReadonlyArray<number>> => {
  const opened = await Promise.all(Array.from({ length: streams }, open))
  const start = performance.now()
  const before = process.cpuUsage()
  await Promise.all(opened.map(transfer))
  const { system, user } = process.cpuUsage(before)
  const kilobytes = (streams * bulkBytes) / 1e3
  return [kilobytes / (performance.now() - start), (kilobytes * 1e3) / (system + user)]
}

/** Calls per second with many under way. */
const perSecond = async (call: () => Promise<void>): Promise<ReadonlyArray<number>> => {
  const start = performance.now()
  let calls = 0
  const worker = async () => {
    for (; performance.now() - start < requestMillis; calls++) await call()
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return [(calls * 1e3) / (performance.now() - start)]
}

const exchange = async (open: Open): Promise<void> => {
  const stream = await open()
  stream.end(request)
  if ((await drainTo(stream)) !== replyBytes) throw new Error("short reply")
}

const onKeptConnections = async (open: Open): Promise<ReadonlyArray<number>> => {
  const idle = await Promise.all(Array.from({ length: concurrency }, open))
  const again = Buffer.alloc(requestBytes, "K")
  const rate = await perSecond(async () => {
    const stream = idle.pop()
    if (stream === undefined) throw new Error("no connection is free")
    stream.write(again)
    let got = 0
    while (got < replyBytes) {
      const [chunk]: Array<Buffer> = await once(stream, "data")
      got += chunk?.length ?? 0
    }
    idle.push(stream)
  })
  for (const stream of idle) stream.destroy()
  return rate
}

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** Each round measures every way once, so that whatever else the machine does meets them all alike. */
const compare = async (
  name: string,
  units: ReadonlyArray<string>,
  ways: Readonly<Record<string, () => Promise<ReadonlyArray<number>>>>
): Promise<ReadonlyArray<Row>> => {
  const measured = Object.entries(ways).map(([way, run]) => ({
    way,
    run,
    values: units.map(() => new Array<number>())
  }))
  for (let round = 0; round < rounds; round++) {
    for (const { run, values } of measured) {
      for (const [index, value] of (await run()).entries()) values[index]?.push(value)
    }
  }
  return units.flatMap((unit, index) => {
    const rows: Array<Row> = []
    for (const { values, way } of measured) {
      const row = { name: `${name}, ${way}`, value: median(values[index] ?? []), unit }
      const [base] = rows
      rows.push(base === undefined ? row : { ...row, ratio: row.value / base.value, against: base.name })
    }
    return rows
  })
}

/** Takes about a minute of two cores. */
export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const service = fork(new URL("service.ts", import.meta.url))
  try {
    const [address] = await once(service, "message")
    const port = Number(address.port)
    const plain: Open = () => dial(port, "plain")
    const mux = new Mux(await dial(port, muxAlpn), { side: "acceptor", challenge: Buffer.alloc(32) })
    await mux.ready
    const stream: Open = async () =>
      Result.getOrThrow(mux.open({ registration: 1, kind: "visitor", tls: "none", host: "bench.test" }))
    const bulk = (streams: number, transfer: typeof download) => ({
      "TLS connections": () => throughput(plain, streams, transfer),
      mux: () => throughput(stream, streams, transfer)
    })
    const measured = [
      await compare("1 stream up", bulkUnits, bulk(1, uploadTo)),
      await compare("1 stream down", bulkUnits, bulk(1, download)),
      await compare("16 streams up", bulkUnits, bulk(16, uploadTo)),
      await compare("16 streams down", bulkUnits, bulk(16, download)),
      await compare("small requests", ["1/s"], {
        "kept TLS connections": () => onKeptConnections(plain),
        "new mux streams": () => perSecond(() => exchange(stream)),
        "new TLS connections": () => perSecond(() => exchange(plain))
      })
    ]
    mux.close("normal")
    return measured.flat()
  } finally {
    service.disconnect()
  }
}

if (process.argv[1] === import.meta.filename) {
  for (const row of await rows()) console.log(JSON.stringify(row))
}
