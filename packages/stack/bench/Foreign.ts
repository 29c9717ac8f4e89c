/** Other people's programs on loopback, for comparison; each is `undefined`, and says so, where it is not installed. */
import { Effect } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { freePort } from "../src/Ports.ts"

export interface Running {
  readonly port: number
  readonly stop: () => void
}

const installed = (name: string) =>
  ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin"]
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path))

const absent = (name: string) => {
  process.stderr.write(`SKIPPED: ${name} is not installed, so nothing is compared with it.\n`)
  return undefined
}

const listening = async (port: number) => {
  for (let tries = 0; tries < 200; tries++) {
    const ok = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.destroy()
        resolve(true)
      })
      socket.once("error", () => resolve(false))
    })
    if (ok) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`nothing listens on port ${port}`)
}

const port = () => Effect.runPromise(freePort("127.0.0.1"))

/** A remote forward of an SSH server of our own to the origin. */
export const sshRemoteForward = async (originPort: number): Promise<Running | undefined> => {
  const [sshd, ssh, keygen] = [installed("sshd"), installed("ssh"), installed("ssh-keygen")]
  if (sshd === undefined || ssh === undefined || keygen === undefined) return absent("OpenSSH")
  const folder = mkdtempSync(join(tmpdir(), "catenet-ssh-"))
  const [server, forwarded] = [await port(), await port()]
  for (const name of ["host", "user"]) execFileSync(keygen, ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, name)])
  writeFileSync(join(folder, "authorized_keys"), execFileSync(keygen, ["-y", "-f", join(folder, "user")]), {
    mode: 0o600
  })
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true })
  const settings = [
    `Port ${server}`,
    "ListenAddress 127.0.0.1",
    `HostKey ${join(folder, "host")}`,
    `AuthorizedKeysFile ${join(folder, "authorized_keys")}`,
    "StrictModes no",
    "UsePAM no",
    "PidFile none",
    "PermitRootLogin prohibit-password"
  ]
  writeFileSync(join(folder, "config"), `${settings.join("\n")}\n`)
  const daemon = spawn(sshd, ["-D", "-f", join(folder, "config")], { stdio: "ignore" })
  await listening(server)
  const options = [
    "StrictHostKeyChecking=no",
    `UserKnownHostsFile=${join(folder, "known")}`,
    "ExitOnForwardFailure=yes"
  ]
  const client = spawn(
    ssh,
    [
      "-N",
      "-i",
      join(folder, "user"),
      "-p",
      String(server),
      "-R",
      `127.0.0.1:${forwarded}:127.0.0.1:${originPort}`,
      ...options.flatMap((option) => ["-o", option]),
      `${userInfo().username}@127.0.0.1`
    ],
    { stdio: "ignore" }
  )
  await listening(forwarded)
  return {
    port: forwarded,
    stop: () => {
      client.kill()
      daemon.kill()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** HAProxy, one thread, routing by the name in the ClientHello to one TLS origin. */
export const haproxyPassthrough = async (hostname: string, originPort: number): Promise<Running | undefined> => {
  const haproxy = installed("haproxy")
  if (haproxy === undefined) return absent("HAProxy")
  const folder = mkdtempSync(join(tmpdir(), "catenet-haproxy-"))
  const front = await port()
  const lines = [
    "global",
    "  nbthread 1",
    "defaults",
    "  mode tcp",
    "  timeout connect 5s",
    "  timeout client 60s",
    "  timeout server 60s",
    "frontend front",
    `  bind 127.0.0.1:${front}`,
    "  tcp-request inspect-delay 5s",
    "  tcp-request content accept if { req_ssl_hello_type 1 }",
    `  use_backend origin if { req.ssl_sni -i ${hostname} }`,
    "backend origin",
    `  server origin 127.0.0.1:${originPort}`
  ]
  writeFileSync(join(folder, "config"), `${lines.join("\n")}\n`)
  const child = spawn(haproxy, ["-db", "-f", join(folder, "config")], { stdio: "ignore" })
  await listening(front)
  return {
    port: front,
    stop: () => {
      child.kill()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
