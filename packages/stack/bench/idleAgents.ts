/** What 1,000 registered agents cost an edge that has nothing to carry for them. */
import { MUX_ALPN, Mux } from "@catenet/wire/transport/Mux"
import { Result } from "effect"
import { connect } from "node:tls"
import { residentMegabytes } from "../test/e2e/Memory.ts"
import type { Stack } from "../test/e2e/Stack.ts"
import type { Row } from "./Report.ts"

const agents = 1000
const atOnce = 20

const dial = async (stack: Stack, ca: string, token: Buffer) => {
  const socket = connect({
    host: "127.0.0.1",
    port: stack.ports.mesh,
    servername: "localhost",
    ca,
    ALPNProtocols: [MUX_ALPN]
  })
  await new Promise<void>((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject))
  const mux = new Mux(socket, { side: "dialler" })
  await mux.ready
  const registered = await mux.register({ token, hosts: [], agentId: "bench", wishes: { proxyProtocol: false } })
  if (Result.isFailure(registered)) throw new Error(registered.failure.sentence)
  return mux
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 3000))

export const rows = async (stack: Stack): Promise<ReadonlyArray<Row>> => {
  const der = Buffer.from(await (await fetch(stack.url("/pki/ca"))).arrayBuffer())
  const ca = `-----BEGIN CERTIFICATE-----\n${der.toString("base64")}\n-----END CERTIFICATE-----\n`
  const edge = stack.pid("edge")
  const warm = await dial(stack, ca, Buffer.alloc(32, 1))
  await settled()
  const before = residentMegabytes(edge)
  const sessions: Array<Mux> = []
  const from = performance.now()
  for (let made = 0; made < agents; made += atOnce) {
    const tokens = Array.from({ length: atOnce }, (_, index) => {
      const token = Buffer.alloc(32, 2)
      token.writeUInt32BE(made + index)
      return token
    })
    sessions.push(...(await Promise.all(tokens.map((token) => dial(stack, ca, token)))))
  }
  const seconds = (performance.now() - from) / 1000
  await settled()
  const after = residentMegabytes(edge)
  for (const session of [warm, ...sessions]) session.close("normal")
  return [
    {
      name: `edge memory per idle tunnel, ${agents} registered`,
      value: ((after - before) * 1024) / agents,
      unit: "KiB"
    },
    { name: "registrations (TLS, echo, registration)", value: agents / seconds, unit: "/s" }
  ]
}
