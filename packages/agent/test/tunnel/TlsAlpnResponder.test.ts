import { type Agent, type Home, makeHome, runAgent } from "@catenet/testing/agent/Agent"
import type { Leaf } from "@catenet/testing/agent/Authority"
import { exchange, makeSurroundings, registered, type Surroundings } from "@catenet/testing/agent/Surroundings"
import { eventually } from "@catenet/testing/Eventually"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Exit, Scope } from "effect"
import { createHash } from "node:crypto"
import { readFile, readdir, stat, utimes, writeFile } from "node:fs/promises"
import type { Duplex } from "node:stream"
import { text } from "node:stream/consumers"
import { connect, createServer, type TLSSocket } from "node:tls"
import { assert, describe, it } from "vitest"
import * as Challenges from "../../src/certificate/Challenges.ts"
import { HalfOpenDuplex } from "../../src/tunnel/TlsTermination.ts"
import { echo, startOrigin } from "../harness/Origins.ts"

const host = "hello.example"
const authorization = "token.thumbprint"

/** Leaves a challenge as an ACME client does; disposing takes it back. */
const offer = async (home: Home, { cert, key }: Leaf, name = host) => {
  const scope = Effect.runSync(Scope.make())
  await Effect.runPromise(
    Challenges.offer(`${home.path}/state`, name, { certificate: cert, key }).pipe(
      Effect.provide(NodeFileSystem.layer),
      Scope.provide(scope)
    )
  )
  return { [Symbol.asyncDispose]: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

/** What a client that died has left of it. */
const left = async (home: Home, leaf: Leaf) => {
  await using _challenge = await offer(home, leaf)
  return readFile(`${home.path}/state/tls-alpn-01/${host}.pem`)
}

/** What an ACME server does: offers only its own protocol, and looks at the certificate without trusting it. */
const validate = (stream: Duplex, ALPNProtocols = ["acme-tls/1"], servername = host) =>
  new Promise<TLSSocket | Error>((resolve) => {
    const socket: TLSSocket = connect(
      { socket: new HalfOpenDuplex(stream), servername, ALPNProtocols, rejectUnauthorized: false },
      () => resolve(socket)
    )
    socket.on("error", resolve)
  })

/** The digest in the acmeIdentifier extension, which must be critical. */
const proven = (socket: TLSSocket | Error) => {
  if (socket instanceof Error) return socket.message
  assert.strictEqual(socket.alpnProtocol, "acme-tls/1")
  const certificate = socket.getPeerX509Certificate()
  assert.strictEqual(certificate?.subjectAltName, `DNS:${host}`)
  const extension = Buffer.from("06082b0601050507011f0101ff0422", "hex")
  const at = certificate?.raw.indexOf(extension) ?? -1
  return certificate?.raw.subarray(at + extension.length + 2, at + extension.length + 34).toString("hex")
}

const expected = createHash("sha256").update(authorization).digest("hex")

const started = async (stage: Surroundings, home: Home, more: Readonly<Record<string, string>>): Promise<Agent> => {
  const agent = runAgent(home, { ...stage.env, CT_AGENT_STATE_DIR: `${home.path}/state`, ...more })
  await registered(agent)
  return agent
}

const carriers = [
  ["the multiplexed carrier", ["ct-edge-mux", "ct-edge"]],
  ["parked slots", ["ct-edge"]]
] as const

describe.each(carriers)("TLS-ALPN-01 over %s", (_, alpn) => {
  it("is answered while a challenge is pending, beside ordinary visitors", async () => {
    await using stage = await makeSurroundings({ alpn })
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    await using agent = await started(stage, home, { CT_AGENT_ORIGIN: origin.address })
    {
      await using _challenge = await offer(home, stage.authority.challenge(host, authorization))
      const socket = await validate(await stage.edge.open("acme"))
      assert.strictEqual(proven(socket), expected)
      assert.strictEqual(await text(socket as TLSSocket), "")
      await agent.said(`${host} was validated`)
      assert.strictEqual(origin.connections(), 0)
      assert.strictEqual(await exchange(await stage.edge.open(), "hello"), "hello")
    }
    const refused = await validate(await stage.edge.open("acme"))
    // Over slots the origin is left to answer for itself, and this one cannot.
    assert.include(String(refused), alpn[0] === "ct-edge" ? "unexpected message" : "no application protocol")
  })

  it("is refused by an alert when the agent ends TLS and no challenge is pending for this host", async () => {
    await using stage = await makeSurroundings({ alpn })
    await using home = await makeHome()
    const { cert, key } = stage.authority.leaf(host)
    await writeFile(`${home.path}/c.pem`, cert)
    await writeFile(`${home.path}/k.pem`, key)
    await using _other = await offer(home, stage.authority.challenge("other.example", authorization), "other.example")
    await using agent = await started(stage, home, {
      CT_AGENT_ORIGIN_TLS: "terminate",
      CT_AGENT_TLS_CERT: `${home.path}/c.pem`,
      CT_AGENT_TLS_KEY: `${home.path}/k.pem`
    })
    assert.include(String(await validate(await stage.edge.open("acme"))), "no application protocol")
    await agent.said("no challenge is pending")
  })

  it("is passed to an origin that terminates TLS itself", async () => {
    await using stage = await makeSurroundings({ alpn })
    await using home = await makeHome()
    const own = stage.authority.challenge(host, authorization)
    const server = createServer({ ...own, ALPNProtocols: ["acme-tls/1"] }, (socket) => {
      // The agent is killed at the end, perhaps with bytes that it has not read.
      socket.on("error", () => {}).end()
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const address = server.address()
    const port = address !== null && typeof address === "object" ? address.port : 0
    try {
      await using _agent = await started(stage, home, { CT_AGENT_ORIGIN: `127.0.0.1:${port}` })
      assert.strictEqual(proven(await validate(await stage.edge.open("acme"))), expected)
    } finally {
      server.close()
    }
  })
})

describe("a validation outside the access window", () => {
  it("is answered from an order of the agent's own and never reaches the origin", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    await using origin = await startOrigin(echo)
    await using agent = await started(stage, home, { CT_AGENT_ORIGIN: origin.address })
    assert.isTrue(stage.edge.registrations[0]?.request.answersChallenges)
    assert.include(String(await validate(await stage.edge.open("acme", true))), "no application protocol")
    await agent.said("no challenge is pending")
    assert.strictEqual(origin.connections(), 0)
    await using _challenge = await offer(home, stage.authority.challenge(host, authorization))
    assert.strictEqual(proven(await validate(await stage.edge.open("acme", true))), expected)
  })
})

describe("a visitor of a slot that offers more than acme-tls/1", () => {
  it("is not taken for a validation", async () => {
    await using stage = await makeSurroundings({ alpn: ["ct-edge"] })
    await using home = await makeHome()
    await using origin = await startOrigin(echo)
    await using _agent = await started(stage, home, { CT_AGENT_ORIGIN: origin.address })
    await using _challenge = await offer(home, stage.authority.challenge(host, authorization))
    assert.instanceOf(await validate(await stage.edge.open(), ["acme-tls/1", "http/1.1"]), Error)
    assert.strictEqual(origin.connections(), 1)
  })
})

describe("a pending challenge", () => {
  it("is a file for its owner only, is ignored an hour after its client died, and is logged when it is damaged", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    await using agent = await started(stage, home, {})
    const folder = `${home.path}/state/tls-alpn-01`
    const path = `${folder}/${host}.pem`
    const old = Date.now() / 1000 - 3601
    const found = async () => proven(await validate(await stage.edge.open("acme")))
    {
      await using _challenge = await offer(home, stage.authority.challenge(host, authorization))
      assert.deepStrictEqual(await readdir(folder), [`${host}.pem`])
      assert.strictEqual((await stat(path)).mode & 0o777, 0o600)
      // As after the clock of the machine was set by an hour.
      await utimes(path, old, old)
      await eventually(async () => (await found()) === expected, "the client that lives renews it")
    }
    await writeFile(path, await left(home, stage.authority.challenge(host, authorization)))
    await utimes(path, old, old)
    assert.instanceOf(await validate(await stage.edge.open("acme")), Error)
    await using _damaged = await offer(home, { cert: "no certificate", key: "no key" })
    assert.instanceOf(await validate(await stage.edge.open("acme")), Error)
    await agent.said(`${host}.pem is no certificate with its key`)
  })
})
