import { eventually } from "@catenet/testing/Eventually"
import { httpOrigin, netOrigin, type Origin } from "@catenet/testing/stack/e2e/Origins"
import { Stack } from "@catenet/testing/stack/e2e/Stack"
import { ask } from "@catenet/testing/stack/e2e/Visitor"
import { spawn, spawnSync } from "node:child_process"
import { createPrivateKey, randomBytes } from "node:crypto"
import { readFileSync, rmSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { dirname, join } from "node:path"
import { text } from "node:stream/consumers"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { WebSocketServer } from "ws"
import { order, shown, tunnel } from "./OrderingAgent.ts"
import { steadyVisitors } from "./SteadyVisitors.ts"
import * as SwitchVisitors from "./SwitchVisitors.ts"
import { asAgent } from "./Tunnel.ts"

/** Stands between a program and a server, and keeps every byte that goes from one to the other. */
interface RecordingProxy extends Origin {
  readonly bytes: () => Buffer
}

const recordingProxy = async (port: number): Promise<RecordingProxy> => {
  const chunks: Array<Buffer> = []
  const copy = (from: Socket, to: Socket) => {
    from.on("data", (chunk: Buffer) => {
      chunks.push(chunk)
      if (!to.write(chunk)) from.pause()
    })
    to.on("drain", () => from.resume())
    from.once("end", () => to.end())
    from.once("error", () => to.destroy())
    from.once("close", () => to.destroySoon())
  }
  const origin = await netOrigin((socket) => {
    const server = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true })
    copy(socket, server)
    copy(server, socket)
  })
  return { ...origin, bytes: () => Buffer.concat(chunks) }
}

/** What OpenSSL says of keys, requests and servers, where it is installed. */
const hasOpenssl = spawnSync("openssl", ["version"]).status === 0
if (!hasOpenssl)
  process.stderr.write("\nSKIPPED: there is no `openssl` on PATH, so keys and requests are not checked.\n\n")

/** What it prints, on both of its outputs. */
const openssl = async (args: ReadonlyArray<string>, input: string | Buffer = ""): Promise<string> => {
  const child = spawn("openssl", args, { stdio: ["pipe", "pipe", "pipe"] })
  child.stdin.on("error", () => undefined).end(input)
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  return `${out}\n${err}`
}

// Looks for a private key in recorded bytes: as it lies in its file, its numbers alone, and in any text form, within others too.

/** What is to be found nowhere. */
const tracesOf = (pem: string): ReadonlyArray<Buffer> => {
  const key = createPrivateKey(pem)
  const scalar = Buffer.from(key.export({ format: "jwk" }).d ?? "", "base64url")
  if (scalar.length !== 32) throw new Error("no key of P-256")
  // A line without a byte of the scalar is of the public key, which certificates hold.
  const lines = pem.split("\n").filter((line) => {
    const bytes = Buffer.from(line, "base64")
    return !line.startsWith("-----") && (bytes.includes(scalar.subarray(0, 8)) || bytes.includes(scalar.subarray(-8)))
  })
  if (lines.length === 0) throw new Error("no line holds the key")
  return [
    scalar,
    Buffer.from(scalar).reverse(),
    Buffer.from(scalar.toString("hex")),
    Buffer.from(scalar.toString("hex").toUpperCase()),
    Buffer.from(scalar.toString("base64").slice(0, 42)),
    Buffer.from(scalar.toString("base64url").slice(0, 42)),
    ...lines.map((line) => Buffer.from(line))
  ]
}

const encoded = /[A-Za-z0-9_+/-]{40,}/g
/** Requests of ACME hold a request for a certificate in base64url in JSON in base64url. */
const maxNested = 4

/** The bytes, and what stands in them in base64, and so on; every text at each of the four places where it may begin. */
function* layers(bytes: Buffer, nested = 0): Generator<Buffer> {
  yield bytes
  if (nested >= maxNested) return
  for (const [run] of bytes.toString("latin1").matchAll(encoded))
    for (let skipped = 0; skipped < 4; skipped++) yield* layers(Buffer.from(run.slice(skipped), "base64"), nested + 1)
}

/** How often something of the key is in the bytes. */
const traces = (pem: string, bytes: Buffer): number => {
  const wanted = tracesOf(pem)
  let found = 0
  for (const layer of layers(bytes)) for (const trace of wanted) if (layer.includes(trace)) found++
  return found
}

/** The request for a certificate that was sent to the authority, DER. */
const certificateRequest = (bytes: Buffer): Buffer | undefined => {
  for (const layer of layers(bytes)) {
    const csr = /^\{"csr":"([\w-]+)"\}/.exec(layer.toString("latin1"))?.[1]
    if (csr !== undefined) return Buffer.from(csr, "base64url")
  }
  return undefined
}

/** Visitors a second, and for how long they come behind the switch; a campaign sets both. */
const rate = Number(process.env["CATENET_SWITCH_RATE"] ?? 20)
const seconds = Number(process.env["CATENET_SWITCH_SECONDS"] ?? 1)

let stack: Stack

describe("the switch from gelb to gruen", () => {
  beforeAll(async () => {
    stack = await Stack.make()
    await stack.up(["--no-demo"])
  })
  afterAll(() => stack.dispose())

  it.concurrent("loses no visitor of a tunnel with two agents, and both get a certificate", async () => {
    const origin = await httpOrigin()
    // Another attempt finds the name of the one before taken.
    const host = `pair-${randomBytes(4).toString("hex")}.localhost`
    const shared = await tunnel(stack, host, origin)
    const agents = [await order(stack, shared, "one"), await order(stack, shared, "two")]
    const done = new AbortController()
    const { done: left, seen } = steadyVisitors(shared.target, rate, done.signal, false)
    await eventually(
      () => agents.every(({ certificate }) => certificate() !== undefined),
      () => `both have a certificate: ${agents.map(({ process }) => process.stderr).join("\n")}`
    )
    const own = new Set(agents.map(({ certificate }) => certificate()?.fingerprint256))
    await eventually(async () => own.has((await shown(shared))?.fingerprint256), "one of them is shown")
    const goOn = async () => {
      const before = seen.visits
      await eventually(() => seen.visits > before + rate, "visitors go on")
    }
    await goOn()
    // A certificate is lost: its agent serves with it until it ends, starts again without one, and orders another.
    const [lost] = agents
    const first = lost?.certificate()?.fingerprint256
    rmSync(lost?.folder ?? "", { recursive: true })
    await lost?.process.stop()
    agents[0] = await order(stack, shared, "one")
    await eventually(
      () => (agents[0]?.certificate()?.fingerprint256 ?? first) !== first,
      () => `another certificate is there: ${agents[0]?.process.stderr}`
    )
    await goOn()
    const state = dirname(agents[0]?.folder ?? "")
    const admission = await asAgent(stack, state, "GET", `/agent/acme-admission/${shared.token}/${host}`)
    assert.deepInclude(await admission.json(), { status: "gruen" })
    done.abort()
    await left
    assert.deepStrictEqual(seen.lost, [])
    assert.strictEqual(own.size, 2)
    const orders = agents.map(({ process }) => process.stderr + process.stdout)
    for (const log of orders) assert.notInclude(log, "dns-01")
    for (const { process } of agents) await process.stop()
    await origin.close()
  })

  // By itself: what visitors wait for is to be the switch, and no other test.
  it(`finishes or serves each of ${rate} visitors a second over HTTP/1.1, HTTP/2 and WebSocket`, async () => {
    const origin = await httpOrigin()
    const sockets = new WebSocketServer({ server: origin.server })
    sockets.on("connection", (client) =>
      client.on("message", (data, isBinary) => client.send(data, { binary: isBinary }))
    )
    const named = await tunnel(stack, "switch.localhost", origin)
    const agent = await order(stack, named, "one")
    const done = new AbortController()
    const seen = SwitchVisitors.visitors(named.target, rate, done.signal)
    await eventually(
      async () => {
        const own = agent.certificate()?.fingerprint256
        return own !== undefined && (await shown(named))?.fingerprint256 === own
      },
      () => `the certificate of the agent is shown: ${agent.process.stderr}`
    )
    await SwitchVisitors.goOn(seconds)
    done.abort()
    const { answers, certificates, rate: came, stayed } = await seen
    const own = agent.certificate()?.fingerprint256 ?? ""
    const figures = JSON.stringify([[...answers], [...certificates], Math.round(came), stayed])
    process.stderr.write(`visitors over the switch: ${figures}\n`)
    assert.deepStrictEqual([...answers.keys()].sort(), ["http1 200", "http2 200", "websocket 200"], figures)
    assert.strictEqual(certificates.size, 2, figures)
    for (const shownTo of certificates.values()) assert.isAbove(shownTo, 0)
    assert.isTrue(certificates.has(own))
    assert.isAbove(stayed, 0)
    await agent.process.stop()
    sockets.close()
    await origin.close()
  })

  it.concurrent("shows the certificate of the agent, whose key has crossed no socket", async () => {
    const origin = await httpOrigin()
    const named = await tunnel(stack, "key.localhost", origin)
    const [plane, edge] = [await recordingProxy(stack.ports.controlPlane), await recordingProxy(stack.ports.mesh)]
    const record = stack.path("sockets.bin")
    const agent = await order(stack, named, "one", {
      CT_AGENT_CP_URL: `http://127.0.0.1:${plane.port}`,
      CT_AGENT_EDGE: `localhost:${edge.port}`,
      NODE_OPTIONS: `--import ${new URL("recordSockets.mjs", import.meta.url)}`,
      RECORD_SOCKETS: record
    })
    const own = () => agent.certificate()
    await eventually(
      async () => own() !== undefined && (await shown(named))?.serialNumber === own()?.serialNumber,
      () => `the certificate of the agent is shown: ${agent.process.stderr}`
    )
    assert.strictEqual((await ask(named.target)).status, 200)
    const key = readFileSync(join(agent.folder, "privkey.pem"), "utf8")
    const [root, target] = [stack.path("development-root.pem"), `127.0.0.1:${stack.ports.frontDoor}`]
    if (hasOpenssl) {
      const visited = await openssl(["s_client", "-connect", target, "-servername", "key.localhost", "-CAfile", root])
      assert.include(visited, "Verify return code: 0 (ok)")
      const serial = await openssl(["x509", "-noout", "-serial"], visited)
      assert.strictEqual(/serial=([0-9A-F]+)/.exec(serial)?.[1], own()?.serialNumber)
    }
    await agent.process.stop()
    const written = readFileSync(record)
    for (const said of ["/agent/acme-admission/", "/agent/acme-issuance-complete/", '"protected"', "catenet-mux"])
      assert.isTrue(written.includes(said), `${said} was recorded`)
    assert.isTrue(plane.bytes().includes("/agent/acme-issuance-complete/"))
    assert.isAbove(edge.bytes().length, 10_000)
    for (const bytes of [written, plane.bytes(), edge.bytes()]) assert.strictEqual(traces(key, bytes), 0)
    // The same eyes find it in each form.
    const der = createPrivateKey(key).export({ type: "pkcs8", format: "der" })
    for (const leak of [key, der, der.toString("base64url"), Buffer.from(JSON.stringify({ key })).toString("base64")])
      assert.isAbove(traces(key, Buffer.concat([Buffer.from("x"), Buffer.from(leak), Buffer.alloc(9)])), 0)
    const request = certificateRequest(written)
    assert.isDefined(request, "the request for the certificate was recorded")
    if (hasOpenssl) {
      assert.include(await openssl(["ec", "-check", "-noout"], key), "EC Key valid")
      const said = await openssl(["req", "-inform", "DER", "-verify", "-noout", "-text"], request)
      assert.match(said, /verify OK/i)
      assert.include(said, "DNS:key.localhost")
      const publicKey = async (args: ReadonlyArray<string>, input: string | Buffer = "") =>
        /-----BEGIN PUBLIC KEY-----[^-]+/.exec(await openssl(args, input))?.[0]
      const ofKey = await publicKey(["pkey", "-pubout"], key)
      assert.isDefined(ofKey)
      assert.strictEqual(await publicKey(["req", "-inform", "DER", "-noout", "-pubkey"], request), ofKey)
      const chain = readFileSync(join(agent.folder, "fullchain.pem"), "utf8")
      assert.strictEqual(await publicKey(["x509", "-noout", "-pubkey"], chain), ofKey)
    }
    for (const { close } of [plane, edge, origin]) await close()
  })
})
