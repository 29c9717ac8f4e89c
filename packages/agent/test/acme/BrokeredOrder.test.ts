/**
 * A certificate by DNS-01 through the broker of a control plane that is a process of its own: an authority looks the proof up at a
 * name server, BIND where it is installed, that the control plane changes by signed updates. And while it is killed.
 */
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { until } from "@catenet/testing/Eventually"
import * as BindServer from "@catenet/testing/server/dns/BindServer"
import * as TestNameServer from "@catenet/testing/server/dns/NameServer"
import * as Program from "@catenet/testing/server/faults/Program"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { adminToken, sealKey } from "@catenet/testing/server/TestServer"
import * as AcmeStage from "@catenet/testing/stack/acme/AcmeStage"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import * as DevelopmentAcme from "../../../stack/src/acme/DevelopmentAcme.ts"
import * as CertificateQueueClient from "../../src/certificate/CertificateQueueClient.ts"
import * as Certificates from "../../src/certificate/Certificates.ts"
import * as OutgoingHttp from "../../src/onboard/OutgoingHttp.ts"

/** BIND, or the name server of the tests. */
const names = Effect.gen(function* () {
  if (BindServer.isInstalled) {
    const { key, port } = yield* BindServer.start
    return { keyName: key.name, port, secret: Buffer.from(Redacted.value(key.secret)) }
  }
  const { port } = Context.get(yield* Layer.build(TestNameServer.NameServer.layer), TestNameServer.NameServer)
  return { keyName: TestNameServer.keyName, port, secret: TestNameServer.secret }
})

/** The calls of an order. After each of them the control plane dies once before its answer is heard. */
const steps = ["GET /agent/acme-admission", "/dns01-challenge", "/dns01-challenge/clear", "/acme-issuance-complete"]
const stepOf = (line: string) => steps.findLast((step) => line.includes(step))

/** Stands between the agent and the control plane. */
const between = Effect.fnUntraced(function* (program: Program.Program) {
  const left = new Set(steps)
  const server = createServer((incoming, outgoing) => {
    const { headers, method = "GET", url = "" } = incoming
    const { host: _, ...others } = headers
    const forward = async () => {
      const body = await text(incoming)
      const answer = await new Promise<{ status: number; body: string; date: string }>((resolve, reject) => {
        const sent = request(`${program.url}${url}`, { method, headers: others, agent: false }, async (response) =>
          resolve({
            status: response.statusCode ?? 500,
            body: await text(response),
            date: response.headers.date ?? ""
          })
        )
        sent.on("error", reject).end(body)
      })
      const step = stepOf(`${method} ${url}`)
      if (step !== undefined && left.delete(step)) {
        await Effect.runPromise(program.strike)
        return outgoing.destroy()
      }
      const headersBack = { "content-type": answer.status < 400 ? "application/json" : "application/problem+json" }
      return outgoing.writeHead(answer.status, { ...headersBack, date: answer.date }).end(answer.body)
    }
    void forward().catch(() => outgoing.destroy())
  })
  yield* Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
  yield* Effect.addFinalizer(() => Effect.sync(() => (server.closeAllConnections(), server.close())))
  return { left, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
})

layer(Layer.mergeAll(TestDatabase.layer, RecordingEdge.layer), { excludeTestServices: true, timeout: "60 seconds" })(
  "an order by DNS-01 through the broker",
  (it) => {
    it.effect(
      "ends with a certificate and a name that is gruen, with the control plane killed at every step of it",
      () =>
        Effect.gen(function* () {
          const { keyName, port: dnsPort, secret } = yield* names
          const edge = yield* RecordingEdge
          const { serverUrl } = yield* TestDatabase
          const orders: Array<string> = []
          const stage = yield* AcmeStage.start({
            validate: (_, name, proof) => DevelopmentAcme.byDns(`127.0.0.1:${dnsPort}`, name, proof),
            meddle: async ({ path }, honest) => {
              if (path === "/new-order") orders.push(path)
              return honest()
            }
          })
          const port = yield* Program.freePort
          const program = yield* Program.start({
            name: "control plane",
            port,
            main: Program.controlPlane,
            health: "/readyz",
            env: {
              CT_CONTROL_PLANE_LISTEN: `127.0.0.1:${port}`,
              CT_CP_DATABASE_POOL: "4",
              CT_CP_DATABASE_URL: Redacted.value(serverUrl),
              CT_CP_SEAL_KEY: sealKey,
              CT_CP_EDGE_ADMIN_TOKEN: adminToken,
              CT_CP_EDGE_ADMIN_URL: edge.url,
              CT_CP_OUTBOX_TICK_SECS: "1",
              CT_CP_ACME_BROKER_ENABLED: "1",
              CT_CP_ACME_BROKER_TICK_SECS: "1",
              CT_CP_ACME_CAS: `stage ${stage.plane.directory} 10`,
              CT_CP_DNS_UPDATE_SERVER: `127.0.0.1:${dnsPort}`,
              CT_CP_DNS_UPDATE_ZONE: "zone.test",
              CT_CP_DNS_UPDATE_KEY_NAME: keyName,
              CT_CP_DNS_UPDATE_KEY: secret.toString("base64")
            }
          })
          const made = yield* Effect.promise((): Promise<{ routing_token: string }> =>
            fetch(`${program.url}/admin/provision-tunnel`, {
              method: "POST",
              headers: { "content-type": "application/json", "x-ct-admin-token": adminToken },
              body: JSON.stringify({ subject: "owner", name: "app", hostname: AcmeStage.hostname })
            }).then((response) => response.json() as Promise<{ routing_token: string }>)
          )
          const { left, url } = yield* between(program)
          const look = Certificates.look({
            ...stage.certificates,
            token: yield* Schema.decodeEffect(RoutingToken)(made.routing_token),
            methods: ["dns-01"]
          }).pipe(
            Effect.provide(
              CertificateQueueClient.CertificateQueueClient.layer(url).pipe(Layer.provide(OutgoingHttp.layer))
            ),
            Effect.provide(NodeFileSystem.layer)
          )
          const outcome = look.pipe(Effect.catch((error) => Effect.succeed({ _tag: error._tag } as const)))
          yield* until(outcome, (found) => found?._tag === "Current", "300 millis")
          assert.deepStrictEqual([...left], [], "it died at every step")
          assert.lengthOf(orders, 1)
          const answer = yield* Effect.promise(() =>
            fetch(`${program.url}/agent/acme-admission/${made.routing_token}/${AcmeStage.hostname}`).then((response) =>
              response.json()
            )
          )
          assert.deepInclude(answer, { status: "gruen", may_issue_now: true, claim_deadline: null })
          const passed = (yield* edge.about(made.routing_token, 2)).filter(({ path }) => !path.includes("channel_tier"))
          assert.isNotEmpty(passed, "the edge passes it through")
        }).pipe(Effect.scoped)
    )
  }
)
