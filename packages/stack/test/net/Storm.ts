/**
 * A program that is many agents: it registers them one after the other, and at each line on its input drops all their
 * connections and dials all of them again at the same moment. Arguments: port of the edge, file of its root (DER), count.
 * It prints `registered`, and a JSON line after each storm.
 */
import { eventually } from "@catenet/testing/Eventually"
import { muxAlpn, Mux } from "@catenet/wire/transport/Mux"
import { Result } from "effect"
import { X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import { setPriority } from "node:os"
import { createInterface } from "node:readline"
import { connect, type TLSSocket } from "node:tls"

const [port = "", root = "", count = ""] = process.argv.slice(2)
const ca = new X509Certificate(readFileSync(root)).toString()
const paceAtStart = 20

// A thousand agents have processors of their own; here they must not take the edge's.
setPriority(19)

const tokens = Array.from({ length: Number(count) }, (_, index) => {
  const token = Buffer.alloc(32, 7)
  token.writeUInt32BE(index)
  return token
})

const register = async (token: Buffer): Promise<TLSSocket> => {
  const socket = connect({
    host: "127.0.0.1",
    port: Number(port),
    servername: "localhost",
    ca,
    ALPNProtocols: [muxAlpn]
  })
  await new Promise<void>((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject))
  const mux = new Mux(socket, { side: "dialler", onStream: (stream) => stream.reset("refused") })
  const registered = await mux.register({ token, hosts: [], agentId: "storm", wishes: { proxyProtocol: false } })
  if (Result.isFailure(registered)) throw new Error(registered.failure.sentence)
  return socket
}

/** As an agent does: a connection that the edge had no time for is tried again. */
const registerInTheEnd = async (token: Buffer): Promise<ReadonlyArray<TLSSocket>> => {
  const registered: Array<TLSSocket> = []
  const attempt = () =>
    register(token).then(
      (socket) => registered.push(socket) > 0,
      () => false
    )
  await eventually(attempt, "an agent is registered")
  return registered
}

let sockets: ReadonlyArray<TLSSocket> = []

const storm = async () => {
  for (const socket of sockets) socket.destroy()
  const from = performance.now()
  sockets = (await Promise.all(tokens.map(registerInTheEnd))).flat()
  const seconds = (performance.now() - from) / 1000
  process.stdout.write(`${JSON.stringify({ registered: sockets.length, seconds })}\n`)
}

const begun: Array<TLSSocket> = []
for (let made = 0; made < tokens.length; made += paceAtStart)
  begun.push(...(await Promise.all(tokens.slice(made, made + paceAtStart).map(register))))
sockets = begun
process.stdout.write("registered\n")
const lines = createInterface({ input: process.stdin })
lines.on("line", () => void storm())
lines.on("close", () => process.exit(0))
