/** The agent's client at Smallstep's `step-ca`, which people run in networks of their own. */
import { start, temporaryFolder, token } from "@catenet/testing/edge/TestEdge"
import * as BindServer from "@catenet/testing/server/dns/BindServer"
import { serving } from "@catenet/testing/stack/agent/Serving"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { freePort } from "../../src/Ports.ts"
import * as AgentAt from "./AgentAt.ts"
import { running } from "./Background.ts"
import * as GoPrograms from "./GoPrograms.ts"

const programs = { module: "github.com/smallstep/certificates", version: "v0.30.2", commands: ["cmd/step-ca"] }
const folder = await GoPrograms.built(programs)
if (!BindServer.isInstalled) GoPrograms.skipped("step-ca", "it looks names up, and there is no `named` on PATH")

/** It validates TLS-ALPN-01 at this port of the address that its name server gives. */
const stepCa = Effect.fnUntraced(function* (tlsPort: number, resolver: string) {
  const place = yield* temporaryFolder
  const port = yield* freePort("127.0.0.1")
  const at = (name: string) => join(place, name)
  const openssl = (...args: ReadonlyArray<string>) => execFileSync("openssl", args, { stdio: "pipe" })
  const newKey = (name: string) =>
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", at(name))
  for (const name of ["root.key", "step.key"]) newKey(name)
  const ca = ["-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign"]
  openssl("req", "-x509", "-new", "-key", at("root.key"), "-subj", "/CN=house root", "-out", at("root.pem"), ...ca)
  const issuer = ["-CA", at("root.pem"), "-CAkey", at("root.key")]
  openssl(
    "req",
    "-x509",
    "-new",
    "-key",
    at("step.key"),
    ...issuer,
    "-subj",
    "/CN=house",
    "-out",
    at("step.pem"),
    ...ca
  )
  const config = {
    root: at("root.pem"),
    crt: at("step.pem"),
    key: at("step.key"),
    address: `127.0.0.1:${port}`,
    dnsNames: ["localhost"],
    db: { type: "bbolt", dataSource: at("db") },
    logger: { format: "text" },
    authority: { provisioners: [{ type: "ACME", name: "acme", challenges: ["tls-alpn-01", "dns-01"] }] }
  }
  writeFileSync(at("ca.json"), JSON.stringify(config))
  const flags = ["--insecure", "--acme-tls-port", String(tlsPort), "--resolver", resolver]
  yield* running(join(folder ?? "", "step-ca"), [at("ca.json"), ...flags], {
    ready: "Serving HTTPS on",
    env: { HOME: place, STEPPATH: place },
    cwd: place
  })
  return { directory: `https://localhost:${port}/acme/acme/directory`, roots: readFileSync(at("root.pem"), "utf8") }
})

describe.skipIf(folder === undefined || !BindServer.isInstalled)("step-ca", () => {
  it.live("validates a host by TLS-ALPN-01 through an edge and an agent, and by DNS-01 through a name server", () =>
    Effect.gen(function* () {
      const names = yield* BindServer.start
      yield* names.set({ name: AgentAt.host, type: "A", values: ["127.0.0.1"] })
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(token("1"), AgentAt.host, "gelb"))
      const { stateDir } = yield* serving(world, token("1"), AgentAt.host)
      const ca = yield* stepCa(world.frontDoor, `127.0.0.1:${names.port}`)
      const byTls = yield* AgentAt.start({ ...ca, methods: ["tls-alpn-01"], own: true, stateDir })
      assert.strictEqual((yield* byTls.look)?._tag, "Issued")
      assert.include(byTls.verified(ca.roots), ": OK")
      assert.lengthOf(readFileSync(byTls.chain, "utf8").match(/BEGIN CERTIFICATE/g) ?? [], 2, "with its issuer")
      const byDns = yield* AgentAt.start({ ...ca, methods: ["dns-01"], stateDir: yield* temporaryFolder })
      byDns.plane.dns = async (value) => {
        const name = `_acme-challenge.${AgentAt.host}`
        await Effect.runPromise(names.set({ name, type: "TXT", values: value === undefined ? [] : [value] }))
        return undefined
      }
      assert.strictEqual((yield* byDns.look)?._tag, "Issued")
      assert.include(byDns.verified(ca.roots), ": OK")
    }).pipe(Effect.scoped)
  )
})
