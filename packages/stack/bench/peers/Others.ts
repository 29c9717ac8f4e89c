/** frp, chisel and rathole as their manuals set them up for this: each undefined, and said to be, where its programs are not there. */
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { freePort } from "../../src/Ports.ts"
import { type Behind, ended, found, type Peer, skipped, started } from "./Peer.ts"
import { serves } from "./Serves.ts"

const port = () => Effect.runPromise(freePort("127.0.0.1"))

const aimOf = ({ ca, hosts }: Behind, tier: "gelb" | "gruen", port: number) => ({ port, servername: hosts[tier], ca })

/** Starts both programs and waits until a visitor is served; they end when none is. */
const pair = async (
  name: string,
  server: readonly [command: string, ...args: ReadonlyArray<string>],
  client: readonly [command: string, ...args: ReadonlyArray<string>],
  aims: Peer["aims"]
): Promise<Peer | undefined> => {
  const [near, far] = [server, client].map(([command, ...args]) => started(command, args))
  if (near === undefined || far === undefined) return undefined
  const stop = () => ended(near.child, far.child)
  const { udp: _, ...asked } = aims
  if (!(await serves(Object.values(asked)))) {
    await stop()
    return skipped(name, `no visitor was served\n${near.said()}\n${far.said()}`)
  }
  const pid = far.child.pid ?? -1
  return { name, aims, server: near.child.pid ?? -1, client: { gelb: pid, gruen: pid, port: pid, udp: pid }, stop }
}

const fileIn = (folder: string) => (name: string, lines: ReadonlyArray<string>) => {
  const path = join(folder, name)
  writeFileSync(path, `${lines.join("\n")}\n`, { mode: 0o600 })
  return path
}

/** A host whose TLS is passed through, and one whose TLS ends in `frpc`: at the server it has no such way. */
export const frp = async (behind: Behind): Promise<Peer | undefined> => {
  const [frps, frpc] = [found("frps", undefined), found("frpc", undefined)]
  if (frps === undefined || frpc === undefined) return skipped("frp", "frps and frpc are not both on PATH")
  const file = fileIn(behind.folder)
  const [control, visitors, plain, udp] = [await port(), await port(), await port(), await port()]
  const token = randomBytes(16).toString("hex")
  const auth = `auth.token = "${token}"`
  const server = file("frps.toml", [
    'bindAddr = "127.0.0.1"',
    'proxyBindAddr = "127.0.0.1"',
    `bindPort = ${control}`,
    `vhostHTTPSPort = ${visitors}`,
    auth
  ])
  const client = file("frpc.toml", [
    'serverAddr = "127.0.0.1"',
    `serverPort = ${control}`,
    // It may start before the server listens.
    "loginFailExit = false",
    auth,
    "[[proxies]]",
    'name = "gruen"',
    'type = "https"',
    'localIP = "127.0.0.1"',
    `localPort = ${behind.origin.tls}`,
    `customDomains = ["${behind.hosts.gruen}"]`,
    "[[proxies]]",
    'name = "gelb"',
    'type = "https"',
    `customDomains = ["${behind.hosts.gelb}"]`,
    "[proxies.plugin]",
    'type = "https2http"',
    `localAddr = "127.0.0.1:${behind.origin.plain}"`,
    `crtPath = "${behind.certFile}"`,
    `keyPath = "${behind.keyFile}"`,
    "[[proxies]]",
    'name = "port"',
    'type = "tcp"',
    'localIP = "127.0.0.1"',
    `localPort = ${behind.origin.plain}`,
    `remotePort = ${plain}`,
    "[[proxies]]",
    'name = "udp"',
    'type = "udp"',
    'localIP = "127.0.0.1"',
    `localPort = ${behind.origin.udp}`,
    `remotePort = ${udp}`
  ])
  const ports = { port: { port: plain }, udp: { port: udp } }
  const aims = { ...ports, gelb: aimOf(behind, "gelb", visitors), gruen: aimOf(behind, "gruen", visitors) }
  return pair("frp (gelb: TLS ends in frpc)", [frps, "-c", server], [frpc, "-c", client], aims)
}

/** One reverse port over its SSH connection; TLS is the origin's. */
export const chisel = async (behind: Behind): Promise<Peer | undefined> => {
  const program = found("chisel", undefined)
  if (program === undefined) return skipped("chisel", "chisel is not on PATH")
  const [control, visitors, plain, udp] = [await port(), await port(), await port(), await port()]
  const secret = `bench:${randomBytes(16).toString("hex")}`
  return pair(
    "chisel",
    [program, "server", "--host", "127.0.0.1", "--port", String(control), "--reverse", "--auth", secret],
    [
      program,
      "client",
      "--auth",
      secret,
      `http://127.0.0.1:${control}`,
      `R:127.0.0.1:${visitors}:127.0.0.1:${behind.origin.tls}`,
      `R:127.0.0.1:${plain}:127.0.0.1:${behind.origin.plain}`,
      `R:127.0.0.1:${udp}:127.0.0.1:${behind.origin.udp}/udp`
    ],
    { gruen: aimOf(behind, "gruen", visitors), port: { port: plain }, udp: { port: udp } }
  )
}

/** One service over plain TCP; between its programs nothing is encrypted, so it does less than the others. */
export const rathole = async (behind: Behind): Promise<Peer | undefined> => {
  const program = found("rathole", undefined)
  if (program === undefined) return skipped("rathole", "rathole is not on PATH")
  const file = fileIn(behind.folder)
  const [control, visitors, plain, udp] = [await port(), await port(), await port(), await port()]
  const token = randomBytes(16).toString("hex")
  const server = file("rathole-server.toml", [
    "[server]",
    `bind_addr = "127.0.0.1:${control}"`,
    `default_token = "${token}"`,
    "[server.services.gruen]",
    `bind_addr = "127.0.0.1:${visitors}"`,
    "[server.services.port]",
    `bind_addr = "127.0.0.1:${plain}"`,
    "[server.services.udp]",
    'type = "udp"',
    `bind_addr = "127.0.0.1:${udp}"`
  ])
  const client = file("rathole-client.toml", [
    "[client]",
    `remote_addr = "127.0.0.1:${control}"`,
    `default_token = "${token}"`,
    "[client.services.gruen]",
    `local_addr = "127.0.0.1:${behind.origin.tls}"`,
    "[client.services.port]",
    `local_addr = "127.0.0.1:${behind.origin.plain}"`,
    "[client.services.udp]",
    'type = "udp"',
    `local_addr = "127.0.0.1:${behind.origin.udp}"`
  ])
  const aims = { gruen: aimOf(behind, "gruen", visitors), port: { port: plain }, udp: { port: udp } }
  return pair("rathole (unencrypted)", [program, "--server", server], [program, "--client", client], aims)
}
