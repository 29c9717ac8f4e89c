import { isAlive, makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { makeSurroundings, registered } from "@catenet/testing/agent/Surroundings"
import { eventually } from "@catenet/testing/Eventually"
import { createHash, randomBytes } from "node:crypto"
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { copyFile, mkdir, readdir, readFile, rename, stat, writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { assert, describe, it } from "vitest"
import { ask, connectArgs, meshEnv, portOf } from "../harness/MeshClients.ts"
import { counter, echo, startOrigin } from "../harness/Origins.ts"

describe.each([
  ["the multiplexed carrier", ["ct-edge-mux", "ct-edge"]],
  ["parked slots", ["ct-edge"]]
])("a mesh tunnel over %s", (_, alpn) => {
  it("brings many TCP connections to the origin, half-closed ones too", async () => {
    await using stage = await makeSurroundings({ alpn })
    await using origin = await startOrigin(counter)
    await using home = await makeHome()
    await using agent = runAgent(home, meshEnv(stage, home.path, origin.address))
    await registered(agent)
    await using client = runAgent(
      home,
      { CT_AGENT_CP_URL: stage.plane.url },
      connectArgs(home.path, "--listen", "127.0.0.1:0")
    )
    const port = await portOf(client)
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => ask(port, "x".repeat(n))))
    assert.deepStrictEqual(
      answers,
      Array.from({ length: 12 }, (_, n) => `${n} bytes`)
    )
  })

  it("carries datagrams with their boundaries", async () => {
    await using stage = await makeSurroundings({ alpn })
    await using home = await makeHome()
    const origin = createSocket("udp4")
    origin.on("message", (data, from) => origin.send(`${data.length}`, from.port, from.address))
    origin.bind(0, "127.0.0.1")
    await once(origin, "listening")
    const env = meshEnv(stage, home.path, `127.0.0.1:${origin.address().port}`)
    await using agent = runAgent(home, { ...env, CT_AGENT_ORIGIN_PROTO: "udp" })
    await registered(agent)
    await using client = runAgent(
      home,
      { CT_AGENT_CP_URL: stage.plane.url },
      connectArgs(home.path, "--listen", "127.0.0.1:0", "--udp")
    )
    const port = await portOf(client)
    const peer = createSocket("udp4")
    peer.bind(0, "127.0.0.1")
    await once(peer, "listening")
    const sizes = ["1", "1400", "0", "9000"]
    for (const size of sizes) {
      peer.send(Buffer.alloc(Number(size)), port, "127.0.0.1")
      const [answer] = await once(peer, "message")
      assert.strictEqual(String(answer), size)
    }
    peer.close()
    origin.close()
  })
})

describe("the key exchange of a mesh tunnel", () => {
  it.each([
    ["prefer", "prefer", "x25519mlkem768"],
    ["require", "prefer", "x25519mlkem768"],
    ["prefer", "off", "x25519"],
    ["off", "prefer", "x25519"]
  ])("with %s at the agent and %s at the client: %s, said in metrics and status", async (at, client, name) => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    const env = { CT_AGENT_METRICS_LISTEN: "127.0.0.1:0", CT_AGENT_POST_QUANTUM: at }
    await using agent = runAgent(home, { ...meshEnv(stage, home.path, origin.address), ...env })
    await registered(agent)
    const base = /http:\/\/[^/]+/.exec(await agent.said("status, metrics and events at"))?.[0] ?? ""
    const asked = { CT_AGENT_CP_URL: stage.plane.url, CT_AGENT_POST_QUANTUM: client }
    await using caller = runAgent(home, asked, connectArgs(home.path, "--stdio"), "hello")
    assert.strictEqual(await caller.exited, 0, caller.lines.join("\n"))
    assert.strictEqual(caller.stdout(), "hello")
    const metrics = await (await fetch(`${base}/metrics`)).text()
    assert.include(metrics, "ct_handshakes_total 1\n")
    const counted = Array.from(metrics.matchAll(/^ct_agent_mesh_key_exchanges_total(.*)$/gmu), ([, series]) => series)
    assert.deepStrictEqual(counted, [`{key_exchange="${name}"} 1`])
    const status = async () =>
      (await (await fetch(`${base}/status`)).json()) as { readonly mesh_key_exchanges: unknown }
    const sessions = async () => JSON.stringify((await status()).mesh_key_exchanges)
    const ended = `[{"key_exchange":"${name}","total":1,"open":0}]`
    await eventually(async () => (await sessions()) === ended, "/status counts the session and its end")
  })

  it("that the agent requires and a client does not use: no byte reaches the origin, and the agent says why", async () => {
    await using stage = await makeSurroundings()
    const bytes: Array<unknown> = []
    await using origin = await startOrigin((socket) => void socket.on("data", (chunk) => bytes.push(chunk)))
    await using home = await makeHome()
    const env = { ...meshEnv(stage, home.path, origin.address), CT_AGENT_POST_QUANTUM: "require" }
    await using agent = runAgent(home, env)
    await registered(agent)
    const asked = { CT_AGENT_CP_URL: stage.plane.url, CT_AGENT_POST_QUANTUM: "off" }
    await using caller = runAgent(home, asked, connectArgs(home.path, "--listen", "127.0.0.1:0"))
    const port = await portOf(caller)
    const socket = connect({ port, host: "127.0.0.1" })
    socket.on("error", () => undefined).write("hello")
    await agent.said("the peer uses no post-quantum key exchange")
    assert.deepStrictEqual(bytes, [])
    socket.destroy()
  })
})

describe("a mesh tunnel", () => {
  it("serves a protocol in which the server speaks first, over stdin and stdout", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin((socket) => {
      socket.write("220 ready\n")
      socket.on("data", (data) => socket.end(`250 ${data.toString()}`))
    })
    await using home = await makeHome()
    await using agent = runAgent(home, meshEnv(stage, home.path, origin.address))
    await registered(agent)
    const env = { CT_AGENT_CP_URL: stage.plane.url }
    await using client = runAgent(home, env, connectArgs(home.path, "--stdio"), "HELO")
    assert.strictEqual(await client.exited, 0)
    assert.strictEqual(client.stdout(), "220 ready\n250 HELO")
  })

  it("gives all that the origin sent to a reader of stdout that is late, and exits behind it", async () => {
    await using stage = await makeSurroundings()
    let ended = Promise.withResolvers<void>()
    let size = 0
    await using origin = await startOrigin((socket) => {
      socket.resume().on("close", () => ended.resolve())
      socket.end(Buffer.alloc(size, "x"))
    })
    await using home = await makeHome()
    await using agent = runAgent(home, meshEnv(stage, home.path, origin.address))
    await registered(agent)
    // Somewhat more than a socket takes that is not read: the rest waits in the client.
    for (size of [240_000, 250_000, 260_000, 264_000, 270_000]) {
      ended = Promise.withResolvers()
      const env = { CT_AGENT_CP_URL: stage.plane.url }
      await using client = runAgent(home, env, connectArgs(home.path, "--stdio"), "hello")
      client.holdOutput(true)
      await ended.promise
      await eventually(() => !isAlive(client.pid), "the client has exited", 300).catch(() => {})
      client.holdOutput(false)
      assert.strictEqual(await client.exited, 0)
      assert.strictEqual(client.stdout().length, size)
    }
  })

  it("carries 16 MB both ways unchanged", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    await using agent = runAgent(home, meshEnv(stage, home.path, origin.address))
    await registered(agent)
    await using client = runAgent(
      home,
      { CT_AGENT_CP_URL: stage.plane.url },
      connectArgs(home.path, "--listen", "127.0.0.1:0")
    )
    const socket = connect({ port: await portOf(client), host: "127.0.0.1", allowHalfOpen: true })
    const block = randomBytes(1 << 20)
    const [sent, received] = [createHash("sha256"), createHash("sha256")]
    socket.on("data", (chunk) => received.update(chunk))
    for (let i = 0; i < 16; i++) {
      sent.update(block)
      if (!socket.write(block)) await once(socket, "drain")
    }
    socket.end()
    await once(socket, "end")
    assert.strictEqual(received.digest("hex"), sent.digest("hex"))
  })

  it("keeps its key over a rotation: the old capability works until the old key is deleted", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    const env = {
      ...meshEnv(stage, home.path, origin.address),
      CT_AGENT_ORIGIN_KEY: `${home.path}/origin.key`,
      CT_AGENT_ORIGIN_KEY_DIR: `${home.path}/retired`
    }
    {
      await using agent = runAgent(home, env)
      await registered(agent)
    }
    for (const file of ["origin.key", "capability.bin"])
      assert.strictEqual((await stat(`${home.path}/${file}`)).mode & 0o777, 0o600)
    await copyFile(`${home.path}/capability.bin`, `${home.path}/old.bin`)
    await using rotation = runAgent(home, env, ["rotate"])
    assert.strictEqual(await rotation.exited, 0)
    const [old, fresh] = [await readFile(`${home.path}/old.bin`), await readFile(`${home.path}/capability.bin`)]
    assert.deepStrictEqual(fresh.subarray(0, 32), old.subarray(0, 32))
    assert.strictEqual(old.subarray(0, 32).toString("hex"), "ab".repeat(32), "this edge knows no visitor tokens")
    assert.notDeepEqual(fresh.subarray(32, 64), old.subarray(32, 64))
    const [retired] = await readdir(`${home.path}/retired`)
    assert.strictEqual(retired, `retired-${old.subarray(32, 36).toString("hex")}.key`)

    await using agent = runAgent(home, { ...env, CT_AGENT_TOKEN: "11".repeat(32) })
    await registered(agent)
    assert.strictEqual(
      Buffer.from(stage.edge.registrations.at(-1)?.request.token ?? []).toString("hex"),
      "ab".repeat(32),
      "the stored capability's token wins"
    )
    for (const capability of ["old.bin", "capability.bin"]) {
      const args = ["connect", "--capability", `${home.path}/${capability}`, "--stdio"]
      await using client = runAgent(home, { CT_AGENT_CP_URL: stage.plane.url }, args, "hello")
      assert.strictEqual(await client.exited, 0)
      assert.strictEqual(client.stdout(), "hello")
    }
  })

  it("is shared by two agents that are given the same key and capability", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    await using other = await makeHome()
    const env = { ...meshEnv(stage, home.path, origin.address), CT_AGENT_ORIGIN_KEY: `${home.path}/origin.key` }
    await using first = runAgent(home, env)
    await registered(first)
    await using second = runAgent(other, { ...env, CT_AGENT_STATE_DIR: `${other.path}/state` })
    await registered(second)
    const args = connectArgs(home.path, "--stdio")
    first.kill("SIGKILL")
    await first.exited
    await using client = runAgent(home, { CT_AGENT_CP_URL: stage.plane.url }, args, "hello")
    assert.strictEqual(await client.exited, 0)
    assert.strictEqual(client.stdout(), "hello")
  })

  it("refuses a client without the key, and a wrong capability or root with a sentence", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    await using agent = runAgent(home, meshEnv(stage, home.path, origin.address))
    await registered(agent)
    const forged = await readFile(`${home.path}/capability.bin`)
    forged.fill(9, 32, 64)
    await mkdir(`${home.path}/forged`)
    await writeFile(`${home.path}/forged/capability.bin`, forged)
    const env = { CT_AGENT_CP_URL: stage.plane.url }
    await using client = runAgent(home, env, connectArgs(`${home.path}/forged`, "--stdio"), "hello")
    await agent.said("none of this origin's keys")
    assert.strictEqual(origin.connections(), 0)
    client.kill("SIGKILL")
    await using unknown = runAgent(home, {}, connectArgs(home.path, "--stdio"))
    assert.strictEqual(await unknown.exited, 3)
    assert.include(unknown.lines.at(-1), "--ca")
    for (const [variable, value] of [
      ["CT_AGENT_CP_URL", "portal.example"],
      ["CT_AGENT_EDGE_CERT", "nowhere.der"]
    ] as const) {
      await using misled = runAgent(home, { [variable]: value }, connectArgs(home.path, "--stdio"))
      assert.strictEqual(await misled.exited, 3)
      assert.include(misled.lines.at(-1), variable)
    }
    await rename(`${home.path}/forged/capability.bin`, `${home.path}/forged/whole.bin`)
    await writeFile(`${home.path}/forged/capability.bin`, forged.subarray(0, 40))
    await using torn = runAgent(home, env, connectArgs(`${home.path}/forged`, "--stdio"))
    assert.strictEqual(await torn.exited, 3)
    assert.include(torn.lines.at(-1), "is not a capability")
    const taken = await startOrigin(echo)
    const args = connectArgs(home.path, "--listen", `127.0.0.1:${taken.port}`)
    await using busy = runAgent(home, env, args)
    assert.strictEqual(await busy.exited, 3)
    assert.include(busy.lines.at(-1), "--listen")
    await taken[Symbol.asyncDispose]()
  })
})
