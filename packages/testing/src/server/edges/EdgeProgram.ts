/** A real edge in a process of its own, whose ways to and from the control plane can be cut. */
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net"
import { join } from "node:path"
import { connect as connectTls, type TLSSocket } from "node:tls"
import * as Ports from "../../../../stack/src/Ports.ts"
import { platformProgram } from "../../stack/PlatformProgram.ts"
import { temporaryRoot } from "../../TemporaryRoot.ts"

const listen = (server: Server) =>
  new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port))
  })

/** One that no outgoing connection is given before the edge listens there. */
const freePort = () => Effect.runPromise(Ports.freePort("127.0.0.1"))

/** Carries connections to a port, until it is cut. */
export class Way {
  readonly #sockets = new Set<Socket>()
  readonly #server: Server
  cut = false

  constructor(target: number) {
    this.#server = createServer((near) => {
      if (this.cut) return void near.destroy()
      const far = connect(target, "127.0.0.1")
      for (const socket of [near, far]) {
        this.#sockets.add(socket)
        socket.on("error", () => {}).on("close", () => (near.destroy(), far.destroy(), this.#sockets.delete(socket)))
      }
      near.pipe(far).pipe(near)
    })
  }

  readonly open = () => listen(this.#server)

  sever() {
    this.cut = true
    for (const socket of this.#sockets) socket.destroy()
  }

  close() {
    this.sever()
    this.#server.close()
  }
}

export class EdgeProgram {
  readonly id: string
  readonly #folder = mkdtempSync(join(temporaryRoot(), "catenet-edge-"))
  readonly #env: Record<string, string>
  readonly #ways: Array<Way> = []
  readonly #adminToken: string
  readonly adminPort: number
  readonly frontDoor: number
  readonly #mesh: number
  readonly #parked: Array<TLSSocket> = []
  #child: ChildProcess | undefined

  private constructor(
    id: string,
    way: Way,
    env: Record<string, string>,
    adminPort: number,
    frontDoor: number,
    mesh: number
  ) {
    this.id = id
    this.#ways.push(way)
    this.#adminToken = env["CT_EDGE_ADMIN_TOKEN"] ?? ""
    this.adminPort = adminPort
    this.frontDoor = frontDoor
    this.#mesh = mesh
    this.#env = { ...env, CT_EDGE_CERT_OUT: join(this.#folder, "edge-cert.der") }
  }

  static async make(id: string, controlPlane: string, adminToken: string, quic = "off"): Promise<EdgeProgram> {
    const way = new Way(Number(new URL(controlPlane).port))
    const adminPort = await freePort()
    const frontDoor = await freePort()
    const mesh = await freePort()
    const toAdmin = new Way(adminPort)
    const edge = new EdgeProgram(
      id,
      way,
      {
        CT_EDGE_ID: id,
        CT_EDGE_ADMIN_TOKEN: adminToken,
        CT_EDGE_CP_URL: `http://127.0.0.1:${await way.open()}`,
        CT_EDGE_ADMIN_URL: `http://127.0.0.1:${await toAdmin.open()}`,
        CT_EDGE_ADMIN_LISTEN: `127.0.0.1:${adminPort}`,
        CT_EDGE_LISTEN: `127.0.0.1:${mesh}`,
        CT_EDGE_QUIC: quic,
        CT_FRONT_DOOR: `127.0.0.1:${frontDoor}`,
        CT_EDGE_HEARTBEAT_SECS: "1",
        CT_EDGE_RECEIPTS: "1",
        CT_EDGE_REQUIRE_AGENT_PROOF: "1",
        CT_EDGE_SHUTDOWN_GRACE_SECS: "0"
      },
      adminPort,
      frontDoor,
      mesh
    )
    edge.#ways.push(toAdmin)
    return edge
  }

  async start(): Promise<void> {
    const { promise, reject, resolve } = Promise.withResolvers<void>()
    let said = ""
    const child = spawn(process.execPath, [platformProgram, "edge", "--log-format", "json"], {
      env: {
        PATH: process.env["PATH"] ?? "",
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? join(this.#folder, "compiled"),
        HOME: this.#folder,
        ...this.#env
      },
      stdio: ["ignore", "pipe", "pipe"]
    })
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        said += text
        if (said.includes("edge ready")) resolve()
      })
    }
    child.once("exit", (code) => reject(new Error(`the edge ended with ${code}: ${said}`)))
    this.#child = child
    await promise
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once("exit", resolve))
    child.kill("SIGKILL")
    await ended
  }

  cutOff() {
    for (const way of this.#ways) way.sever()
  }

  rejoin() {
    for (const way of this.#ways) way.cut = false
  }

  /** The host names that the edge routes. */
  async hosts(): Promise<ReadonlyArray<string>> {
    const response = await fetch(`http://127.0.0.1:${this.adminPort}/admin/host-auth-dump`, {
      headers: { "x-ct-admin-token": this.#adminToken }
    })
    return ((await response.json()) as ReadonlyArray<{ readonly hostname: string }>).map(({ hostname }) => hostname)
  }

  /** Parks as an agent that proves no key; whether the edge takes it. */
  park(token: string, host: string): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connectTls({
        host: "127.0.0.1",
        port: this.#mesh,
        servername: "localhost",
        rejectUnauthorized: false
      })
      this.#parked.push(socket)
      const hello = Buffer.concat([
        Buffer.of(0x4c),
        Buffer.from(token, "hex"),
        Buffer.of(0, host.length),
        Buffer.from(host)
      ])
      socket.once("secureConnect", () => socket.write(hello))
      socket.once("data", (said: Buffer) => resolve(said.toString("latin1", 0, 2) === "OK"))
      socket.on("error", () => resolve(false)).once("close", () => resolve(false))
    })
  }

  async dispose(): Promise<void> {
    for (const socket of this.#parked) socket.destroy()
    await this.kill()
    for (const way of this.#ways) way.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
