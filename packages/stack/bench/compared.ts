/** The tunnel beside two programs that people use today: an SSH remote forward, and HAProxy passing TLS through by name. */
import * as Certificates from "@catenet/crypto/x509/Certificate"
import { httpOrigin } from "@catenet/testing/stack/e2e/Origins"
import type { Stack } from "@catenet/testing/stack/e2e/Stack"
import { generateKeyPairSync } from "node:crypto"
import { createServer } from "node:https"
import { provision, serve } from "../test/e2e/Tunnel.ts"
import { haproxyPassthrough, sshRemoteForward } from "./Foreign.ts"
import { inTurns } from "./InTurns.ts"
import * as Load from "./Load.ts"
import type { Row } from "./Report.ts"

const seconds = 2

const besideSsh = async (stack: Stack): Promise<ReadonlyArray<Row>> => {
  const origin = await httpOrigin()
  const ssh = await sshRemoteForward(origin.port)
  if (ssh === undefined) return []
  const tunnel = await provision(stack, "ssh.catenet.localhost", origin.port)
  const agent = await serve(stack, tunnel)
  const ours: Load.Aim = { port: stack.ports.frontDoor, servername: tunnel.hostname, ca: stack.root }
  const theirs: Load.Aim = { port: ssh.port }
  const against = "ssh -R"
  const requests = await inTurns(
    async () => (await Load.requests(ours, 64, seconds * 1000)).perSecond,
    async () => (await Load.requests(theirs, 64, seconds * 1000)).perSecond
  )
  const bytes = await inTurns(
    () => Load.megabytesPerSecond(ours, 1, 256),
    () => Load.megabytesPerSecond(theirs, 1, 256)
  )
  ssh.stop()
  await agent.stop()
  await origin.close()
  return [
    {
      name: "requests, 64 in flight (HTTPS to the visitor)",
      value: requests.first,
      unit: "/s",
      ratio: requests.ratio,
      against
    },
    { name: "download on 1 connection", value: bytes.first, unit: "MB/s", ratio: bytes.ratio, against }
  ]
}

const besideHaproxy = async (stack: Stack): Promise<ReadonlyArray<Row>> => {
  const hostname = "passthrough.catenet.localhost"
  const validity = { from: Date.now() - 60_000, until: Date.now() + 3_600_000 }
  const keys = [0, 1].map(() => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey)
  const [rootKey, key] = keys
  if (rootKey === undefined || key === undefined) return []
  const ca = Certificates.pem(Certificates.mintRoot("Bench root", rootKey, validity))
  const cert = Certificates.pem(Certificates.mintLeaf("Bench root", rootKey, key, [hostname], validity))
  const server = createServer({ key: key.export({ type: "pkcs8", format: "pem" }), cert }, (_, response) =>
    response.end("hello")
  )
  const originPort = await new Promise<number>((resolve) =>
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve(address !== null && typeof address === "object" ? address.port : 0)
    })
  )
  const haproxy = await haproxyPassthrough(hostname, originPort)
  if (haproxy === undefined) {
    server.close()
    return []
  }
  const tunnel = await provision(stack, hostname, originPort)
  const agent = await serve(stack, tunnel)
  await fetch(stack.url(`/agent/acme-issuance-complete/${tunnel.token}/${hostname}`), { method: "POST" })
  const handshakes = (port: number) => () =>
    Load.handshakesPerSecond({ port, servername: hostname, ca }, 32, seconds * 1000)
  const fresh = await inTurns(handshakes(stack.ports.frontDoor), handshakes(haproxy.port))
  haproxy.stop()
  await agent.stop()
  server.closeAllConnections()
  server.close()
  return [
    {
      name: "new TLS connections through a gruen tunnel",
      value: fresh.first,
      unit: "/s",
      ratio: fresh.ratio,
      against: "HAProxy passing through, without an agent"
    }
  ]
}

export const rows = async (stack: Stack): Promise<ReadonlyArray<Row>> => [
  ...(await besideSsh(stack)),
  ...(await besideHaproxy(stack))
]
