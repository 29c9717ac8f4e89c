/** A tunnel of a test: provisioned and authorized over the control plane's routes, served by a `ct-agent` process. */
import * as AgentRequest from "@catenet/crypto/AgentRequest"
import { native } from "@catenet/crypto/native"
import { eventually } from "@catenet/testing/Eventually"
import type { Ports, Spawned } from "@catenet/testing/stack/e2e/Stack"
import { agent } from "@catenet/testing/stack/e2e/Stack"
import { ask, type Target } from "@catenet/testing/stack/e2e/Visitor"
import { Redacted } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"

/** A platform with one edge in front: what a tunnel needs of it. */
export interface Place {
  readonly folder: string
  readonly ports: Pick<Ports, "frontDoor" | "edgeAdmin">
  readonly secrets: Readonly<Record<string, string>>
  /** The root that visitors trust, PEM. */
  readonly root: string
  url(path: string): string
  admin(method: string, path: string, body?: unknown): Promise<Response>
}

export interface Tunnel {
  readonly hostname: string
  readonly token: string
  readonly variables: Readonly<Record<string, string>>
  readonly target: Target
}

const field = async (response: Response, name: string): Promise<string> => {
  const body = (await response.json()) as Record<string, unknown>
  const value = body[name]
  if (typeof value !== "string") throw new Error(`${response.status} ${JSON.stringify(body)}`)
  return value
}

/** Makes a tunnel for a host name; its agent is not started. */
export const provision = async (stack: Place, hostname: string, originPort: number): Promise<Tunnel> => {
  const name = hostname.split(".")[0] ?? hostname
  const provisioned = await stack.admin("POST", "/admin/provision-tunnel", { subject: "tester", name, hostname })
  const token = await field(provisioned, "routing_token")
  const join_token = await field(await stack.admin("POST", "/enroll/issue", { tenant: "tester" }), "token")
  const authorized = await stack.admin("POST", `/registry/authorize-host/${token}/${hostname}`)
  if (authorized.status !== 200) throw new Error(`authorize-host answered ${authorized.status}`)
  return {
    hostname,
    token,
    target: { host: hostname, port: stack.ports.frontDoor, ca: stack.root },
    variables: {
      CT_AGENT_CP_URL: stack.url(""),
      CT_AGENT_JOIN_TOKEN: join_token,
      CT_AGENT_TOKEN: token,
      CT_AGENT_HOSTNAME: hostname,
      CT_AGENT_MODE: "browser",
      CT_AGENT_ORIGIN: `127.0.0.1:${originPort}`,
      CT_AGENT_STATE_DIR: join(stack.folder, `agent-${name}`),
      CT_AGENT_EDGE_CERT: join(stack.folder, `agent-${name}-edge-cert.der`)
    }
  }
}

/** Whether an agent of the tunnel is registered with the edge. */
export const connected = async (stack: Place, token: string): Promise<boolean> => {
  const response = await fetch(`http://127.0.0.1:${stack.ports.edgeAdmin}/admin/tunnel-status/${token}`, {
    headers: { "x-ct-admin-token": stack.secrets["edgeAdminToken"] ?? "" }
  })
  const body = (await response.json()) as { connected?: boolean }
  return body.connected === true
}

/** Starts the tunnel's agent and waits until the edge knows it. */
export const serve = async (
  stack: Place,
  { token, variables }: Tunnel,
  more: Readonly<Record<string, string>> = {}
): Promise<Spawned> => {
  const started = agent([], { ...variables, ...more })
  const failed = started.ended.then(({ code, stderr }) => {
    throw new Error(`the agent ended with ${code}:\n${stderr}`)
  })
  failed.catch(() => {})
  await Promise.race([eventually(() => connected(stack, token), "the agent's registration", 120_000), failed])
  return started
}

/** Calls a route of agents with a proof by the key in an agent's state folder. */
export const asAgent = (stack: Pick<Place, "url">, stateDir: string, method: "GET" | "POST", path: string) => {
  const seed = Redacted.make(new Uint8Array(readFileSync(join(stateDir, "identity.key"))))
  const now = BigInt(Math.floor(Date.now() / 1000))
  const proof = AgentRequest.sign(native, seed, { method, path, body: new Uint8Array() }, now)
  return fetch(stack.url(path), { method, headers: { [AgentRequest.header]: proof } })
}

export const get = (tunnel: Tunnel, path: string) => ask(tunnel.target, { path })
