/**
 * A platform on a domain of one's own, from an empty folder to a visited end-to-end name, with pebble as the public authority:
 * `catenet init`, `catenet up`, and one agent. What was run and how long it took is printed.
 *
 * One file, since all cases are about one platform that takes half a minute to start.
 */
import { eventually } from "@catenet/testing/Eventually"
import { agent, catenet, endsWithUs, freePorts, type Spawned } from "@catenet/testing/stack/e2e/Stack"
import * as DataFolder from "@catenet/testing/stack/postgres/DataFolder"
import { temporaryRoot } from "@catenet/testing/TemporaryRoot"
import { Effect, Exit, Scope } from "effect"
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { request } from "node:https"
import { type AddressInfo } from "node:net"
import { join } from "node:path"
import type { TLSSocket } from "node:tls"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { parse } from "yaml"
import { provision } from "../e2e/Tunnel.ts"
import * as GoPrograms from "./GoPrograms.ts"
import * as Pebble from "./Pebble.ts"

const programs = await GoPrograms.built(Pebble.programs)
const domain = "own.test"
const email = "ada@own.test"

const root = mkdtempSync(join(temporaryRoot(), "catenet-own-"))
chmodSync(root, 0o711)
const folder = join(root, "etc")
const scope = Effect.runSync(Scope.make())
const origin = createServer((_request, response) => void response.end("from home"))
let platform: Spawned | undefined
let serving: Spawned | undefined

const init = (...args: ReadonlyArray<string>) =>
  catenet(["init", "--yes", "--no-wait", "--folder", folder, ...args]).ended

interface Seen {
  readonly status: number | undefined
  readonly location: string | undefined
  readonly cookies: ReadonlyArray<string>
  readonly body: string
  readonly serial: string
}

interface Asked {
  readonly path?: string
  readonly cookie?: string
  /** Posted, as a form. */
  readonly form?: Readonly<Record<string, string>>
}

/** A visitor who trusts pebble's root alone. */
const visit = (port: number, ca: string, host: string, { cookie = "", form, path = "/" }: Asked = {}) =>
  new Promise<Seen>((resolve, reject) => {
    const posted = form === undefined ? undefined : new URLSearchParams(form).toString()
    const headers = {
      host: `${host}:${port}`,
      ...(cookie === "" ? {} : { cookie }),
      ...(posted === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" })
    }
    const method = posted === undefined ? "GET" : "POST"
    const options = { host: "127.0.0.1", port, servername: host, ca, path, method, headers, agent: false }
    const asked = request(options, (response) => {
      const { location, "set-cookie": cookies = [] } = response.headers
      const serial = (response.socket as TLSSocket).getPeerCertificate().serialNumber
      let body = ""
      response.setEncoding("utf8").on("data", (text: string) => (body += text))
      response.on("end", () => resolve({ status: response.statusCode, location, cookies, body, serial }))
    })
    asked.on("error", reject).end(posted)
  })

/** A browser that goes where it is led, and signs in where it is asked. */
const signIn = async (port: number, ca: string, start: string, form: Readonly<Record<string, string>>) => {
  const jars = new Map<string, Map<string, string>>()
  let url = new URL(start)
  let sent: Asked = {}
  for (let step = 0; step < 15; step++) {
    const jar = jars.get(url.hostname) ?? new Map<string, string>()
    jars.set(url.hostname, jar)
    const cookie = Array.from(jar, ([name, value]) => `${name}=${value}`).join("; ")
    const seen = await visit(port, ca, url.hostname, { ...sent, cookie, path: `${url.pathname}${url.search}` })
    for (const given of seen.cookies) {
      assert.match(given, /; secure/iu, "every cookie is for TLS only")
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/u.exec(given) ?? []
      if (value === "") jar.delete(name)
      else jar.set(name, value)
    }
    const action = /<form[^>]*action="([^"]+)"/u.exec(seen.body)?.[1]
    sent = {}
    if (seen.location !== undefined) url = new URL(seen.location, url)
    else if (url.hostname.startsWith("auth.") && action !== undefined && step < 10) {
      url = new URL(action.replaceAll(/&amp;|&#38;/gu, "&"), url)
      sent = { form }
    } else return { ...seen, url }
  }
  throw new Error(`led in circles at ${url.href}`)
}

const visited = async (what: string, visiting: () => Promise<Seen>, is: (seen: Seen) => boolean) => {
  let last: unknown
  await eventually(
    async () => {
      const seen = await visiting().catch((error: unknown) => (last = error))
      if (seen instanceof Error) return false
      last = seen
      return is(seen as Seen)
    },
    () => `${what}: ${String(last instanceof Error ? last : JSON.stringify(last))} ${platform?.stderr}`,
    90_000
  )
  return last as Seen
}

describe.skipIf(programs === undefined)("a platform on a domain of one's own", () => {
  beforeAll(() => new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve)))
  afterAll(async () => {
    await serving?.stop()
    await platform?.stop()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    origin.close()
    for (const each of [folder, join(root, "other-machine")]) DataFolder.remove(join(each, "data", "postgres"))
    rmSync(root, { recursive: true, force: true })
  })

  it("init refuses what it cannot use, and writes nothing then", async () => {
    for (const [args, said] of [
      [["--email", email], "--domain is not set"],
      [["--domain", "no domain", "--email", email], "the domain is like example.net"],
      [["--domain", domain, "--email", "nobody"], "the address like you@example.net"]
    ] as const) {
      const { code, stderr } = await init(...args)
      assert.strictEqual(code, 3, stderr)
      assert.include(stderr.replaceAll(/\s+/gu, " "), said)
    }
    assert.isFalse(existsSync(folder))
  })

  it("init writes the file with its schema, and secrets that only the owner reads; a second one changes nothing", async () => {
    const { code, stderr, stdout } = await init("--domain", domain, "--email", email)
    assert.strictEqual(code, 0, stderr)
    for (const name of ["portal", "auth", "*"])
      assert.match(stdout, new RegExp(`  \\${name}\\.own\\.test\\. .* IN A `.replace("\\p", "p").replace("\\a", "a")))
    const read = (name: string) => readFileSync(join(folder, name), "utf8")
    assert.deepStrictEqual(parse(read("catenet.yaml")), { domain, email, certificates: "letsencrypt" })
    assert.sameMembers(JSON.parse(read("catenet.schema.json")).required, ["domain", "email"])
    for (const name of ["owner-password", "catenet.env"])
      assert.strictEqual(statSync(join(folder, name)).mode & 0o777, 0o600, name)
    const before = read("owner-password")
    const again = await init("--domain", "other.test", "--email", email)
    assert.strictEqual(again.code, 3)
    assert.include(again.stderr, "is already there")
    assert.strictEqual(read("owner-password"), before)
  })

  it("up refuses a file that says something else, by its name", async () => {
    const other = mkdtempSync(join(root, "other-"))
    for (const [content, said] of [
      ["domain: own.test\nemail: a@b.c\nmail: x\n", "mail"],
      ["domain: [\n", "is no YAML"]
    ] as const) {
      writeFileSync(join(other, "catenet.yaml"), content)
      const { code, stderr } = await catenet(["up", "--folder", other]).ended
      assert.strictEqual(code, 3, stderr)
      assert.include(stderr, said)
    }
    const { code, stderr } = await catenet(["up", "--folder", join(root, "none")]).ended
    assert.strictEqual(code, 3)
    assert.include(stderr, "cannot be read")
  })

  it("doctor says before the first start what is missing, and changes nothing", async () => {
    const { code, stderr, stdout } = await catenet(["doctor", "--folder", folder]).ended
    assert.strictEqual(code, 5, stderr)
    assert.match(stdout, /^ok +secrets +2 files, readable by their owner only$/mu, stdout)
    assert.include(stdout, `Start the platform: catenet up --folder ${folder}`)
    assert.isFalse(existsSync(join(folder, "data")))
    chmodSync(join(folder, "owner-password"), 0o644)
    const open = await catenet(["doctor", "--folder", folder]).ended
    assert.strictEqual(open.code, 3)
    assert.include(open.stderr, `chmod 600 ${join(folder, "owner-password")}`)
    chmodSync(join(folder, "owner-password"), 0o600)
  })

  it(
    "up serves portal and sign-in over trusted certificates, and one agent brings an end-to-end name",
    { timeout: 180_000 },
    async () => {
      const began = performance.now()
      const ports = await freePorts()
      const pebble = await Effect.runPromise(
        Pebble.start(programs ?? "", ports.frontDoor).pipe(Effect.provideService(Scope.Scope, scope))
      )
      const ca = await pebble.issuingRoot()
      const roots = join(root, "roots.pem")
      writeFileSync(roots, pebble.httpsRoot)
      const authority = `pebble ${pebble.directory} 1000`
      const variables = {
        CT_CONTROL_PLANE_LISTEN: `127.0.0.1:${ports.controlPlane}`,
        CT_IDP_LISTEN: `127.0.0.1:${ports.identityProvider}`,
        CT_FRONT_DOOR: `127.0.0.1:${ports.frontDoor}`,
        CT_EDGE_LISTEN: `127.0.0.1:${ports.mesh}`,
        CT_EDGE_ADMIN_LISTEN: `127.0.0.1:${ports.edgeAdmin}`,
        CT_EDGE_METRICS_LISTEN: `127.0.0.1:${ports.edgeMetrics}`,
        CT_CP_PLATFORM_ACME: authority,
        CT_CP_PLATFORM_ACME_CA_FILE: roots,
        CT_CP_ACME_CAS: authority,
        CT_CP_ACME_BROKER_TICK_SECS: "2",
        CT_CP_ACME_EAB_PEBBLE_KID: Pebble.binding.kid,
        CT_CP_ACME_EAB_PEBBLE_HMAC: Pebble.binding.hmac
      }
      platform = catenet(["up", "--folder", folder], { ...endsWithUs, ...variables })
      await platform.printed(`Catenet is up for ${domain}`)
      const up = performance.now()
      const at = (host: string, path = "/") => visit(ports.frontDoor, ca, host, { path })
      const portal = await visited(
        "the portal",
        () => at("portal.own.test"),
        ({ status }) => status === 200
      )
      assert.include(portal.body, "<html")
      const issuer = `https://auth.own.test:${ports.frontDoor}/realms/catenet`
      const discovery = await visited(
        "sign-in",
        () => at("auth.own.test", "/realms/catenet/.well-known/openid-configuration"),
        ({ status }) => status === 200
      )
      const described = JSON.parse(discovery.body)
      assert.strictEqual(described.issuer, issuer)
      assert.isTrue(described.authorization_endpoint.startsWith(issuer))
      const signedIn = await signIn(ports.frontDoor, ca, `https://portal.own.test:${ports.frontDoor}/portal`, {
        username: email,
        password: readFileSync(join(folder, "owner-password"), "utf8").trim()
      })
      assert.strictEqual(signedIn.status, 200, signedIn.url.href)
      assert.strictEqual(signedIn.url.hostname, "portal.own.test")
      assert.include(signedIn.body, email)

      const secrets = JSON.parse(readFileSync(join(folder, "data", "secrets.json"), "utf8"))
      const url = (path: string) => `http://127.0.0.1:${ports.controlPlane}${path}`
      const tunnel = await provision(
        {
          folder: root,
          ports,
          secrets,
          root: ca,
          url,
          admin: (method, path, body) =>
            fetch(url(path), {
              method,
              headers: { "x-ct-admin-token": secrets.edgeAdminToken, "content-type": "application/json" },
              ...(body === undefined ? {} : { body: JSON.stringify(body) })
            })
        },
        "home.own.test",
        (origin.address() as AddressInfo).port
      )
      const first = await visited(
        "the name at the edge",
        () => at("home.own.test"),
        ({ status }) => status !== undefined
      )
      const served = {
        ...tunnel.variables,
        CT_AGENT_ORIGIN_TLS: "terminate",
        CT_ACME_CERT_OUT_DIR: join(root, "certificate"),
        CT_ACME_CA_FILE: roots
      }
      serving = agent([], served)
      const home = await visited(
        "end-to-end",
        () => at("home.own.test"),
        ({ body, serial }) => body === "from home" && serial !== first.serial
      )
      const held = readFileSync(join(root, "certificate", "fullchain.pem"), "utf8")
      assert.notStrictEqual(home.serial, portal.serial)
      assert.include(held, "BEGIN CERTIFICATE")
      // Everything is well but the names, which the DNS of this machine does not have.
      const checked = await catenet(["doctor", "--json", "--folder", folder], variables).ended
      const { findings } = JSON.parse(checked.stdout)
      assert.strictEqual(checked.code, 5, checked.stderr)
      assert.deepStrictEqual(
        findings
          .filter(({ outcome }: { outcome: string }) => outcome !== "ok")
          .map(({ check }: { check: string }) => check),
        ["DNS records", "visitors' port", "agents' port"],
        checked.stdout
      )
      assert.lengthOf(findings, 12)

      // A backup under load, a machine that is lost, and the same platform in another folder.
      const kept = join(root, "kept")
      const saved = await catenet(["backup", "--folder", folder, kept], variables).ended
      assert.deepStrictEqual([saved.code, statSync(kept).mode & 0o777], [0, 0o700], saved.stderr)
      const again = await catenet(["backup", "--folder", folder, kept], variables).ended
      assert.strictEqual(again.code, 3)
      assert.include(again.stderr, "is already there")
      await serving.stop()
      await platform.stop()
      const daily = readdirSync(join(folder, "data", "backups"))
      assert.lengthOf(daily, 1)
      assert.isTrue(existsSync(join(folder, "data", "backups", daily[0] ?? "", "data", "postgres", "backup_label")))
      const other = join(root, "other-machine")
      for (const [args, said] of [
        [["restore", "--folder", folder, kept], "is already there"],
        [["restore", "--folder", other, join(root, "none")], "holds no platform"]
      ] as const) {
        const refused = await catenet(args, variables).ended
        assert.strictEqual(refused.code, 3)
        assert.include(refused.stderr, said)
      }
      const restored = await catenet(["restore", "--folder", other, kept], variables).ended
      assert.strictEqual(restored.code, 0, restored.stderr)
      assert.strictEqual(statSync(join(other, "owner-password")).mode & 0o777, 0o600)
      platform = catenet(["up", "--folder", other], { ...endsWithUs, ...variables })
      await platform.printed(`Catenet is up for ${domain}`)
      serving = agent([], served)
      const back = await visited(
        "the name on the other machine",
        () => at("home.own.test"),
        ({ body }) => body === "from home"
      )
      assert.strictEqual(back.serial, home.serial)
      const seconds = (from: number, to: number) => ((to - from) / 1_000).toFixed(1)
      process.stderr.write(
        `catenet init --yes --domain ${domain} --email ${email} --folder ${folder}\n` +
          `catenet up --folder ${folder}    # up after ${seconds(began, up)} s\n` +
          `ct-agent    # end-to-end ${seconds(up, performance.now())} s later\n`
      )
    }
  )
})
