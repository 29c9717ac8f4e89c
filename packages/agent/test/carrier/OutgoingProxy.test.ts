/** Behind a forced proxy. No name of these tests resolves (RFC 6761), so what is dialled directly fails. */
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { exchange, joinToken, makeSurroundings, registered } from "@catenet/testing/agent/Surroundings"
import { Effect, Exit, Redacted } from "effect"
import { once } from "node:events"
import { writeFile } from "node:fs/promises"
import { createServer, type RequestListener } from "node:http"
import { createServer as createSecureServer } from "node:https"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "vitest"
import * as OutgoingProxy from "../../src/carrier/OutgoingProxy.ts"
import * as AcmeTransport from "../../src/certificate/AcmeTransport.ts"
import * as FallbackDialer from "../../src/channel/session/FallbackDialer.ts"
import * as IdentityProviderClient from "../../src/login/IdentityProviderClient.ts"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import * as OutgoingHttp from "../../src/onboard/OutgoingHttp.ts"
import type { ProxySettings } from "../../src/settings/ProxyVariables.ts"
import * as ReleaseCandidate from "../../src/update/ReleaseCandidate.ts"
import { startProxy } from "../harness/ConnectProxy.ts"
import { echo, startOrigin } from "../harness/Origins.ts"

const portOf = (url: string) => Number(new URL(url).port)

/** The surroundings as they are called behind the proxy, and a file with these credentials. */
const behind = async (
  surroundings: Awaited<ReturnType<typeof makeSurroundings>>,
  home: { readonly path: string },
  proxy: string,
  credentials: string
) => {
  const file = `${home.path}/proxy-credentials`
  await writeFile(file, `${credentials}\n`, { mode: 0o600 })
  return {
    ...surroundings.env,
    CT_AGENT_CP_URL: `http://plane.invalid:${surroundings.plane.port}`,
    CT_AGENT_PROXY: proxy,
    CT_AGENT_PROXY_AUTH_FILE: file
  }
}

describe("an agent behind an HTTP proxy", () => {
  it("enrolls and serves with tunnels of the proxy alone, and logs the proxy once, without its credentials", async () => {
    await using home = await makeHome()
    await using surroundings = await makeSurroundings()
    await using proxy = await startProxy({ credentials: "user:s3cret-word" })
    await using origin = await startOrigin(echo)
    const { edge, plane } = surroundings
    const env = await behind(surroundings, home, proxy.url, "user:s3cret-word")
    await using agent = runAgent(home, {
      ...env,
      CT_AGENT_JOIN_TOKEN: joinToken,
      CT_AGENT_TRANSPORTS: "quic,mux,slots",
      CT_AGENT_ORIGIN: `127.0.0.1:${origin.port}`
    })
    await registered(agent)
    assert.strictEqual(await exchange(await edge.open(), "through the proxy"), "through the proxy")
    edge.cut()
    await registered(agent, agent.lines.findIndex((line) => line.includes("event: registered")) + 1)
    assert.include(proxy.asked, `plane.invalid:${plane.port}`)
    assert.include(proxy.asked, `plane.invalid:${edge.port}`)
    for (const { remotePort } of edge.sockets) assert.isTrue(proxy.ports.has(remotePort ?? 0), "a direct connection")
    assert.lengthOf(
      agent.lines.filter((line) => line.includes("connections go through the proxy")),
      1
    )
    assert.notInclude(agent.lines.join("\n"), "s3cret-word")
  })

  it.each([
    [
      "other:wrong",
      /^Error: The proxy 127\.0\.0\.1:\d+ refuses the credentials \(407\): correct CT_AGENT_PROXY_AUTH_FILE\.$/u
    ],
    [undefined, /^Error: The proxy 127\.0\.0\.1:\d+ wants credentials \(407\): set CT_AGENT_PROXY_AUTH_FILE /u]
  ])("ends with a sentence and exit code 5 when the proxy refuses %s", async (credentials, sentence) => {
    await using home = await makeHome()
    await using surroundings = await makeSurroundings()
    await using proxy = await startProxy({ credentials: "user:right" })
    const { CT_AGENT_PROXY_AUTH_FILE: file, ...env } = await behind(surroundings, home, proxy.url, `${credentials}`)
    const given = { ...env, ...(credentials === undefined ? {} : { CT_AGENT_PROXY_AUTH_FILE: file }) }
    for (const args of [[], ["update", "--check"]]) {
      await using agent = runAgent(
        home,
        { ...given, CT_AGENT_JOIN_TOKEN: joinToken, CT_AGENT_RELEASE_PUBKEY: "ab".repeat(32) },
        args
      )
      assert.strictEqual(await agent.exited, 5, agent.lines.join("\n"))
      assert.match(agent.lines.at(-1) ?? "", sentence)
    }
    assert.strictEqual(surroundings.plane.calls.length, 0)
  })

  it("names the proxy, not the control plane, when the proxy does not answer", async () => {
    await using home = await makeHome()
    await using surroundings = await makeSurroundings()
    const env = await behind(surroundings, home, "http://127.0.0.1:1", "user:word")
    await using agent = runAgent(home, { ...env, CT_AGENT_JOIN_TOKEN: joinToken })
    assert.strictEqual(await agent.exited, 5)
    assert.include(agent.lines.at(-1), "the proxy 127.0.0.1:1 cannot be used (ECONNREFUSED)")
    assert.notInclude(agent.lines.at(-1), "CT_AGENT_CP_URL")
  })

  it("takes NO_PROXY and HTTPS_PROXY when CT_AGENT_PROXY is environment, and neither without it", async () => {
    await using home = await makeHome()
    await using surroundings = await makeSurroundings()
    await using proxy = await startProxy({ credentials: "user:word" })
    const { CT_AGENT_PROXY: _proxy, CT_AGENT_PROXY_AUTH_FILE: _file, ...env } = await behind(surroundings, home, "", "")
    const HTTPS_PROXY = proxy.url.replace("//", "//user:word@")
    const run = async (more: Readonly<Record<string, string>>) => {
      await using agent = runAgent(home, { ...env, HTTPS_PROXY, ...more, CT_AGENT_JOIN_TOKEN: "ef".repeat(32) })
      return { code: await agent.exited, last: agent.lines.at(-1) ?? "" }
    }
    assert.strictEqual((await run({ CT_AGENT_PROXY: "environment", NO_PROXY: "other.invalid" })).code, 4)
    assert.lengthOf(proxy.asked, 1)
    for (const more of [{ CT_AGENT_PROXY: "environment", NO_PROXY: "other.invalid, .invalid" }, {}]) {
      const { code, last } = await run(more)
      assert.strictEqual(code, 5, last)
      assert.include(last, "ENOTFOUND")
    }
    assert.lengthOf(proxy.asked, 1)
  })
})

const listen = async (server: ReturnType<typeof createServer>) => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return (server.address() as AddressInfo).port
}

describe("the seams through which the agent asks elsewhere", () => {
  const authority = makeAuthority()
  const secure = (name: string, answer: RequestListener) => createSecureServer(authority.leaf(name), answer)
  const json: RequestListener = (_request, response) =>
    void response.writeHead(200, { "content-type": "application/json" }).end("{}")

  it("are tunnels of the proxy: identity provider, ACME authority, release host, channel by WebSocket", async () => {
    await using proxy = await startProxy()
    const servers = [createServer(json), secure("acme.invalid", json), createServer(json), secure("edge.invalid", json)]
    const [idp = 0, acme = 0, releases = 0, edge = 0] = await Promise.all(
      servers.map((server) => listen(server as never))
    )
    const settings: ProxySettings = {
      host: "127.0.0.1",
      port: portOf(proxy.url),
      variable: "CT_AGENT_PROXY",
      credentialsVariable: "CT_AGENT_PROXY_AUTH_FILE",
      credentials: Redacted.make("user:word"),
      bypasses: () => false
    }
    const through = <A, E>(self: Effect.Effect<A, E>) =>
      Effect.runPromiseExit(Effect.scoped(OutgoingProxy.provide(settings)(self)))
    await through(
      IdentityProviderClient.device(`http://idp.invalid:${idp}/realms/r`, "cli").pipe(
        Effect.provide(OutgoingHttp.layer)
      )
    )
    const directory = `https://acme.invalid:${acme}/directory`
    const answer = await through(AcmeTransport.make(directory, authority.pem).call("GET", directory))
    assert.strictEqual(Exit.isSuccess(answer) ? answer.value.body : String(answer), "{}")
    const file = await through(ReleaseCandidate.downloadAsset(`http://releases.invalid:${releases}/file`, { most: 10 }))
    assert.strictEqual(Exit.isSuccess(file) ? String(file.value) : String(file), "{}")
    const dialled = await through(
      FallbackDialer.dialWebSocket(new URL(`wss://edge.invalid:${edge}/`), authority.pem, 5_000).pipe(
        Effect.provide(AgentMetrics.layer),
        Effect.flip
      )
    )
    assert.include(String(dialled), "HTTP 200")
    assert.deepStrictEqual(proxy.asked, [
      `idp.invalid:${idp}`,
      `acme.invalid:${acme}`,
      `releases.invalid:${releases}`,
      `edge.invalid:${edge}`
    ])
    for (const server of servers) {
      server.closeAllConnections()
      server.close()
    }
  })
})
