/**
 * One edge and one origin in processes of their own, without a control plane: what a visitor's bytes pass through and
 * nothing else. Tunnels are authorized over the edge's admin API, their agents are `ct-agent` processes.
 */
import * as Certificates from "@catenet/crypto/x509/Certificate"
import { eventually } from "@catenet/testing/Eventually"
import { agent, catenet, freePorts, type Ports, Spawned } from "@catenet/testing/stack/e2e/Stack"
import { generateKeyPairSync, randomBytes } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Aim } from "../Load.ts"
import * as Service from "./Service.ts"

const adminToken = "ad".repeat(32)
const zone = "bench.localhost"
const issuer = "Bench root"

export type Tier = "gelb" | "gruen"

export interface Tunnel {
  readonly host: string
  readonly token: string
  readonly aim: Required<Aim>
}

const local = (port: number) => `127.0.0.1:${port}`

const mintPair = () => {
  const key = () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
  const [rootKey, leafKey] = [key(), key()]
  const validity = { from: Date.now() - 60_000, until: Date.now() + 86_400_000 }
  return {
    ca: Certificates.pem(Certificates.mintRoot(issuer, rootKey, validity)),
    cert: Certificates.pem(Certificates.mintLeaf(issuer, rootKey, leafKey, [`*.${zone}`], validity)),
    key: String(leafKey.export({ type: "pkcs8", format: "pem" }))
  }
}

/** Resolves when something answers there. */
const answers = (port: number) =>
  eventually(
    () =>
      fetch(`http://${local(port)}/`).then(
        () => true,
        () => false
      ),
    "an answer of the admin interface",
    20_000
  )

type Environment = Readonly<Record<string, string>>

/** The two programs of a tunnel. */
export interface Programs {
  readonly edge: (env: Environment) => Spawned
  readonly agent: (args: ReadonlyArray<string>, env: Environment) => Spawned
  /** What the edge prints once it serves; without it the first answer of its admin interface counts. */
  readonly ready?: string
}

const ours: Programs = { edge: (env) => catenet(["edge"], env), agent, ready: "edge ready" }

/** Programs elsewhere on this machine that take the same variables. */
export const programsAt = (edge: string, agent: string): Programs => {
  const behind = (path: string) => ["sh", "-c", 'exec "$0"', path]
  return { edge: (env) => new Spawned([], env, behind(edge)), agent: (_, env) => new Spawned([], env, behind(agent)) }
}

export class Relay {
  readonly folder: string
  readonly ports: Ports
  readonly edge: Spawned
  readonly origin: Service.Service<{ readonly plain: number; readonly tls: number }>
  /** PEM that visitors trust. */
  readonly ca: string
  /** Its pair for all hosts. */
  readonly certFile: string
  readonly keyFile: string
  readonly #programs: Programs
  readonly #agents: Array<Spawned> = []
  readonly #services: Array<Service.Service<object>> = []

  private constructor(
    of: Pick<Relay, "folder" | "ports" | "edge" | "origin" | "ca" | "certFile" | "keyFile">,
    programs: Programs
  ) {
    this.folder = of.folder
    this.ports = of.ports
    this.edge = of.edge
    this.origin = of.origin
    this.ca = of.ca
    this.certFile = of.certFile
    this.keyFile = of.keyFile
    this.#programs = programs
  }

  /** `more` are variables of the edge. Its caps are lifted: a benchmark comes from one address. */
  static async make(more: Environment = {}, programs: Programs = ours): Promise<Relay> {
    const folder = mkdtempSync(join(tmpdir(), "catenet-bench-"))
    const ports = await freePorts()
    const { ca, cert, key } = mintPair()
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text, { mode: 0o600 })
      return join(folder, name)
    }
    const [certFile, keyFile] = [file("wildcard.pem", cert), file("wildcard-key.pem", key)]
    const edge = programs.edge({
      CT_EDGE_LISTEN: local(ports.mesh),
      CT_FRONT_DOOR: local(ports.frontDoor),
      CT_EDGE_ADMIN_LISTEN: local(ports.edgeAdmin),
      CT_EDGE_ADMIN_TOKEN: adminToken,
      CT_EDGE_CERT_OUT: join(folder, "edge-cert.der"),
      CT_EDGE_WILDCARD_CERT: certFile,
      CT_EDGE_WILDCARD_KEY: keyFile,
      CT_EDGE_MAX_CONNECTIONS: "0",
      CT_EDGE_MAX_CONNECTIONS_PER_IP: "0",
      CT_EDGE_MAX_BROWSER_TUNNEL_CONNECTIONS: "0",
      CT_EDGE_MAX_VISITORS_PER_TUNNEL: "0",
      CT_EDGE_MAX_TCP_AGENT_CONNECTIONS: "0",
      // On a busy machine a pool of single-use slots may take longer to fill up than visitors are usually kept waiting.
      CT_EDGE_TCP_FALLBACK_DELIVER_WAIT_MS: "30000",
      CT_EDGE_RECEIPTS: "1",
      CT_EDGE_SHUTDOWN_GRACE_SECS: "0",
      ...more
    })
    try {
      if (programs.ready === undefined) await answers(ports.edgeAdmin)
      else await edge.printed(programs.ready)
      const service = new URL("originService.ts", import.meta.url)
      const origin: Relay["origin"] = await Service.start(service, { cert, key })
      return new Relay({ folder, ports, edge, origin, ca, certFile, keyFile }, programs)
    } catch (error) {
      await edge.stop("SIGKILL")
      rmSync(folder, { recursive: true, force: true })
      throw error
    }
  }

  /** PEM of the edge's own root, which agents trust. */
  get meshRoot(): string {
    return Certificates.pem(readFileSync(join(this.folder, "edge-cert.der")))
  }

  /** Variables of an agent that ends TLS with the pair for all hosts. */
  get terminating(): Environment {
    return { CT_AGENT_ORIGIN_TLS: "terminate", CT_AGENT_TLS_CERT: this.certFile, CT_AGENT_TLS_KEY: this.keyFile }
  }

  async admin(
    method: string,
    path: string,
    { body, headers }: { readonly headers?: Environment; readonly body?: string } = {}
  ): Promise<Response> {
    return fetch(`http://${local(this.ports.edgeAdmin)}${path}`, {
      method,
      headers: { "x-ct-admin-token": adminToken, ...headers },
      ...(body === undefined ? {} : { body })
    })
  }

  /** Gives a new host to a new token. */
  async tunnel(name: string, tier: Tier): Promise<Tunnel> {
    const host = `${name}.${zone}`
    const token = randomBytes(32).toString("hex")
    const query = tier === "gelb" ? "?channel_tier=gelb" : ""
    const { status } = await this.admin("POST", `/admin/authorize-host/${token}/${host}${query}`)
    if (status !== 200) throw new Error(`authorize-host answered ${status}`)
    return { host, token, aim: { port: this.ports.frontDoor, servername: host, ca: this.ca } }
  }

  /** Starts a `ct-agent` that dials this port of the edge; resolves when it is registered. */
  async agent(tunnel: Tunnel, edgePort: number, more: Environment): Promise<Spawned> {
    const started = this.#programs.agent([], {
      CT_AGENT_CP_URL: `http://${local(1)}`,
      CT_AGENT_TOKEN: tunnel.token,
      CT_AGENT_HOSTNAME: tunnel.host,
      CT_AGENT_MODE: "browser",
      CT_AGENT_EDGE: local(edgePort),
      CT_AGENT_EDGE_CERT: join(this.folder, "edge-cert.der"),
      CT_AGENT_STATE_DIR: join(this.folder, tunnel.host),
      ...more
    })
    this.#agents.push(started)
    const failed = started.ended.then(({ code, stderr }) => {
      throw new Error(`the agent ended with ${code}:\n${stderr}`)
    })
    failed.catch(() => {})
    await Promise.race([
      eventually(() => this.connected(tunnel.token), `the registration of ${tunnel.host}`, 30_000),
      failed
    ])
    return started
  }

  async connected(token: string): Promise<boolean> {
    return (await (await this.admin("GET", `/admin/tunnel-status/${token}`)).text()).includes('"connected":true')
  }

  /** Starts a helper process that ends with this edge. */
  async service<A extends object>(file: string, options: object): Promise<Service.Service<A>> {
    const started = await Service.start<A>(new URL(file, import.meta.url), options)
    this.#services.push(started)
    return started
  }

  /** Runs `ct-agent` with these arguments for as long as this edge lives. */
  run(args: ReadonlyArray<string>, env: Environment): Spawned {
    const started = this.#programs.agent(args, env)
    this.#agents.push(started)
    return started
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#services.map((service) => service.stop()))
    await Promise.all(this.#agents.map((running) => running.stop("SIGKILL")))
    await this.edge.stop("SIGKILL")
    await this.origin.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
