import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { exchange, makeSurroundings, registered } from "@catenet/testing/agent/Surroundings"
import { onThisMachine } from "@catenet/testing/Promptness"
import { once } from "node:events"
import { writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { assert, describe, it } from "vitest"
import { lineCount } from "../../src/observe/LocalHttpServer.ts"
import { echo, startOrigin } from "../harness/Origins.ts"

const series = [
  "ct_tunnels_opened_total",
  "ct_tunnels_failed_total",
  "ct_bytes_to_origin_total",
  "ct_bytes_to_client_total",
  "ct_handshakes_total",
  "ct_handshake_millis_total",
  "ct_agent_registered",
  "ct_agent_reconnects_total",
  "ct_agent_transport",
  "ct_agent_events_total",
  "ct_agent_masque_dropped_datagrams_total",
  "ct_agent_tasks_live"
]

const figures = async (base: string) => {
  const text = await (await fetch(`${base}/metrics`)).text()
  return Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))])
  )
}

const baseOf = async (agent: ReturnType<typeof runAgent>) =>
  /http:\/\/[^/]+/.exec(await agent.said("status, metrics and events at"))?.[0] ?? ""

describe("the local endpoints", () => {
  it("report a registered agent and count all traffic while it flows", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    const env = { ...stage.env, CT_AGENT_ORIGIN: origin.address, CT_AGENT_METRICS_LISTEN: "127.0.0.1:0" }
    await using agent = runAgent(home, env)
    await registered(agent)
    const base = await baseOf(agent)

    const health = await fetch(`${base}/healthz`)
    assert.strictEqual(health.status, 200)
    assert.strictEqual(await health.text(), "ok")
    assert.include(health.headers.get("content-type"), "text/plain")

    await exchange(await stage.edge.open(), "hello")
    const held = await stage.edge.open()
    held.write("four")
    await new Promise((resolve) => held.once("readable", resolve))
    const metrics = await fetch(`${base}/metrics`)
    assert.include(metrics.headers.get("content-type"), "text/plain; version=0.0.4")
    const text = await metrics.text()
    const names = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name)
    assert.deepStrictEqual(names, series)
    assert.deepStrictEqual(
      [...text.matchAll(/^# HELP (\S+) /gm)].map(([, name]) => name),
      series
    )
    assert.isTrue(text.endsWith("ct_agent_tasks_live 1\n"))
    const now = await figures(base)
    assert.strictEqual(now["ct_tunnels_opened_total"], 2)
    assert.strictEqual(now["ct_bytes_to_origin_total"], 9)
    assert.strictEqual(now["ct_bytes_to_client_total"], 9)
    assert.strictEqual(now["ct_agent_registered"], 1)
    assert.strictEqual(now[`ct_agent_transport{transport="tcp-fallback"}`], 1)
    assert.strictEqual(now[`ct_agent_events_total{kind="registered"}`], 1)
    assert.strictEqual(Object.keys(now).filter((key) => key.startsWith("ct_agent_events_total")).length, 12)
    held.end()

    const status = (await (await fetch(`${base}/status`)).json()) as Record<string, unknown>
    assert.include(status, { version: "0.1.0", conn: 1, transport: "tcp-fallback", registered: true, healthy: true })
    assert.include(status, { reconnects: 0, last_error: null, update_state: "off", oidc_credential: "none" })
    assert.include(status, { transport: "tcp-fallback", carrier: "mux" })
    assert.match(String(status["session"]), /^[0-9a-f]{16}$/)

    const events = await fetch(`${base}/events?n=1`)
    assert.include(events.headers.get("content-type"), "application/x-ndjson")
    assert.strictEqual(JSON.parse(await events.text()).kind, "registered")
    assert.strictEqual((await fetch(`${base}/elsewhere`)).status, 404)
    for (const path of ["metrics", "status", "healthz", "events"])
      for (const method of ["POST", "DELETE", "OPTIONS"])
        assert.strictEqual((await fetch(`${base}/${path}`, { method })).status, 405, `${method} ${path}`)

    await using shown = runAgent(home, { CT_AGENT_METRICS_LISTEN: base.slice("http://".length) }, ["status"])
    assert.strictEqual(await shown.exited, 0)
    assert.strictEqual(JSON.parse(shown.stdout()).session, status["session"])
  })

  it("turn unhealthy when the edge is gone, and count the reconnect when it is back", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_METRICS_LISTEN: "127.0.0.1:0" })
    await registered(agent)
    const base = await baseOf(agent)
    const from = agent.lines.length
    stage.edge.cut()
    await registered(agent, from)
    assert.strictEqual((await figures(base))["ct_agent_reconnects_total"], 1)
    await stage.edge[Symbol.asyncDispose]()
    await agent.said("event: registration_failed", from)
    const health = await fetch(`${base}/healthz`)
    assert.strictEqual(health.status, 503)
    assert.match(await health.text(), /^not registered; last error: /)
    assert.strictEqual((await figures(base))["ct_agent_registered"], 0)
  })

  it("report whether there is a bearer token, by the file of the configuration too, and read its own file each time", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    const file = `${home.path}/oidc`
    await writeFile(`${home.path}/named.env`, `CT_OIDC_TOKEN=\nCT_OIDC_TOKEN_FILE=${file}\n`, { mode: 0o600 })
    const env = { ...stage.env, CT_AGENT_METRICS_LISTEN: "127.0.0.1:0", CT_OIDC_TOKEN: " " }
    await using agent = runAgent(home, env, ["--config", "named.env"])
    await agent.said("CT_OIDC_TOKEN_FILE names a file that cannot be read now")
    const base = await baseOf(agent)
    // A file that cannot be read is no file without a token.
    for (const [content, credential] of [
      [undefined, "env"],
      ["token\n", "env"],
      [" \n", "none"]
    ] as const) {
      if (content !== undefined) await writeFile(file, content)
      const status = (await (await fetch(`${base}/status`)).json()) as Record<string, unknown>
      assert.strictEqual(status["oidc_credential"], credential)
    }
  })

  it("say that a stored login has ended, and record it once", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    const file = `${home.path}/login.json`
    const stored = { access_token: "a", refresh_token: "r", issuer: "http://127.0.0.1:1", client_id: "c" }
    const store = (more: Readonly<Record<string, number | null>>) =>
      writeFile(file, JSON.stringify({ ...stored, ...more }), { mode: 0o600 })
    await store({ access_expires_at: 1, refresh_expires_at: 1 })
    const env = { ...stage.env, CT_AGENT_METRICS_LISTEN: "127.0.0.1:0", CT_AGENT_LOGIN_TOKEN_FILE: file }
    await using agent = runAgent(home, env)
    const base = await baseOf(agent)
    const credential = async () =>
      ((await (await fetch(`${base}/status`)).json()) as Record<string, unknown>)["oidc_credential"]
    await agent.said("event: credential_degraded")
    assert.strictEqual(await credential(), "stored-expired")
    await store({ access_expires_at: 1, refresh_expires_at: null })
    assert.strictEqual(await credential(), "stored-expired-refreshable")
    await store({ access_expires_at: 4_102_444_800 })
    assert.strictEqual(await credential(), "stored")
    await store({ access_expires_at: 1, refresh_expires_at: 1 })
    assert.strictEqual(await credential(), "stored-expired")
    assert.strictEqual((await figures(base))['ct_agent_events_total{kind="credential_degraded"}'], 1)
  })

  it("keep no stopping agent waiting for those who keep their connections, busy or not", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_METRICS_LISTEN: "127.0.0.1:0" })
    await registered(agent)
    const { hostname, port } = new URL(await baseOf(agent))
    const sockets = ["", "GET /status HTTP/1.1\r\n", "GET /status HTTP/1.1\r\nhost: a\r\n\r\n"].map((said) => {
      const socket = connect({ host: hostname, port: Number(port) })
      socket.on("error", () => undefined).resume()
      socket.write(said)
      return socket
    })
    await Promise.all(sockets.map((socket) => once(socket, "connect")))
    await fetch(`http://${hostname}:${port}/healthz`)
    const from = performance.now()
    agent.kill()
    await agent.exited
    assert.isBelow(performance.now() - from, onThisMachine(10_000))
    for (const socket of sockets) socket.destroy()
  })

  it("that cannot be bound do not stop the tunnel", async () => {
    await using stage = await makeSurroundings()
    await using home = await makeHome()
    await using agent = runAgent(home, { ...stage.env, CT_AGENT_METRICS_LISTEN: `127.0.0.1:${stage.edge.port}` })
    await agent.said("CT_AGENT_METRICS_LISTEN: cannot listen")
    await registered(agent)
  })

  it("that no agent serves end `status` with exit code 5", async () => {
    await using home = await makeHome()
    await using shown = runAgent(home, { CT_AGENT_METRICS_LISTEN: "127.0.0.1:1" }, ["status"])
    assert.strictEqual(await shown.exited, 5)
    assert.include(shown.lines.at(-1), "CT_AGENT_METRICS_LISTEN")
  })

  it("read n as 1 to 1000, 100 by default", () => {
    const table = { "1": 1, "1000": 1000, "1001": 1000, "0": 1, "-5": 1, many: 100, "": 100, "7": 7 }
    for (const [n, lines] of Object.entries(table)) assert.strictEqual(lineCount(n), lines, n)
    assert.strictEqual(lineCount(undefined), 100)
  })
})
