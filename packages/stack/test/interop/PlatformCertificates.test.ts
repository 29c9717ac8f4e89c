/**
 * Certificates of the platform itself: a control plane that orders them at pebble, and two edges, the first of two processes, that
 * answer its validations and serve with what it issued.
 */
import { Hostname } from "@catenet/domain/values/Hostname"
import { Subject } from "@catenet/domain/values/Ids"
import { start, temporaryFolder, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { eventually } from "@catenet/testing/Eventually"
import { database } from "@catenet/testing/server/Accounts"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, describe, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { connect, type PeerCertificate } from "node:tls"
import * as PlatformAcme from "../../src/bridge/PlatformAcme.ts"
import { freePort } from "../../src/Ports.ts"
import * as GoPrograms from "./GoPrograms.ts"
import * as Pebble from "./Pebble.ts"

const folder = await GoPrograms.built(Pebble.programs)
const portal = "portal.zone.test"

class Authority extends Context.Service<
  Authority,
  Pebble.Pebble & {
    /** The port at which it validates. */
    readonly door: number
    /** The file of the root of its HTTPS. */
    readonly roots: string
  }
>()("test/Authority") {
  static readonly layer = Layer.effect(
    Authority,
    Effect.gen(function* () {
      const door = yield* freePort("127.0.0.1")
      const pebble = yield* Pebble.start(folder ?? "", door)
      const roots = join(yield* temporaryFolder, "roots.pem")
      writeFileSync(roots, pebble.httpsRoot)
      return { ...pebble, door, roots }
    })
  )
}

/** With `dns` it publishes in pebble's name server, by the operator's command. */
const controlPlane = (dns?: (authority: Authority["Service"]) => Readonly<Record<string, string>>) =>
  Layer.unwrap(
    Effect.map(Authority, (authority) => {
      const { directory, roots } = authority
      return TestServer.layer({
        ...dns?.(authority),
        CT_PORTAL_BASE_URL: `https://${portal}`,
        CT_CP_HOSTNAME_ZONE: "zone.test",
        CT_CP_PLATFORM_ACME: `pebble ${directory} 1000`,
        CT_CP_PLATFORM_ACME_CA_FILE: roots,
        CT_CP_ACME_EAB_PEBBLE_KID: Pebble.binding.kid,
        CT_CP_ACME_EAB_PEBBLE_HMAC: Pebble.binding.hmac
      })
    })
  ).pipe(Layer.provide(PlatformAcme.layer), Layer.provideMerge(Layer.fresh(Authority.layer)))

const hook = ({ dns, dnsManagement, roots }: Authority["Service"]) => {
  const command = `${roots}.mjs`
  const program = `#!${process.execPath}
    let line = ""
    for await (const chunk of process.stdin) line += chunk
    const { name, values } = JSON.parse(line)
    const [act, value] = values.length === 0 ? ["clear-txt"] : ["set-txt", values[0]]
    const body = JSON.stringify({ host: name + ".", value })
    const { status } = await fetch(${JSON.stringify(dnsManagement)} + "/" + act, { method: "POST", body })
    if (status !== 200) process.exit(1)`
  writeFileSync(command, program, { mode: 0o755 })
  return { CT_CP_DNS_EXEC: command, CT_CP_DNS_EXEC_ZONE: "zone.test", CT_CP_DNS_AUTHORITATIVE: dns }
}

class Edges extends Context.Service<Edges, { readonly first: TestEdge; readonly second: TestEdge }>()("test/Edges") {
  static readonly layer = Layer.effect(
    Edges,
    Effect.gen(function* () {
      const { door } = yield* Authority
      const url = yield* TestServer.baseUrl
      const same = {
        CT_EDGE_CP_URL: url,
        CT_EDGE_HEARTBEAT_SECS: "1",
        CT_EDGE_PLATFORM_CERTIFICATES: "1",
        CT_EDGE_WILDCARD_CERT: "",
        CT_EDGE_WILDCARD_KEY: "",
        CT_EDGE_PORTAL_HOST: portal,
        CT_CP_PROXY_ADDR: new URL(url).host
      }
      const at = Effect.fnUntraced(function* (id: string, more: Record<string, string>) {
        const admin = yield* freePort("127.0.0.1")
        const address = { CT_EDGE_ADMIN_LISTEN: `127.0.0.1:${admin}`, CT_EDGE_ADMIN_URL: `http://127.0.0.1:${admin}` }
        return yield* start({ ...same, ...address, ...more, CT_EDGE_ID: id })
      })
      const first = yield* at("primary", { CT_FRONT_DOOR: `127.0.0.1:${door}`, CT_EDGE_PROCESSES: "2" })
      return { first, second: yield* at("second", {}) }
    })
  )
}

interface Seen {
  readonly authorized: boolean
  readonly serial: string
  readonly protocol: string | false | null
  readonly names: string
  readonly answer: string
}

/** A visitor that trusts pebble's root; fails where the handshake does. */
const visit = (edge: TestEdge, ca: string, host: string, protocols = ["h2", "http/1.1"]) =>
  new Promise<Seen>((resolve, reject) => {
    const socket = connect({
      host: "127.0.0.1",
      port: edge.frontDoor,
      servername: host,
      ca,
      ALPNProtocols: protocols,
      rejectUnauthorized: false
    })
    socket.once("error", reject)
    socket.once("secureConnect", () => {
      const { serialNumber, subjectaltname = "" }: PeerCertificate = socket.getPeerCertificate()
      const facts = {
        authorized: socket.authorized,
        serial: serialNumber,
        protocol: socket.alpnProtocol,
        names: subjectaltname
      }
      if (socket.alpnProtocol === "h2") {
        socket.destroy()
        return resolve({ ...facts, answer: "" })
      }
      socket.write(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      let answer = ""
      socket.setEncoding("utf8").on("data", (text: string) => (answer += text))
      socket.once("close", () => resolve({ ...facts, answer }))
    })
  })

/** What a visitor sees as soon as the host has a certificate. */
const served = (edge: TestEdge, ca: string, host: string, is: (seen: Seen) => boolean = () => true) =>
  Effect.promise(async () => {
    let last: Seen | undefined
    await eventually(
      async () => {
        last = await visit(edge, ca, host).catch(() => undefined)
        return last?.authorized === true && is(last)
      },
      () => `${host} has a certificate: ${JSON.stringify(last)}`
    )
    if (last === undefined) throw new Error("not served")
    return last
  })

/** A gelb host. */
const made = Effect.fnUntraced(function* (name: string) {
  const hostname = Hostname.make(name)
  const { provisioning } = yield* TestServer.client
  const payload = { subject: Subject.make("somebody"), name: "made", hostname }
  const { routing_token } = yield* provisioning.provisionTunnel({ headers: {}, payload })
  yield* provisioning.authorizeHost({ params: { routing_token, hostname } })
})

const inDatabase = <A, E>(use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  SqlClient.SqlClient.use(use).pipe(Effect.provide(database))

describe.skipIf(folder === undefined)("certificates of the platform", () => {
  layer(Layer.provideMerge(Edges.layer, controlPlane()), { excludeTestServices: true, timeout: "120 seconds" })(
    (it) => {
      it.effect("the portal gets one by itself, the same at every edge, whose key is sealed in the database", () =>
        Effect.gen(function* () {
          const { issuingRoot } = yield* Authority
          const { first, second } = yield* Edges
          const ca = yield* Effect.promise(issuingRoot)
          const seen = yield* served(first, ca, portal)
          assert.strictEqual(seen.names, `DNS:${portal}`)
          assert.strictEqual((yield* served(second, ca, portal)).serial, seen.serial)
          const page = yield* Effect.promise(() => visit(second, ca, portal, ["http/1.1"]))
          assert.match(page.answer, /^HTTP\/1.1 200 /)
          const rows = yield* inDatabase(
            (sql) => sql<{ text: string }>`select row(p)::text || row(a)::text as text
            from platform_certificates p, platform_accounts a`
          )
          assert.lengthOf(rows, 1)
          assert.notInclude(rows[0]?.text ?? "", "PRIVATE KEY")
        })
      )

      it.effect("a gelb host gets one when it is made and before it is visited; a name that nobody has gets none", () =>
        Effect.gen(function* () {
          const { issuingRoot, log } = yield* Authority
          const { first, second } = yield* Edges
          const ca = yield* Effect.promise(issuingRoot)
          const host = "made.zone.test"
          yield* made(host)
          yield* Effect.promise(() => eventually(() => log().includes(host), "it is ordered"))
          const seen = yield* served(second, ca, host)
          assert.strictEqual(seen.protocol, "h2")
          assert.strictEqual(seen.names, `DNS:${host}`)
          const serials = new Set<string>()
          for (let count = 0; count < 8; count++) serials.add((yield* served(first, ca, host)).serial)
          assert.deepStrictEqual([...serials], [seen.serial], "every process has it")
          const page = yield* Effect.promise(() => visit(first, ca, host, ["http/1.1"]))
          assert.match(page.answer, /^HTTP\/1.1 50\d /, "its agent is not connected")
          const stranger = yield* Effect.promise(() => visit(first, ca, "nobody.zone.test").catch(({ code }) => code))
          assert.strictEqual(stranger, "ERR_SSL_TLSV1_UNRECOGNIZED_NAME")
          assert.notInclude(log(), "nobody.zone.test")
        })
      )

      it.effect(
        "it is renewed when the authority suggests it, and every edge serves the new one without a restart",
        () =>
          Effect.gen(function* () {
            const { issuingRoot, log, suggestRenewal } = yield* Authority
            const { first, second } = yield* Edges
            const ca = yield* Effect.promise(issuingRoot)
            const { serial } = yield* served(first, ca, portal)
            const [row] = yield* inDatabase(
              (sql) => sql<{ chain: string }>`select chain from platform_certificates where host = ${portal}`
            )
            const now = yield* Clock.currentTimeMillis
            yield* Effect.promise(() =>
              suggestRenewal(row?.chain ?? "", new Date(now - 7_200_000), new Date(now - 3_600_000))
            )
            yield* inDatabase((sql) => sql`update platform_certificates set due_at = 0 where host = ${portal}`)
            const renewed = yield* served(first, ca, portal, (seen) => seen.serial !== serial)
            assert.strictEqual(
              (yield* served(second, ca, portal, (seen) => seen.serial !== serial)).serial,
              renewed.serial
            )
            assert.match(log(), /ARI: order .* is a replacement of/)
          })
      )
    }
  )

  layer(Layer.provideMerge(Layer.fresh(Edges.layer), controlPlane(hook)), {
    excludeTestServices: true,
    timeout: "120 seconds"
  })((it) => {
    it.effect("with a DNS back end one wildcard serves every host of the zone, and no host is ordered by itself", () =>
      Effect.gen(function* () {
        const { issuingRoot } = yield* Authority
        const { first, second } = yield* Edges
        const ca = yield* Effect.promise(issuingRoot)
        // The edges are known once they have it.
        yield* served(first, ca, portal, ({ names }) => names === `DNS:${portal}`)
        yield* made("any.zone.test")
        const seen = yield* served(first, ca, "any.zone.test")
        assert.strictEqual(seen.names, "DNS:*.zone.test")
        assert.strictEqual((yield* served(second, ca, "any.zone.test")).serial, seen.serial)
        const hosts = yield* inDatabase(
          (sql) => sql<{ host: string }>`select host from platform_certificates where chain is not null order by host`
        )
        assert.deepStrictEqual(
          hosts.map(({ host }) => host),
          ["*.zone.test", portal]
        )
      })
    )
  })
})
