/** The file of services: what it may say, and where its problems are. */
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { chmod, readFile, stat, writeFile } from "node:fs/promises"
import { assert, describe, it } from "vitest"

/** Runs `check` on a file of this text; its exit code, its lines without the level, and its results. */
const checked = async (text: string, name = "ct-agent.yaml", args: ReadonlyArray<string> = []) => {
  await using home = await makeHome()
  await writeFile(`${home.path}/${name}`, text, { mode: 0o600 })
  await using agent = runAgent(home, {}, ["check", name, ...args])
  const code = await agent.exited
  return { code, lines: agent.lines.map((line) => line.replace(/^Error: /u, "")), stdout: agent.stdout() }
}

const head = "control_plane: https://portal.example.org\n"

describe("a file of services", () => {
  it("is checked whole: every problem has its line and column, and names what was probably meant", async () => {
    const { code, lines } = await checked(
      [
        "control_plain: https://portal.example.org",
        "defaults: { tls: terminat }",
        "services:",
        "  shop:",
        "    to: 3000",
        "    hostname: shop.example.org",
        "  Api:",
        "    to: 3000",
        "  x:",
        "    to: htp://1",
        "  y:",
        "    host: a..b",
        "  z: 5",
        "  ssh: { tcp: 'http://b:1', port: 0 }"
      ].join("\n")
    )
    assert.strictEqual(code, 3)
    assert.sameMembers(lines, [
      "ct-agent.yaml:1:1: control_plain is not an option here; write control_plane if that was meant.",
      'ct-agent.yaml:2:18: defaults.tls is not "terminate" or "passthrough".',
      "ct-agent.yaml:6:5: services.shop.hostname is not an option here; write host if that was meant.",
      "ct-agent.yaml:7:3: services.Api is not a service's name; use up to 60 of a-z, 0-9 and hyphens, with no hyphen at an end.",
      "ct-agent.yaml:10:9: services.x.to is not a local service: a port, host:port, an address with http://, https:// or h2c:// before host:port, unix:/path or file:path.",
      "ct-agent.yaml:12:11: services.y.host is not a host name.",
      "ct-agent.yaml:13:6: services.z is not a mapping of options.",
      "ct-agent.yaml:14:15: services.ssh.tcp is not a local service: a port or host:port.",
      "ct-agent.yaml:14:35: services.ssh.port is not a value between 1 and 65535."
    ])
  })

  it.each([
    ["no control plane", "services: { a: { to: 1 } }", ":1:1: control_plane is missing"],
    ["not YAML", `${head}services: { a: { to: 1 }`, ":2:25 cannot be read: "],
    ["the same key twice", `${head}services: { a: { to: 1, to: 2 } }`, ":2:25 cannot be read: Map keys must be unique"],
    ["empty", "", ":1:1: the file is not a mapping of options"],
    ["no service", `${head}services: {}`, ":2:11: services is not 1 to 1000 services"],
    ["a port that is none", `${head}services: { a: { to: 65536 } }`, ":2:22: services.a.to is not a local service"],
    [
      "two services with one tunnel",
      `${head}services: { a: { to: 1 }, b: { to: 2, name: a } }`,
      ":2:45: services.b.name is the tunnel a, which the service a has"
    ],
    [
      "two services with one host",
      `${head}services: { a: { to: 1, host: x.example }, b: { to: 2, host: X.example } }`,
      ":2:62: services.b.host is the host name x.example"
    ],
    [
      "half a certificate",
      `${head}services: { a: { to: 1, tls_key: k.pem } }`,
      ":2:34: services.a.tls_key needs tls_certificate"
    ],
    [
      "a token without a host",
      `${head}services: { a: { to: 1, token: ${"ab".repeat(32)} } }`,
      ":2:32: services.a.token needs host"
    ],
    [
      "a token that is none",
      `${head}services: { a: { to: 1, host: a.example, token: abc } }`,
      ":2:49: services.a.token is not a token of 64 hex characters"
    ],
    [
      "HTTP/2 with a PROXY header",
      `${head}services: { a: { to: "h2c://b:1", proxy_protocol: v2 } }`,
      ":2:51: services.a.proxy_protocol does not work with h2c://"
    ],
    [
      "an origin and routes",
      `${head}services: { a: { to: 1, routes: [{ to: "http://b:1" }] } }`,
      ":2:33: services.a.routes does not work with to; remove one of the two"
    ],
    [
      "routes for TLS that nobody ends",
      `${head}services: { a: { tls: passthrough, routes: [{ to: "http://b:1" }] } }`,
      ":2:23: services.a.tls hides the paths that routes are for"
    ],
    [
      "a route behind one that takes all of its requests",
      `${head}services: { a: { routes: [{ to: "http://b:1" }, { path: /v1, to: "http://c:1" }] } }`,
      ":2:57: services.a.routes[1].path is never reached: the route /* is before it"
    ],
    [
      "options of a route that its origin has no use for",
      `${head}services: { a: { routes: [{ to: "http://b:1", insecure: true }] } }`,
      ":2:57: services.a.routes[0].insecure needs https:// in to"
    ],
    [
      "a route to a folder that is not there",
      `${head}services: { a: { routes: [{ to: "file:./gone", listing: true }] } }`,
      ":2:33: services.a.routes[0].to names the folder "
    ],
    [
      "a listing of routes outside of them",
      `${head}services: { a: { routes: [{ to: "file:." }], listing: true } }`,
      ":2:55: services.a.listing belongs to a route"
    ],
    [
      "a rule that no edge can apply",
      `${head}services: { a: { to: 1, rules: [{ mtls: { ca: a.pem } }] } }`,
      ":2:33: services.a.rules[0] is not a supported rule (mtls is not supported)"
    ],
    [
      "rules for requests that nobody reads",
      `${head}services: { a: { to: 1, tls: passthrough, rules: [{ max_body: 1 MiB }] } }`,
      ":2:30: services.a.tls hides the requests that rules are for"
    ],
    [
      "rules without an account that has the tunnel",
      `${head}services: { a: { to: 1, host: a.example, token: ${"ab".repeat(32)}, rules: [{ allow: [] }] } }`,
      ":2:122: services.a.rules needs an account, and not token"
    ],
    [
      "a rule for HTTP at a public port",
      `${head}services: { a: { tcp: 1, rules: [{ allow: [] }, { max_body: 1 MiB }] } }`,
      ":2:49: services.a.rules[1] needs HTTP; write allow"
    ],
    [
      "passwords in a file that is not there",
      `${head}services: { a: { to: 1, rules: [{ basic_auth: { file: gone } }] } }`,
      ":2:55: services.a.rules[0].basic_auth.file names gone, which cannot be read"
    ],
    [
      "hashes that are not scrypt",
      `${head}services: { a: { to: 1, rules: [{ basic_auth: { file: ct-agent.yaml } }] } }`,
      ":2:55: services.a.rules[0].basic_auth.file names ct-agent.yaml, which has no name with a scrypt hash in line 1"
    ],
    [
      "a wildcard in the middle of a name",
      `${head}services: { a: { to: 1, host: "a.*.example.org" } }`,
      ":2:31: services.a.host is not a host name"
    ],
    [
      "an MCP server at many names",
      `${head}services: { a: { mcp: b, host: "*.dev.example.org" } }`,
      ":2:32: services.a.host stands for many names, and an MCP server has one"
    ],
    [
      "a caller of tools that is none",
      `${head}services: { a: { mcp: b, mcp_tools: { "a b": [c] } } }`,
      ":2:39: services.a.mcp_tools.a b is not a name that can be used here"
    ],
    [
      "a listener that is none",
      `${head}status_listen: nine\nservices: { a: { to: 1 } }`,
      ":2:16: status_listen is not host:port"
    ]
  ])("with %s is refused, with the place", async (_, text, expected) => {
    const { code, lines } = await checked(text)
    assert.strictEqual(code, 3, lines.join("\n"))
    assert.isTrue(
      lines.some((line) => line.startsWith(`ct-agent.yaml${expected}`)),
      lines.join("\n")
    )
    assert.notInclude(lines.join("\n"), "ab".repeat(32))
  })

  it("may hold as many services as one agent serves, and not one more", async () => {
    const services = (count: number) =>
      JSON.stringify({
        control_plane: "https://portal.example.org",
        services: Object.fromEntries(Array.from({ length: count }, (_, n) => [`s${n}`, { to: 3000 }]))
      })
    const most = await checked(services(1000), "ct-agent.json", ["--json"])
    assert.strictEqual(most.code, 0, most.lines.join("\n"))
    assert.lengthOf(JSON.parse(most.stdout).services, 1000)
    const more = await checked(services(1001), "ct-agent.json")
    assert.strictEqual(more.code, 3)
    assert.include(more.lines.join("\n"), "services is not 1 to 1000 services")
  })

  it("refuses what does not go with a public port", async () => {
    const services = [
      "none: { name: x }",
      "two: { to: 1, tcp: 2 }",
      "web: { to: 1, port: 2 }",
      "host: { udp: 1, host: a.example }",
      "tls: { tcp: 1, tls: terminate }",
      "header: { udp: 1, proxy_protocol: v2 }",
      "first: { tcp: 1, port: 22 }",
      "other: { udp: 1, port: 22 }",
      "second: { tcp: 2, port: 22 }",
      "named: { tcp: 1, host: b.example }",
      "both: { tcp: 1, tls: true, port: 23 }",
      "far: { udp: 1, tls: true }",
      "site: { to: 1, tls: true }",
      "db: { tcp: 5432, tls: true, host: db.zone.example }",
      "plain: { tcp: 5432, tls: false }",
      "shared: { to: 1, mcp_share: true }",
      "kept: { mcp: npx a, host_header: keep }",
      "twice: { mcp: a, to: 1 }",
      "ported: { mcp: a, port: 1 }",
      "sealed: { mcp: a, tls: passthrough }"
    ]
    const { code, lines } = await checked(`${head}services:\n  ${services.join("\n  ")}`)
    assert.strictEqual(code, 3)
    assert.sameMembers(lines, [
      "ct-agent.yaml:3:9: services.none has none of to, routes, tcp, udp and mcp; set one of them to the local service.",
      "ct-agent.yaml:4:22: services.two.tcp does not work with to; remove one of the two.",
      "ct-agent.yaml:5:23: services.web.port needs tcp or udp; remove it, or write tcp or udp instead of to.",
      "ct-agent.yaml:6:25: services.host.host does not work with udp; remove it.",
      "ct-agent.yaml:7:23: services.tls.tls is true or false with tcp; set it to true, or remove it.",
      "ct-agent.yaml:18:31: services.shared.mcp_share needs mcp; remove it, or write mcp instead of to.",
      "ct-agent.yaml:19:36: services.kept.host_header does not work with mcp; remove it.",
      "ct-agent.yaml:20:17: services.twice.mcp does not work with to; remove one of the two.",
      "ct-agent.yaml:21:27: services.ported.port needs tcp or udp; remove it, or write tcp or udp instead of mcp.",
      "ct-agent.yaml:22:26: services.sealed.tls hides the requests that the MCP server is for; remove it.",
      "ct-agent.yaml:8:37: services.header.proxy_protocol does not work with udp; remove it.",
      "ct-agent.yaml:11:27: services.second.port is the tcp port 22, which the service first has; choose another.",
      "ct-agent.yaml:12:26: services.named.host needs tls: true with tcp; add tls: true, or remove host.",
      "ct-agent.yaml:13:36: services.both.port does not work with tls: true; remove one of the two.",
      "ct-agent.yaml:14:23: services.far.tls does not work with udp; remove it.",
      "ct-agent.yaml:15:23: services.site.tls is true or false for tcp only; set it to terminate or passthrough."
    ])
  })

  it("gives services public ports, to which the defaults of host names do not apply", async () => {
    const services =
      '{ ssh: { tcp: 22, port: 20022 }, dns: { udp: "10.0.0.5:53" }, db: { tcp: 5432, tls: true }, web: { to: 1 } }'
    const { code, lines, stdout } = await checked(
      `${head}defaults: { tls: passthrough, proxy_protocol: v2 }\nservices: ${services}`
    )
    assert.strictEqual(code, 0, lines.join("\n"))
    assert.strictEqual(
      stdout,
      "ssh  tcp port 20022  localhost:22\ndns  udp port -  10.0.0.5:53\ndb  tcp by TLS -  localhost:5432\nweb  -  localhost:1\n"
    )
  })

  it("is written by init with the schema in its first line, is valid as it is, and is not replaced unasked", async () => {
    await using home = await makeHome()
    const args = ["init", "--config", "ct-agent.yaml"]
    await using init = runAgent(home, { CT_AGENT_CP_URL: "https://portal.example.org" }, args)
    assert.strictEqual(await init.exited, 0, init.lines.join("\n"))
    const path = `${home.path}/ct-agent.yaml`
    const text = await readFile(path, "utf8")
    assert.strictEqual(
      text.split("\n")[0],
      "# yaml-language-server: $schema=https://portal.example.org/schemas/ct-agent.json"
    )
    assert.strictEqual((await stat(path)).mode & 0o777, 0o600)
    await using check = runAgent(home, {}, ["check", "ct-agent.yaml"])
    assert.strictEqual(await check.exited, 0, check.lines.join("\n"))
    assert.strictEqual(check.stdout(), "hello  -  127.0.0.1:3000\n")
    await using again = runAgent(home, {}, args, "n\n")
    assert.strictEqual(await again.exited, 3)
    assert.strictEqual(await readFile(path, "utf8"), text)
  })

  it("has a service definition, with the folder that the agent writes to", async () => {
    await using home = await makeHome()
    await writeFile(`${home.path}/ct-agent.yaml`, `${head}state_dir: state\nservices: { a: { to: 1 }, b: { to: 2 } }`)
    const args = ["service", "--config", "ct-agent.yaml", "--for", "systemd"]
    await using agent = runAgent(home, {}, args)
    assert.strictEqual(await agent.exited, 0, agent.lines.join("\n"))
    assert.include(agent.stdout(), "Description=Catenet agent of 2 services\n")
    assert.match(agent.stdout(), /^ExecStart=.* "?--config"? "?\S+\/ct-agent\.yaml"?$/mu)
    assert.match(agent.stdout(), /^ReadWritePaths="?-\S+\/state"?$/mu)
  })

  it("with secrets that others can read is warned about, and without a login starts nothing", async () => {
    await using home = await makeHome()
    const path = `${home.path}/ct-agent.yaml`
    await writeFile(path, `${head}services: { a: { to: 1, host: a.example, token: ${"ab".repeat(32)} } }`)
    await chmod(path, 0o644)
    await using check = runAgent(home, {}, ["check", "ct-agent.yaml"])
    assert.strictEqual(await check.exited, 0)
    assert.include(check.lines.join("\n"), "chmod 600 ct-agent.yaml")
    await writeFile(path, `${head}services: { a: { to: 1 } }`)
    await using agent = runAgent(home, {}, ["--config", "ct-agent.yaml"])
    assert.strictEqual(await agent.exited, 3)
    assert.include(agent.lines.join("\n"), "The bearer token is missing")
    await using reload = runAgent(home, {}, ["reload", "--config", "ct-agent.yaml"])
    assert.strictEqual(await reload.exited, 5)
    assert.include(reload.lines.join("\n"), "No ct-agent serves ct-agent.yaml")
  })
})
