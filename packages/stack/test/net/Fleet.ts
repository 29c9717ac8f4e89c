/** One control plane and two edges that share a root and know each other, each a process of its own as an operator runs it. */
import { eventually } from "@catenet/testing/Eventually"
import { catenet, endsWithUs, type Spawned } from "@catenet/testing/stack/e2e/Stack"
import { temporaryRoot } from "@catenet/testing/TemporaryRoot"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { freePort } from "../../src/Ports.ts"
import * as DevelopmentNames from "../../src/up/DevelopmentNames.ts"
import * as StackFolder from "../../src/up/StackFolder.ts"
import { type Place, type Tunnel } from "../e2e/Tunnel.ts"

const port = () => Effect.runPromise(freePort("127.0.0.1"))
const at = (number: number) => `127.0.0.1:${number}`

type Variables = Readonly<Record<string, string>>

export interface EdgePorts {
  readonly mesh: number
  readonly frontDoor: number
  readonly edgeAdmin: number
}

/** An edge that can be killed and started again on the same ports and the same folder. */
export class Edge {
  readonly ports: EdgePorts
  readonly #env: Variables
  #process: Spawned | undefined

  constructor(ports: EdgePorts, env: Variables) {
    this.ports = ports
    this.#env = {
      CT_EDGE_QUIC: "off",
      ...env,
      ...endsWithUs,
      CT_EDGE_LISTEN: at(ports.mesh),
      CT_EDGE_PUBLIC_ADDR: at(ports.mesh),
      CT_FRONT_DOOR: at(ports.frontDoor),
      CT_EDGE_ADMIN_LISTEN: at(ports.edgeAdmin)
    }
  }

  static async ports(): Promise<EdgePorts> {
    return { mesh: await port(), frontDoor: await port(), edgeAdmin: await port() }
  }

  get process(): Spawned {
    if (this.#process === undefined) throw new Error("the edge has not been started")
    return this.#process
  }

  async start(): Promise<void> {
    this.#process = catenet(["edge", "--log-format", "json"], this.#env)
    await this.#process.printed("edge ready")
  }

  async stop(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    await this.#process?.stop(signal)
  }
}

export class Fleet implements Place {
  readonly folder: string
  readonly secrets = { edgeAdminToken: randomBytes(32).toString("hex") }
  readonly #controlPlanePort: number
  readonly #env: (name: string, more: Variables) => Variables
  readonly #more: Array<Edge> = []
  readonly first: Edge
  readonly second: Edge
  #controlPlane: Spawned | undefined

  private constructor(
    folder: string,
    controlPlanePort: number,
    ports: readonly [EdgePorts, EdgePorts],
    [ofFirst, ofSecond]: readonly [Variables, Variables]
  ) {
    this.folder = folder
    this.#controlPlanePort = controlPlanePort
    const zone = StackFolder.at(folder)
    const env = (name: string, more: Variables) => ({
      CT_EDGE_ID: `${name}-${controlPlanePort}`,
      CT_EDGE_ADMIN_TOKEN: this.secrets.edgeAdminToken,
      CT_EDGE_CP_URL: this.url(""),
      CT_EDGE_CERT_OUT: join(folder, name, "edge-cert.der"),
      CT_EDGE_WILDCARD_CERT: zone.wildcardCertificate,
      CT_EDGE_WILDCARD_KEY: zone.wildcardKey,
      CT_EDGE_MESH_RELAY_ENABLED: "1",
      CT_EDGE_MESH_RELAY_PRIVATE: "1",
      ...more
    })
    this.#env = env
    this.first = new Edge(ports[0], env("first", ofFirst))
    this.second = new Edge(ports[1], env("second", ofSecond))
  }

  /** Takes further variables of the two edges. */
  static async start(ofFirst: Variables = {}, ofSecond: Variables = {}): Promise<Fleet> {
    const folder = mkdtempSync(join(temporaryRoot(), "catenet-fleet-"))
    const ports = [await Edge.ports(), await Edge.ports()] as const
    const fleet = new Fleet(folder, await port(), ports, [ofFirst, ofSecond])
    try {
      await fleet.#bringUp()
    } catch (cause) {
      await fleet.dispose()
      throw cause
    }
    return fleet
  }

  async #bringUp() {
    const names = ["first", "second"]
    for (const name of names) mkdirSync(join(this.folder, name), { mode: 0o700 })
    await Effect.runPromise(
      DevelopmentNames.ensureDevelopmentCertificates(StackFolder.at(this.folder), ["localhost", "*.catenet.localhost"])
    )
    this.#controlPlane = catenet(["serve", "--log-format", "json"], {
      ...endsWithUs,
      CT_CONTROL_PLANE_LISTEN: at(this.#controlPlanePort),
      CT_CP_DATABASE_URL: process.env["CATENET_TEST_DATABASE_URL"] ?? "",
      CT_CP_SEAL_KEY: "5e".repeat(32),
      CT_CP_EDGE_ADMIN_URL: `http://${at(this.first.ports.edgeAdmin)}`,
      CT_CP_EDGE_ADMIN_TOKEN: this.secrets.edgeAdminToken,
      CT_CP_EDGE_CERT_PATH: join(this.folder, "first", "edge-cert.der"),
      CT_CP_MESH_EDGE_PORT: String(this.first.ports.mesh),
      CT_EDGE_ID: `first-${this.#controlPlanePort}`
    })
    const died = this.#controlPlane.ended.then(({ code, stderr }) => {
      throw new Error(`the control plane ended with ${code}:\n${stderr}`)
    })
    died.catch(() => {})
    await Promise.race([this.first.start(), died])
    this.#shareRoot("second")
    await this.second.start()
  }

  /** All edges of an operator share the root. */
  #shareRoot(name: string) {
    for (const file of ["edge-ca-key.pem", "edge-ca-cert.der"])
      copyFileSync(join(this.folder, "first", file), join(this.folder, name, file))
  }

  /** Starts one more edge, which the control plane sends its orders to. */
  async another(name: string): Promise<Edge> {
    mkdirSync(join(this.folder, name), { mode: 0o700 })
    this.#shareRoot(name)
    const ports = await Edge.ports()
    const edge = new Edge(ports, this.#env(name, { CT_EDGE_ADMIN_URL: `http://${at(ports.edgeAdmin)}` }))
    this.#more.push(edge)
    await edge.start()
    return edge
  }

  get ports(): EdgePorts {
    return this.first.ports
  }

  get root(): string {
    return readFileSync(StackFolder.at(this.folder).developmentRoot, "utf8")
  }

  url(path: string): string {
    return `http://${at(this.#controlPlanePort)}${path}`
  }

  admin(method: string, path: string, body?: unknown): Promise<Response> {
    return this.#call(this.url(path), method, body)
  }

  #call(address: string, method: string, body?: unknown): Promise<Response> {
    return fetch(address, {
      method,
      headers: {
        "x-ct-admin-token": this.secrets.edgeAdminToken,
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  }

  /** Gives the second edge a tunnel that the control plane made for the first, and sends its visitors and agents there. */
  async move(tunnel: Tunnel): Promise<Tunnel> {
    const order = `/admin/authorize-host/${tunnel.token}/${tunnel.hostname}?channel_tier=gelb`
    const { status } = await this.#call(`http://${at(this.second.ports.edgeAdmin)}${order}`, "POST")
    if (status !== 200) throw new Error(`authorize-host answered ${status}`)
    return {
      ...tunnel,
      target: { ...tunnel.target, port: this.second.ports.frontDoor },
      variables: { ...tunnel.variables, CT_AGENT_EDGE: at(this.second.ports.mesh) }
    }
  }

  /** Waits until an edge has so many registrations of a tunnel. */
  async registered(edge: Edge, token: string, count: number, within = 120_000): Promise<void> {
    const status = `http://${at(edge.ports.edgeAdmin)}/admin/tunnel-status/${token}`
    await eventually(
      async () => {
        const response = await this.#call(status, "GET")
        const { fallback_parked, registrations } = (await response.json()) as Record<string, number>
        return (registrations ?? 0) + (fallback_parked ?? 0) >= count
      },
      `${count} registrations`,
      within
    )
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#more.map((edge) => edge.stop()))
    await Promise.all([this.first.stop(), this.second.stop(), this.#controlPlane?.stop("SIGKILL")])
    rmSync(this.folder, { recursive: true, force: true })
  }
}
