import { type Home, makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { joinToken, token } from "@catenet/testing/agent/Surroundings"
import { existsSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "vitest"

const bootstrap = "ef".repeat(32)

interface Server extends AsyncDisposable {
  readonly url: string
}

const startServer = async (listener: RequestListener): Promise<Server> => {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

/** What an agent is given that has to call this route first. */
const secrets = {
  "/enroll/redeem": { CT_AGENT_TOKEN: token, CT_AGENT_JOIN_TOKEN: joinToken },
  "/bootstrap/redeem": { CT_BOOTSTRAP: bootstrap }
} as const

const envOf = (home: Home, url: string, route: keyof typeof secrets) => ({
  CT_AGENT_CP_URL: url,
  CT_AGENT_HOSTNAME: "hello.example",
  CT_AGENT_MODE: "browser",
  CT_AGENT_STATE_DIR: `${home.path}/state`,
  ...secrets[route]
})

describe.concurrent("a control plane that redirects", () => {
  for (const route of ["/enroll/redeem", "/bootstrap/redeem"] as const)
    for (const status of [307, 308])
      it(`cannot make an agent send the secret of ${route} to another origin (${status})`, async () => {
        const received: Array<string> = []
        await using stranger = await startServer((request, response) => {
          received.push(`${request.method} ${request.url}`)
          const answer = { tenant: "stranger", secret: `CT_JOIN_TOKEN=${joinToken};CT_AGENT_TOKEN=${token}` }
          response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer))
        })
        await using plane = await startServer((request, response) =>
          response.writeHead(status, { location: `${stranger.url}${request.url}` }).end()
        )
        await using home = await makeHome()
        await using agent = runAgent(home, envOf(home, plane.url, route))
        assert.strictEqual(await agent.exited, 5)
        assert.deepStrictEqual(received, [])
        assert.include(agent.lines.at(-1), `answered ${status}, a redirect, and no redirect is followed`)
        assert.isFalse(existsSync(`${home.path}/state/tenant`))
        assert.isFalse(existsSync(`${home.path}/state/bootstrap.secret`))
      })
})

describe.concurrent("a control plane whose answers do not end", () => {
  for (const route of ["/enroll/redeem", "/bootstrap/redeem", "/network-info", "/pki/ca"] as const)
    it(`is cut off at ${route}`, async () => {
      const cut = Promise.withResolvers<number>()
      await using plane = await startServer((request, response) => {
        if (request.url !== route) {
          const answer = request.url === "/enroll/redeem" ? { tenant: "tenant-1" } : {}
          return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer))
        }
        response.writeHead(200, { "content-type": "application/json" })
        let sent = 0
        const pour = () => {
          while (!response.destroyed && response.write(" ".repeat(65_536))) sent += 65_536
        }
        response.on("drain", pour).on("close", () => cut.resolve(sent))
        pour()
      })
      await using home = await makeHome()
      const env = envOf(home, plane.url, route === "/bootstrap/redeem" ? route : "/enroll/redeem")
      const root = route === "/network-info" ? { CT_AGENT_EDGE_CERT: `${home.path}/ca.der` } : {}
      await using _ = runAgent(home, { ...env, ...root }, route === "/network-info" ? ["doctor"] : [])
      assert.isBelow(await cut.promise, 16_000_000)
    })
})
