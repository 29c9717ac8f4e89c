import { eventually } from "@catenet/testing/edge/TestEdge"
import { agent, Stack } from "@catenet/testing/stack/e2e/Stack"
import { ask } from "@catenet/testing/stack/e2e/Visitor"
import { X509Certificate } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { connect } from "node:tls"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { boundPath } from "../../src/acme/AcmeRequest.ts"
import { owner, ownersToken } from "./People.ts"
import { steadyVisitors } from "./SteadyVisitors.ts"
import { asAgent } from "./Tunnel.ts"

/** A campaign has certificates of six minutes, and renews them more often. */
const lifetime = Number(process.env["CATENET_CERTIFICATE_SECONDS"] ?? "30")
const renewals = Number(process.env["CATENET_RENEWALS"] ?? "1")
const perSecond = 20

let stack: Stack

/** Visitors of the demo's tunnel from its first answer on, which is the edge's. */
const done = new AbortController()
const hello = () => ({ host: "hello.localhost", port: stack.ports.frontDoor, ca: stack.root })
const isServed = () =>
  Promise.try(() => ask(hello())).then(
    ({ status }) => status === 200,
    () => false
  )
const coming = async () => {
  await eventually(async () => done.signal.aborted || (await isServed()), "the tunnel is served")
  return steadyVisitors(hello(), perSecond, done.signal, false)
}
let visitors: ReturnType<typeof coming>

/** The certificate that a visitor of a tunnel is shown. */
const shownNow = (servername = "hello.localhost") =>
  new Promise<X509Certificate | undefined>((resolve) => {
    const socket = connect({ host: "127.0.0.1", port: stack.ports.frontDoor, servername, ca: stack.root }, () => {
      resolve(socket.getPeerX509Certificate())
      socket.destroy()
    })
    socket.once("error", () => resolve(undefined))
  })

describe("a new tunnel's certificate", () => {
  beforeAll(async () => {
    stack = await Stack.make()
    visitors = coming()
    await stack.up([], { CT_ACME_SERVER_LIFETIME_SECS: String(lifetime) })
  })
  afterAll(async () => {
    done.abort()
    await (
      await visitors
    ).done
    await stack.dispose()
  })

  it("is ordered by its agent, and no visitor is lost when the edge hands over", async () => {
    const path = stack.path("demo-agent", "certificate", "fullchain.pem")
    const own = () => {
      try {
        return new X509Certificate(readFileSync(path))
      } catch {
        return undefined
      }
    }
    await eventually(async () => {
      const mine = own()
      return mine !== undefined && (await shownNow())?.fingerprint256 === mine.fingerprint256
    }, "the agent's own certificate is shown")
    const { done: left, seen } = await visitors
    const before = seen.visits
    await eventually(() => seen.visits > before + perSecond, "visitors go on")
    done.abort()
    await left
    assert.deepStrictEqual(seen.lost, [])
    const said = () => stack.running.stderr
    await eventually(
      () => said().includes("hello.localhost is end-to-end (gruen): only its agent has the key"),
      "the terminal says it"
    )
    assert.include(said(), "hello.localhost is edge-terminated (gelb): the edge terminates TLS. ")
    const text = readFileSync(stack.path("demo-tunnel.env"), "utf8")
    const token = /CT_AGENT_TOKEN=([0-9a-f]{64})/.exec(text)?.[1]
    const state = /CT_AGENT_STATE_DIR=(.+)/.exec(text)?.[1] ?? ""
    const admission = await asAgent(stack, state, "GET", `/agent/acme-admission/${token}/hello.localhost`)
    assert.deepInclude(await admission.json(), { status: "gruen", may_issue_now: true, claim_deadline: null })
  })
  it(
    "is renewed before it ends, and each new one is shown to visitors, none of whom is lost",
    async () => {
      const done = new AbortController()
      const visitors = steadyVisitors(hello(), perSecond, done.signal)
      const { certificates } = visitors.seen
      const from = performance.now()
      const taken: Array<number> = []
      for (let renewal = 1; renewal <= renewals; renewal++) {
        await eventually(
          () => certificates.size > renewal,
          () => `renewal ${renewal}, after ${visitors.seen.visits} visits`,
          lifetime * 1000
        )
        taken.push(Math.round((performance.now() - from) / 1000))
      }
      done.abort()
      const { kept, lost, visits } = await visitors.done
      const shown = await shownNow()
      process.stderr.write(
        `certificates of ${lifetime} s, renewed at ${taken.join(", ")} s: ${visits} visits, ${lost.length} lost, ${kept} kept connections\n`
      )
      assert.deepStrictEqual(lost, [])
      assert.strictEqual(kept, 1)
      assert.strictEqual([...certificates].at(-1), shown?.fingerprint256)
    },
    (renewals + 1) * lifetime * 1000 + 60_000
  )

  it("is ordered by ct-agent expose too, which then is end-to-end", async () => {
    const home = stack.path("exposing")
    mkdirSync(home)
    const server = createServer((_request, response) => response.end("exposed"))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    const exposing = agent(["expose", String(port), "--name", "shop"], {
      HOME: home,
      CT_AGENT_CP_URL: stack.url(""),
      CT_OIDC_TOKEN: await ownersToken(stack),
      CT_ACME_CA_FILE: stack.path("development-root.pem")
    })
    try {
      await eventually(() => exposing.stdout.includes("https://"), "its address")
      const { hostname } = new URL(exposing.stdout.trim())
      const target = { host: hostname, port: stack.ports.frontDoor, ca: stack.root }
      await eventually(
        async () => {
          const folder = stack.path("exposing", ".ct-agent", "exposed")
          const pair = readdirSync(folder, { recursive: true, encoding: "utf8" }).find((path) =>
            path.endsWith("fullchain.pem")
          )
          const own = pair && new X509Certificate(readFileSync(join(folder, pair))).fingerprint256
          return own !== undefined && own === (await shownNow(hostname))?.fingerprint256
        },
        () => `its own certificate is shown: ${exposing.stderr}`
      )
      assert.strictEqual((await ask(target)).body.toString(), "exposed")
      const call = await owner(stack)
      const tunnels: ReadonlyArray<Record<string, unknown>> = await call("GET", "/me/tunnels")
      assert.include(
        tunnels.filter((tunnel) => tunnel["hostname"] === hostname).map(({ status }) => status),
        "gruen"
      )
    } finally {
      await exposing.stop()
      server.closeAllConnections()
      server.close()
    }
  })

  it("is taken back by its agent when the tunnel is deleted, and shown to no visitor any more", async () => {
    const call = await owner(stack)
    const tunnels: ReadonlyArray<{ readonly id: string; readonly hostname: string }> = await call("GET", "/me/tunnels")
    const demo = tunnels.find(({ hostname }) => hostname === "hello.localhost")
    const folder = stack.path("demo-agent", "certificate")
    const revoked = async () => {
      const authority = { host: "localhost", port: stack.ports.acme, ca: stack.root }
      const lists = await Promise.all(["", boundPath].map((path) => ask(authority, { path: `${path}/revoked` })))
      return lists.flatMap(({ body }) => JSON.parse(body.toString()) as ReadonlyArray<string>)
    }
    assert.deepStrictEqual(await revoked(), [])
    await call("DELETE", `/me/tunnels/${demo?.id}`)
    await eventually(async () => (await revoked()).length > 0, "the authority lists a revoked certificate")
    const own = new X509Certificate(readFileSync(join(folder, "fullchain.pem")))
    assert.deepStrictEqual(await revoked(), [own.fingerprint256])
    await eventually(
      () => readFileSync(join(folder, "acme-state.json"), "utf8").includes(own.fingerprint256),
      "the agent remembers that it was revoked"
    )
    await eventually(async () => (await shownNow())?.fingerprint256 !== own.fingerprint256, "visitors are not shown it")
  })
})
