/** One edge of several processes, as an operator runs it, with agents and figures of its own. */
import * as Certificates from "@catenet/crypto/x509/Certificate"
import { catenet, endsWithUs, type Spawned } from "@catenet/testing/stack/e2e/Stack"
import type { Target } from "@catenet/testing/stack/e2e/Visitor"
import { temporaryRoot } from "@catenet/testing/TemporaryRoot"
import { Mux, muxAlpn } from "@catenet/wire/transport/Mux"
import type { MuxStream } from "@catenet/wire/transport/MuxStream"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { connect, type TLSSocket } from "node:tls"
import { freePort } from "../../src/Ports.ts"
import * as DevelopmentNames from "../../src/up/DevelopmentNames.ts"
import * as StackFolder from "../../src/up/StackFolder.ts"

const port = () => Effect.runPromise(freePort("127.0.0.1"))

export interface Status {
  readonly connected: boolean
  readonly registrations: number
  readonly bytes_received: number
  readonly bytes_sent: number
}

export class SharedEdge {
  readonly folder: string
  readonly ports: Readonly<Record<"mesh" | "frontDoor" | "admin" | "metrics", number>>
  readonly #adminToken = randomBytes(32).toString("hex")
  #process: Spawned | undefined

  private constructor(folder: string, ports: SharedEdge["ports"]) {
    this.folder = folder
    this.ports = ports
  }

  static async start(processes: number): Promise<SharedEdge> {
    const folder = mkdtempSync(join(temporaryRoot(), "catenet-shared-"))
    const ports = { mesh: await port(), frontDoor: await port(), admin: await port(), metrics: await port() }
    await Effect.runPromise(
      DevelopmentNames.ensureDevelopmentCertificates(StackFolder.at(folder), ["localhost", "*.catenet.localhost"])
    )
    const edge = new SharedEdge(folder, ports)
    await edge.#start(processes)
    return edge
  }

  async #start(processes: number) {
    const { frontDoor, mesh, admin, metrics } = this.ports
    const zone = StackFolder.at(this.folder)
    this.#process = catenet(["edge", "--log-format", "json"], {
      ...endsWithUs,
      CT_EDGE_PROCESSES: String(processes),
      CT_EDGE_LISTEN: `127.0.0.1:${mesh}`,
      CT_EDGE_QUIC: "off",
      CT_FRONT_DOOR: `127.0.0.1:${frontDoor}`,
      CT_EDGE_ADMIN_LISTEN: `127.0.0.1:${admin}`,
      CT_EDGE_METRICS_LISTEN: `127.0.0.1:${metrics}`,
      CT_EDGE_ADMIN_TOKEN: this.#adminToken,
      CT_EDGE_CERT_OUT: join(this.folder, "edge-cert.der"),
      CT_EDGE_WILDCARD_CERT: zone.wildcardCertificate,
      CT_EDGE_WILDCARD_KEY: zone.wildcardKey,
      CT_EDGE_RECEIPTS: "1"
    })
    await this.#process.printed("edge ready")
  }

  get process(): Spawned {
    if (this.#process === undefined) throw new Error("the edge has not been started")
    return this.#process
  }

  /** The processes that the main one has started. */
  get workers(): ReadonlyArray<number> {
    const { pid } = this.process.child
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    return children.split(" ").filter(Boolean).map(Number)
  }

  async call(method: string, path: string): Promise<Response> {
    const response = await fetch(`http://127.0.0.1:${this.ports.admin}${path}`, {
      method,
      headers: { "x-ct-admin-token": this.#adminToken }
    })
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`)
    return response
  }

  async status(token: string): Promise<Status> {
    return (await (await this.call("GET", `/admin/tunnel-status/${token}`)).json()) as Status
  }

  async metric(name: string): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${this.ports.metrics}/metrics`)).text()
    return Number(new RegExp(`^ct_edge_${name} (\\S+)$`, "m").exec(text)?.[1])
  }

  async isHealthy(): Promise<boolean> {
    return (await fetch(`http://127.0.0.1:${this.ports.metrics}/healthz`)).ok
  }

  target(host: string): Target {
    return { host, port: this.ports.frontDoor, ca: readFileSync(StackFolder.at(this.folder).developmentRoot, "utf8") }
  }

  get meshRoot(): string {
    return Certificates.pem(readFileSync(join(this.folder, "edge-cert.der")))
  }

  async dispose(): Promise<void> {
    await this.#process?.stop("SIGKILL")
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Agents of one tunnel that count what they see; each comes back when its connection ends, until it is stopped. */
export class CountingAgents {
  readonly token = randomBytes(32).toString("hex")
  readonly host: string
  received = 0
  sent = 0
  streams = 0
  readonly #edge: SharedEdge
  readonly #answer: (stream: MuxStream, head: string) => void
  readonly #sockets = new Set<TLSSocket>()
  #stopped = false

  constructor(edge: SharedEdge, host: string, answer: (stream: MuxStream, head: string) => void) {
    this.#edge = edge
    this.host = host
    this.#answer = answer
  }

  async start(count: number): Promise<void> {
    await this.#edge.call("POST", `/admin/authorize-host/${this.token}/${this.host}?channel_tier=gelb`)
    await Promise.all(Array.from({ length: count }, () => this.#connect()))
  }

  stop() {
    this.#stopped = true
    for (const socket of this.#sockets) socket.destroy()
  }

  async #connect(): Promise<void> {
    const { meshRoot, ports } = this.#edge
    const socket = connect({
      host: "127.0.0.1",
      port: ports.mesh,
      servername: "localhost",
      ca: meshRoot,
      ALPNProtocols: [muxAlpn]
    })
    this.#sockets.add(socket)
    const mux = new Mux(socket, { side: "dialler", onStream: (stream) => this.#serve(stream) })
    void mux.closed.then(() => {
      this.#sockets.delete(socket)
      setTimeout(() => (this.#stopped ? undefined : void this.#connect()), 100)
    })
    const request = { token: Buffer.from(this.token, "hex"), hosts: [this.host], agentId: "test" }
    await mux.register({ ...request, wishes: { proxyProtocol: false } })
  }

  #serve(stream: MuxStream) {
    this.streams += 1
    let head = ""
    stream.on("error", () => {})
    stream.on("data", (chunk: Buffer) => {
      this.received += chunk.length
      const began = head.includes("\r\n\r\n")
      head += chunk.toString("latin1")
      if (!began && head.includes("\r\n\r\n")) this.#answer(stream, head)
    })
  }

  /** Says it and counts it. */
  say(stream: MuxStream, text: string, last = false) {
    if (stream.destroyed) return
    this.sent += Buffer.byteLength(text)
    if (last) stream.end(text)
    else stream.write(text)
  }
}
