import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { exchange, joinToken, makeSurroundings, registered } from "@catenet/testing/agent/Surroundings"
import { once } from "node:events"
import { mkdir, writeFile } from "node:fs/promises"
import { text } from "node:stream/consumers"
import { connect } from "node:tls"
import { assert, describe, it } from "vitest"
import { HalfOpenDuplex } from "../../src/tunnel/TlsTermination.ts"
import { echo, startOrigin } from "../harness/Origins.ts"

describe("CT_AGENT_ORIGIN_TLS=terminate", () => {
  it("ends the client's TLS with the pair of files, forwards other streams raw, and counts the handshake", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    const { cert, key } = stage.authority.leaf("hello.example")
    await writeFile(`${home.path}/fullchain.pem`, cert)
    await writeFile(`${home.path}/privkey.pem`, key)
    await using agent = runAgent(home, {
      ...stage.env,
      CT_AGENT_ORIGIN: origin.address,
      CT_AGENT_ORIGIN_TLS: "terminate",
      CT_ACME_CERT_OUT_DIR: home.path,
      CT_AGENT_METRICS_LISTEN: "127.0.0.1:0"
    })
    await registered(agent)
    const socket = connect({
      socket: new HalfOpenDuplex(await stage.edge.open()),
      servername: "hello.example",
      ca: stage.authority.pem
    })
    socket.end("over tls")
    assert.strictEqual(await text(socket), "over tls")
    assert.isTrue(socket.authorized)
    assert.strictEqual(await exchange(await stage.edge.open(), "GET / HTTP/1.1"), "GET / HTTP/1.1")
    assert.strictEqual(await exchange(await stage.edge.open(), "ab"), "ab")
    const base = /http:\/\/[^/]+/.exec(await agent.said("status, metrics and events at"))?.[0]
    assert.include(await (await fetch(`${base}/metrics`)).text(), "ct_handshakes_total 1\n")
  })

  it.each([
    ["serves as before where neither edge nor control plane knows policies", undefined, /^HTTP\/1.1 200 /],
    ["asks for a login at an edge that knows none", true, /^HTTP\/1.1 302 /],
    ["asks for none where none is required, at an edge that knows no policies", false, /^HTTP\/1.1 200 /]
  ])("%s", async (_, login, status) => {
    await using stage = await makeSurroundings()
    const open = { sign_in: "https://portal.test/gate/start", share_epoch: 0, access: null, options: {} }
    if (login !== undefined) stage.plane.policy = { revision: 1, require_login: login, ...open }
    let heard = ""
    await using origin = await startOrigin((socket) => {
      socket.on("data", (chunk) => {
        heard += chunk.toString()
        socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
      })
    })
    await using home = await makeHome()
    const { cert, key } = stage.authority.leaf("hello.example")
    await writeFile(`${home.path}/fullchain.pem`, cert)
    await writeFile(`${home.path}/privkey.pem`, key)
    await using agent = runAgent(home, {
      ...stage.env,
      CT_AGENT_JOIN_TOKEN: joinToken,
      CT_AGENT_ORIGIN: origin.address,
      CT_AGENT_ORIGIN_TLS: "terminate",
      CT_ACME_CERT_OUT_DIR: home.path
    })
    await registered(agent)
    const said = async (bytes: string) => {
      const socket = connect({
        socket: new HalfOpenDuplex(await stage.edge.open()),
        servername: "hello.example",
        ca: stage.authority.pem
      })
      socket.write(bytes)
      return text(socket)
    }
    assert.match(await said("GET / HTTP/1.1\r\nHost: hello.example\r\nConnection: close\r\n\r\n"), status)
    const isClosed = login === true
    if (!isClosed) assert.include(heard, "\r\nX-Forwarded-For: 192.0.2.7\r\n")
    assert.match(await said("\0 another protocol"), isClosed ? /^HTTP\/1.1 400 / : /^HTTP\/1.1 200 /)
    assert.strictEqual(heard.includes("\0 another protocol"), !isClosed)
    if (isClosed) assert.strictEqual(heard, "")
  })

  it("serves before the first issuance, refuses TLS by an alert, and has the pair for the first client after it", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    await using agent = runAgent(home, {
      ...stage.env,
      CT_AGENT_ORIGIN: origin.address,
      CT_AGENT_ORIGIN_TLS: "terminate",
      CT_ACME_CERT_OUT_DIR: `${home.path}/certificates`
    })
    await registered(agent)
    assert.strictEqual(await exchange(await stage.edge.open(), "GET / HTTP/1.1"), "GET / HTTP/1.1")
    const visit = async () =>
      connect({
        socket: new HalfOpenDuplex(await stage.edge.open()),
        servername: "hello.example",
        ca: stage.authority.pem
      })
    const early = await visit()
    const [{ code }] = (await once(early, "error")) as [NodeJS.ErrnoException]
    assert.strictEqual(code, "ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR")
    await agent.said("there is no certificate yet")
    const { cert, key } = stage.authority.leaf("hello.example")
    await mkdir(`${home.path}/certificates`, { recursive: true })
    await writeFile(`${home.path}/certificates/privkey.pem`, key)
    await writeFile(`${home.path}/certificates/fullchain.pem`, cert)
    const socket = await visit()
    socket.end("over tls")
    assert.strictEqual(await text(socket), "over tls")
  })

  it("ends the client whose TLS breaks after the handshake, at the origin too", async () => {
    await using stage = await makeSurroundings()
    const ended = Promise.withResolvers<void>()
    await using origin = await startOrigin((socket) => {
      socket.resume().once("close", () => ended.resolve())
      socket.write("first words")
    })
    await using home = await makeHome()
    const { cert, key } = stage.authority.leaf("hello.example")
    await writeFile(`${home.path}/fullchain.pem`, cert)
    await writeFile(`${home.path}/privkey.pem`, key)
    await using agent = runAgent(home, {
      ...stage.env,
      CT_AGENT_ORIGIN: origin.address,
      CT_AGENT_ORIGIN_TLS: "terminate",
      CT_ACME_CERT_OUT_DIR: home.path
    })
    await registered(agent)
    const stream = await stage.edge.open()
    const closed = new Promise((resolve) => stream.once("close", resolve))
    const client = connect({
      socket: new HalfOpenDuplex(stream),
      servername: "hello.example",
      ca: stage.authority.pem
    })
    client.on("error", () => undefined)
    await once(client, "data")
    // An application record of 32 bytes that no key of the session has sealed.
    stream.write(Buffer.concat([Buffer.of(0x17, 0x03, 0x03, 0x00, 0x20), Buffer.alloc(32, 7)]))
    await Promise.all([closed, ended.promise])
  })

  it("is refused with 3 when the key belongs to another certificate", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    await writeFile(`${home.path}/fullchain.pem`, stage.authority.leaf("hello.example").cert)
    await writeFile(`${home.path}/privkey.pem`, stage.authority.leaf("hello.example").key)
    const env = { ...stage.env, CT_AGENT_ORIGIN_TLS: "terminate", CT_ACME_CERT_OUT_DIR: home.path }
    await using agent = runAgent(home, env)
    assert.strictEqual(await agent.exited, 3)
    assert.include(agent.lines.at(-1), `${home.path}/privkey.pem does not belong`)
  })
})

describe("the certificate files of this machine", () => {
  const cases: ReadonlyArray<readonly [what: string, env: (home: string) => Record<string, string>, said: string]> = [
    [
      "the pair to terminate with",
      (home) => ({
        CT_AGENT_ORIGIN_TLS: "terminate",
        CT_AGENT_TLS_CERT: `${home}/fullchain.pem`,
        CT_AGENT_TLS_KEY: `${home}/privkey.pem`
      }),
      "fullchain.pem cannot be read"
    ],
    [
      "the origin key of a mesh tunnel",
      (home) => ({ CT_AGENT_MODE: "mesh", CT_AGENT_ORIGIN_KEY: `${home}/origin.key` }),
      "it is not an origin key of 32 bytes"
    ]
  ]
  for (const [what, env, said] of cases)
    it(`are checked before any network call: ${what}`, async () => {
      await using stage = await makeSurroundings()
      await using home = await makeHome()
      await writeFile(`${home.path}/origin.key`, "short")
      await using agent = runAgent(home, { ...stage.env, CT_AGENT_JOIN_TOKEN: joinToken, ...env(home.path) })
      assert.strictEqual(await agent.exited, 3)
      assert.include(agent.lines.join("\n"), said)
      assert.deepStrictEqual(stage.plane.calls, [])
      assert.strictEqual(stage.plane.joinTokens.get(joinToken), "fresh")
    })
})

describe("CT_AGENT_ORIGIN_PROXY_PROTOCOL=v2", () => {
  it("requests the client's address from the edge and sends it to the origin first", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    const env = { ...stage.env, CT_AGENT_ORIGIN: origin.address, CT_AGENT_ORIGIN_PROXY_PROTOCOL: "v2" }
    await using agent = runAgent(home, env)
    await registered(agent)
    assert.isTrue(stage.edge.registrations[0]?.request.wishes.proxyProtocol)
    const stream = await stage.edge.open()
    stream.end("hello")
    const echoed = Buffer.concat(await stream.toArray())
    assert.strictEqual(echoed.subarray(0, 12).toString("latin1"), "\r\n\r\n\0\r\nQUIT\n")
    assert.strictEqual(echoed[12], 0x21)
    assert.deepStrictEqual([...echoed.subarray(16, 20)], [192, 0, 2, 7])
    assert.strictEqual(echoed.readUInt16BE(24), 4711)
    assert.strictEqual(echoed.subarray(16 + echoed.readUInt16BE(14)).toString(), "hello")
  })
})
