/**
 * The variables of an agent that serves, each on both sides of its rule.
 * One file, since it is one table, with a row for each variable.
 */
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { homedir } from "node:os"
import { formatOrigin } from "../../src/settings/OriginAddress.ts"
import type { Settings } from "../../src/settings/Settings.ts"
import { agent as variables } from "../../src/settings/Variables.ts"
import { parse } from "../harness/Settings.ts"

type Raw = Readonly<Record<string, string>>
type Variable = string

const browser: Raw = {
  CT_AGENT_CP_URL: "https://portal.example.org/",
  CT_AGENT_MODE: "browser",
  CT_AGENT_HOSTNAME: "hello.example.org"
}
const mcp: Raw = { ...browser, CT_AGENT_ORIGIN: "mcp:npx server" }
const mesh: Raw = { CT_AGENT_CP_URL: "https://portal.example.org" }

const accepted = (raw: Raw): Settings => {
  const parsed = parse(raw)
  if (Result.isFailure(parsed)) throw new Error(parsed.failure.join("\n"))
  return parsed.success
}

interface Rule {
  readonly name: Variable
  readonly base?: Raw
  readonly good: ReadonlyArray<readonly [string, unknown]>
  readonly bad: ReadonlyArray<string>
  readonly read: (settings: Settings) => unknown
}

const hex = "Ab".repeat(32)
const reveal = (secret: Redacted.Redacted | undefined) => (secret === undefined ? undefined : Redacted.value(secret))

const flag = (name: Variable, read: Rule["read"]): Rule => ({
  name,
  good: [
    ["", false],
    [" ", false],
    ["0", false],
    ["FALSE", false],
    ["1", true],
    ["yes", true],
    ["off", true]
  ],
  bad: [],
  read
})

/** Any text, trimmed; blank is unset. */
const path = (name: Variable, unset: string | undefined, read: Rule["read"], base?: Raw): Rule => ({
  name,
  ...(base === undefined ? {} : { base }),
  good: [
    [" /a/b ", "/a/b"],
    [" ", unset]
  ],
  bad: [],
  read
})

const terminating: Raw = { ...browser, CT_AGENT_ORIGIN_TLS: "terminate", CT_ACME_CERT_OUT_DIR: "/certs" }
const customCa: Raw = { ...terminating, CT_ACME_DIRECTORY_URL: "https://ca.house.example/d" }

const rules: ReadonlyArray<Rule> = [
  {
    name: "CT_AGENT_CP_URL",
    good: [
      ["http://127.0.0.1:8090", "http://127.0.0.1:8090"],
      [" https://portal.example.org// ", "https://portal.example.org"]
    ],
    bad: ["portal.example.org", "ftp://portal.example.org", "https://portal.example.org/?a=b", "", " "],
    read: (settings) => settings.controlPlane
  },
  {
    name: "CT_AGENT_JOIN_TOKEN",
    good: [[` ${hex} `, hex.toLowerCase()]],
    bad: ["ab".repeat(31), `${"ab".repeat(31)}zz`, "ü".repeat(64), `+f${"ab".repeat(31)}`],
    read: (settings) => reveal(settings.joinToken)
  },
  {
    name: "CT_AGENT_TOKEN",
    good: [
      [hex, hex.toLowerCase()],
      ["", undefined]
    ],
    bad: ["token"],
    read: (settings) => reveal(settings.token)
  },
  {
    name: "CT_AGENT_HOSTNAME",
    good: [[" Hello.Example.ORG. ", "hello.example.org"]],
    bad: ["https://hello.example.org", "hello_world.example", "-a.example", ""],
    read: (settings) => settings.hostname
  },
  {
    name: "CT_AGENT_ORIGIN",
    good: [
      ["localhost:80", "localhost:80"],
      ["[::1]:8080", "[::1]:8080"],
      ["https://app.internal", "https://app.internal:443"],
      ["unix:/run/app.sock", "unix:/run/app.sock"],
      ["file:public", "file:public"],
      ["mcp: npx -y server 'a b'", "mcp:npx -y server 'a b'"],
      ["", "127.0.0.1:8080"]
    ],
    bad: [
      "8080",
      "localhost",
      "localhost:0",
      "localhost:65536",
      "::1:80",
      "http://localhost:0",
      "ftp://localhost:80",
      "https://localhost/path",
      "unix:run/app.sock",
      "mcp: ",
      "[localhost]:80",
      "a b:80"
    ],
    read: ({ origin }) => formatOrigin(origin.place)
  },
  {
    name: "CT_AGENT_ORIGIN_CA",
    base: { ...browser, CT_AGENT_ORIGIN: "https://app.internal" },
    good: [[" /etc/ca.pem ", "/etc/ca.pem"]],
    bad: [],
    read: ({ origin }) => origin.ca
  },
  {
    name: "CT_AGENT_ORIGIN_INSECURE",
    base: { ...browser, CT_AGENT_ORIGIN: "https://app.internal" },
    good: [
      ["", false],
      ["true", true]
    ],
    bad: ["yes"],
    read: ({ origin }) => origin.insecure
  },
  {
    name: "CT_AGENT_ORIGIN_LISTING",
    base: { ...browser, CT_AGENT_ORIGIN: "file:public" },
    good: [
      ["0", false],
      ["1", true]
    ],
    bad: ["yes"],
    read: ({ origin }) => origin.listing
  },
  {
    name: "CT_AGENT_MCP_ADDRESS",
    base: mcp,
    good: [
      ["", "https://hello.example.org/"],
      ["https://a.example.org:8443", "https://a.example.org:8443/"],
      ["https://a.example.org/", "https://a.example.org/"]
    ],
    bad: ["a.example.org", "http://a.example.org/", "https://a.example.org/path"],
    read: ({ origin }) => origin.mcp?.address
  },
  ...(["PUBLIC", "SHARE"] as const).map((name) => ({
    name: `CT_AGENT_MCP_${name}`,
    base: mcp,
    good: [
      ["", false],
      ["0", false],
      ["1", true]
    ] as const,
    bad: ["yes"],
    read: ({ origin }: Settings) => (name === "PUBLIC" ? origin.mcp?.isPublic : origin.mcp?.isShared)
  })),
  {
    name: "CT_AGENT_MCP_TOOLS",
    base: mcp,
    good: [
      ["", {}],
      [" Bob@Example.org = read_* , list ;*=search", { "bob@example.org": ["read_*", "list"], "*": ["search"] }]
    ],
    bad: ["read_*", "bob=", "=read", "bob=a b"],
    read: ({ origin }) => Object.fromEntries(origin.mcp?.tools ?? [])
  },
  {
    name: "CT_AGENT_MCP_ENV",
    base: mcp,
    good: [
      ["", []],
      ["API_TOKEN, OTHER", ["API_TOKEN", "OTHER"]]
    ],
    bad: ["A=b", "1A", "A,,B"],
    read: ({ origin }) => origin.mcp?.passes
  },
  {
    name: "CT_AGENT_MCP_ALLOW_ORIGIN",
    base: mcp,
    good: [
      ["", []],
      ["*", ["*"]],
      ["https://a.test,http://b.test:81", ["https://a.test", "http://b.test:81"]]
    ],
    bad: ["a.test", "https://a.test/", "https://a.test/x"],
    read: ({ origin }) => origin.mcp?.origins
  },
  {
    name: "CT_AGENT_MCP_SCOPES",
    base: mcp,
    good: [
      ["", []],
      ["mcp-tools, urn:mcp:tools", ["mcp-tools", "urn:mcp:tools"]]
    ],
    bad: ["two words", 'a"b', "a\\b"],
    read: ({ origin }) => origin.mcp?.scopes
  },
  {
    name: "CT_AGENT_ORIGIN_HOST_HEADER",
    base: browser,
    good: [
      ["", "keep"],
      ["origin", "origin"],
      ["app.internal:8080", "app.internal:8080"]
    ],
    bad: ["https://app.internal", "a b", "-"],
    read: ({ origin }) => origin.hostHeader
  },
  {
    name: "CT_AGENT_ORIGIN_PROTO",
    base: mesh,
    good: [
      ["TCP", "tcp"],
      [" udp ", "udp"]
    ],
    bad: ["http", ""],
    read: ({ origin }) => origin.protocol
  },
  {
    name: "CT_AGENT_ORIGIN_TLS",
    base: { ...browser, CT_ACME_CERT_OUT_DIR: "/certs/" },
    good: [
      ["passthrough", undefined],
      ["", undefined],
      ["Terminate", { certificate: "/certs/fullchain.pem", key: "/certs/privkey.pem", isAwaited: true }]
    ],
    bad: ["on", "1"],
    read: ({ origin }) => origin.terminate
  },
  {
    name: "CT_AGENT_MODE",
    good: [
      ["Browser", "browser"],
      ["", "mesh"]
    ],
    bad: ["brwoser"],
    read: ({ mode }) => mode
  },
  flag("CT_AGENT_FALLBACK_443", (settings) => settings.fallback443),
  flag("CT_AGENT_REGISTER_TCP_ONLY", ({ transports }) => transports.join() === "slots"),
  {
    name: "CT_AGENT_TRANSPORTS",
    base: browser,
    good: [
      ["", "mux,quic,slots"],
      ["quic", "quic"],
      ["quic, mux", "quic,mux"],
      ["slots,quic,mux", "slots,quic,mux"]
    ],
    bad: ["tcp", "quic,quic", "quic,", "QUIC", "mux quic"],
    read: ({ transports }) => transports.join()
  },
  flag("CT_AGENT_FRAMED_FALLBACK", (settings) => settings.framed),
  {
    name: "CT_AGENT_DIRECT_PORT",
    base: mesh,
    good: [
      ["", 0],
      ["0", 0],
      ["1", 1],
      ["65535", 65_535]
    ],
    bad: ["65536", "-1", "http"],
    read: ({ directPort }) => directPort
  },
  {
    name: "CT_AGENT_TCP_FALLBACK_POOL_SIZE",
    good: [
      ["1", 1],
      ["", 6],
      ["65535", 65_535]
    ],
    bad: ["0", "65536", "-1", "six", "1.5"],
    read: ({ poolSize }) => poolSize
  },
  {
    name: "CT_AGENT_TCP_FALLBACK_MAX_SERVING",
    good: [
      ["1", 1],
      ["", 32],
      ["65535", 65_535]
    ],
    bad: ["0", "65536", "many"],
    read: ({ maxServing }) => maxServing
  },
  {
    name: "CT_AGENT_RECONNECT_MAX_ATTEMPTS",
    good: [
      ["1", 1],
      ["0", undefined],
      ["", undefined],
      ["many", undefined],
      ["-1", undefined],
      ["4294967295", 4_294_967_295],
      ["4294967296", undefined]
    ],
    bad: [],
    read: ({ reconnect }) => reconnect.maxAttempts
  },
  {
    name: "CT_AGENT_RECONNECT_BASE_MS",
    good: [
      ["99", 100],
      ["100", 100],
      ["101", 101],
      ["x", 500]
    ],
    bad: [],
    read: ({ reconnect }) => reconnect.baseMillis
  },
  {
    name: "CT_AGENT_RECONNECT_MAX_MS",
    good: [
      ["499", 500],
      ["500", 500],
      ["501", 501],
      ["x", 30_000]
    ],
    bad: [],
    read: ({ reconnect }) => reconnect.maxMillis
  },
  {
    name: "CT_BOOTSTRAP",
    good: [
      [" anything ", "anything"],
      ["", undefined]
    ],
    bad: [],
    read: ({ bootstrap }) => reveal(bootstrap)
  },
  path("CT_AGENT_TLS_CERT", "/certs/fullchain.pem", ({ origin }) => origin.terminate?.certificate, terminating),
  {
    name: "CT_ACME_ACCOUNT_KEY_PATH",
    base: terminating,
    read: ({ certificate }) => certificate?.accountKey,
    good: [["/files/a", "/files/a"]],
    bad: []
  },
  {
    name: "CT_ACME_CA_FILE",
    base: terminating,
    read: ({ certificate }) => certificate?.authorityRoots,
    good: [["/files/a", "/files/a"]],
    bad: []
  },
  {
    name: "CT_ACME_DIRECTORY_URL",
    base: terminating,
    read: ({ certificate }) => certificate?.authority?.directory,
    good: [["https://ca.house.example/acme/d?tenant=1", "https://ca.house.example/acme/d?tenant=1"]],
    bad: ["http://ca.house.example/d", "https://a:b@ca.house.example/d", "https://ca.house.example/d#x", "ca.example"]
  },
  {
    name: "CT_ACME_EAB_KID",
    base: { ...customCa, CT_ACME_EAB_HMAC: "c2VjcmV0" },
    read: ({ certificate }) => certificate?.authority?.binding?.kid,
    good: [["kid-1", "kid-1"]],
    bad: []
  },
  {
    name: "CT_ACME_EAB_HMAC",
    base: { ...customCa, CT_ACME_EAB_KID: "kid-1" },
    read: ({ certificate }) => reveal(certificate?.authority?.binding?.hmac),
    good: [["c2VjcmV0", "c2VjcmV0"]],
    bad: ["not base64url!", "a+b/", "c2VjcmV0c", "YR", "c2VjcmV0==="]
  },
  {
    name: "CT_ACME_RELOAD_CMD",
    base: terminating,
    read: ({ certificate }) => certificate?.reload,
    good: [["systemctl reload nginx", "systemctl reload nginx"]],
    bad: []
  },
  path("CT_AGENT_TLS_KEY", "/certs/privkey.pem", ({ origin }) => origin.terminate?.key, terminating),
  path("CT_AGENT_STATE_DIR", ".ct-agent-state", ({ stateDir }) => stateDir),
  path("CT_AGENT_LOGIN_TOKEN_FILE", `${homedir()}/.ct-agent/oidc-token.json`, ({ credential }) => credential.stored),
  path("CT_AGENT_CAPABILITY_OUT", "/shared/capability.bin", ({ capabilityOut }) => capabilityOut),
  path("CT_AGENT_ORIGIN_KEY", undefined, ({ originKey }) => originKey),
  path("CT_AGENT_ORIGIN_KEY_DIR", undefined, ({ originKeyDir }) => originKeyDir),
  {
    name: "CT_AGENT_POST_QUANTUM",
    good: [
      ["require", "require"],
      ["Off", "off"],
      ["", "prefer"]
    ],
    bad: ["on", "hybrid"],
    read: ({ postQuantum }) => postQuantum
  },
  path("CT_AGENT_EDGE_CERT", "/shared/edge-cert.der", ({ edgeCertificate }) => edgeCertificate.file),
  {
    name: "CT_AGENT_EDGE_CERT_URL",
    good: [
      ["https://portal.example.org/base/", "https://portal.example.org/base"],
      ["", undefined]
    ],
    bad: ["portal.example.org", "file:///etc/passwd"],
    read: ({ edgeCertificate }) => edgeCertificate.url
  },
  {
    name: "CT_AGENT_DIRECT_ADVERTISE",
    base: mesh,
    good: [
      ["192.0.2.1", "192.0.2.1"],
      ["2001:db8::1", "2001:db8::1"],
      ["", undefined]
    ],
    bad: ["example.org", "192.0.2.1:80"],
    read: ({ directAdvertise }) => directAdvertise
  },
  {
    name: "CT_AGENT_POLICY_MAX_AGE_SECS",
    good: [
      ["60", 60],
      ["", 86_400],
      ["31536000", 31_536_000]
    ],
    bad: ["59", "31536001", "a day"],
    read: ({ policyMaxAge }) => policyMaxAge
  },
  {
    name: "CT_AGENT_METRICS_LISTEN",
    good: [
      ["127.0.0.1:0", { host: "127.0.0.1", port: 0 }],
      ["localhost:9610", { host: "localhost", port: 9610 }],
      ["", undefined]
    ],
    bad: ["9610", ":9610"],
    read: ({ metricsListen }) => metricsListen
  },
  {
    name: "CT_AGENT_EDGE",
    good: [["edge.example.org:4433", { host: "edge.example.org", port: 4433 }]],
    bad: ["edge.example.org"],
    read: ({ edge }) => edge
  },
  {
    name: "CT_AGENT_EDGE_CERT_WAIT_SECS",
    good: [
      ["0", 0],
      ["30", 30],
      ["soon", undefined]
    ],
    bad: [],
    read: ({ edgeCertificate }) => edgeCertificate.waitSecs
  },
  {
    name: "CT_AGENT_EDGE_CERT_LOG_INTERVAL_SECS",
    good: [
      ["0", 1],
      ["1", 1],
      ["x", 5]
    ],
    bad: [],
    read: ({ edgeCertificate }) => edgeCertificate.logIntervalSecs
  },
  {
    name: "CT_AGENT_ONBOARD_TIMEOUT_SECS",
    good: [
      ["20", 20],
      ["x", undefined]
    ],
    bad: [],
    read: ({ onboardTimeoutSecs }) => onboardTimeoutSecs
  },
  {
    name: "CT_AGENT_ID",
    good: [
      [" pi-4 ", "pi-4"],
      ["", undefined],
      ["x".repeat(128), "x".repeat(128)]
    ],
    bad: ["x".repeat(129), "two\nlines"],
    read: ({ agentId }) => agentId
  },
  {
    name: "CT_AGENT_ORIGIN_PROXY_PROTOCOL",
    good: [
      ["v2", "v2"],
      ["none", "none"]
    ],
    bad: ["v1"],
    read: ({ origin }) => origin.proxyProtocol
  },
  {
    name: "CT_AGENT_TRUSTED_PROXIES",
    base: terminating,
    good: [
      ["192.0.2.1, 10.0.0.0/8,2001:db8::/32", ["192.0.2.1/32", "10.0.0.0/8", "2001:db8::/32"]],
      ["", undefined]
    ],
    bad: ["proxy.example", "10.0.0.0/33", "192.0.2.1:80", ","],
    read: ({ origin }) => origin.trustedProxies
  },
  {
    name: "CT_AGENT_HEALTH_PATH",
    good: [
      ["/", "/"],
      [" /healthz?full=1 ", "/healthz?full=1"],
      [`/${"x".repeat(1023)}`, `/${"x".repeat(1023)}`],
      ["", undefined]
    ],
    bad: ["healthz", "http://other.example/", "/a b", "/a#b", "/a\nHost: x", "/\u00fc", `/${"x".repeat(1024)}`],
    read: ({ origin }) => origin.healthPath
  },
  {
    name: "CT_AGENT_CARD_FILE",
    base: terminating,
    good: [
      ["/srv/card.json", "/srv/card.json"],
      ["", undefined]
    ],
    bad: [],
    read: ({ cardFile }) => cardFile
  },
  {
    name: "CT_AGENT_AUTO_UPDATE",
    good: [
      ["1", true],
      ["TRUE", true],
      ["0", false],
      ["yes", false],
      ["", false]
    ],
    bad: [],
    read: ({ autoUpdate }) => autoUpdate !== undefined
  },
  {
    name: "CT_AGENT_AUTO_UPDATE_INTERVAL_SECS",
    base: { ...browser, CT_AGENT_AUTO_UPDATE: "1" },
    good: [
      ["300", 300],
      ["299", 300],
      ["0", 300],
      ["90000", 90_000],
      ["x", 86_400],
      ["", 86_400]
    ],
    bad: [],
    read: ({ autoUpdate }) => autoUpdate?.intervalSecs
  },
  {
    name: "CT_AGENT_RELEASE_URL",
    base: { ...browser, CT_AGENT_AUTO_UPDATE: "1" },
    good: [
      ["https://releases.example/agent", "https://releases.example/agent"],
      ["", "https://portal.example.org/releases"]
    ],
    bad: ["releases.example", "ftp://releases.example"],
    read: ({ autoUpdate }) => autoUpdate?.source.url
  },
  {
    name: "CT_AGENT_RELEASE_PUBKEY",
    base: { ...browser, CT_AGENT_AUTO_UPDATE: "1" },
    good: [
      ["AB".repeat(32), ["ab".repeat(32)]],
      ["", []]
    ],
    bad: ["ab".repeat(31), "zz".repeat(32), `${"ab".repeat(32)}00`],
    read: ({ autoUpdate }) => autoUpdate?.source.keys
  },
  {
    name: "CT_AGENT_UPDATE_SKIP_VERIFY",
    base: { ...browser, CT_AGENT_AUTO_UPDATE: "1" },
    good: [
      ["1", true],
      ["true", true],
      ["no", false],
      ["", false]
    ],
    bad: [],
    read: ({ autoUpdate }) => autoUpdate?.source.skipChecksum
  },
  {
    name: "CT_AGENT_UPDATE_TRIAL_SECS",
    base: { ...browser, CT_AGENT_AUTO_UPDATE: "1" },
    good: [
      ["1", 1],
      ["3600", 3600],
      ["", 120]
    ],
    bad: ["0", "3601", "1.5", "two"],
    read: ({ autoUpdate }) => autoUpdate?.trialSeconds
  }
]

describe("settings", () => {
  for (const { name, base = browser, good, bad, read } of rules) {
    it(`${name} accepts and refuses as documented`, () => {
      for (const [value, expected] of good)
        assert.deepStrictEqual(read(accepted({ ...base, [name]: value })), expected, JSON.stringify(value))
      for (const value of bad) {
        const parsed = parse({ ...base, [name]: value })
        assert.isTrue(Result.isFailure(parsed), JSON.stringify(value))
        if (Result.isFailure(parsed)) {
          assert.strictEqual(parsed.failure.length, 1)
          assert.match(parsed.failure[0] ?? "", new RegExp(`^${name} .*\\.$`))
        }
      }
    })
  }

  it("are all in the table above", () => {
    // The first is read by the log, before any file; the second is the default of two rows; the next two are the endpoints'.
    const ofTopologyProof = ["CT_CHANNEL_HOLDER_KEY", "CT_TOPOLOGY_ID", "CT_TOPOLOGY_ACCOUNT"]
    const ofEndpoints = ["CT_OIDC_TOKEN", "CT_OIDC_TOKEN_FILE"]
    const ofLogin = ["CT_OIDC_ISSUER", "CT_OIDC_CLI_CLIENT_ID"]
    const ofProxy = ["CT_AGENT_PROXY", "CT_AGENT_PROXY_AUTH"]
    const own = [...ofEndpoints, ...ofLogin, ...ofProxy, ...ofTopologyProof]
    const others = ["CT_AGENT_LOG_FORMAT", "CT_ACME_CERT_OUT_DIR", ...own]
    const names = Object.values(variables).map(({ name }) => name)
    assert.sameMembers([...rules.map(({ name }) => name), ...others], names)
  })

  it("store a login in the folder of the state only where that is named", () => {
    const storedOf = (more: Raw) => accepted({ ...mesh, ...more }).credential.stored
    assert.strictEqual(storedOf({ CT_AGENT_STATE_DIR: "/state" }), "/state/oidc-token.json")
    const both = { CT_AGENT_STATE_DIR: "/state", CT_AGENT_LOGIN_TOKEN_FILE: "/login.json" }
    assert.strictEqual(storedOf(both), "/login.json")
  })

  it("have the contract's defaults", () => {
    assert.include(accepted(mesh), {
      mode: "mesh",
      poolSize: 6,
      fallback443: false,
      capabilityOut: "/shared/capability.bin"
    })
    assert.deepStrictEqual(accepted(mesh).reconnect, { maxAttempts: undefined, baseMillis: 500, maxMillis: 30_000 })
    assert.strictEqual(accepted(mesh).edgeCertificate.file, "/shared/edge-cert.der")
  })

  it("refuse what cannot work together", () => {
    const problems = (raw: Raw) => Result.match(parse(raw), { onSuccess: () => [], onFailure: (all) => all })
    assert.include(problems({ ...browser, CT_AGENT_ORIGIN_PROTO: "udp" }).join(), "CT_AGENT_MODE=browser")
    assert.include(
      problems({ ...mesh, CT_AGENT_ORIGIN_PROTO: "udp", CT_AGENT_HEALTH_PATH: "/" }).join(),
      "CT_AGENT_HEALTH_PATH"
    )
    assert.strictEqual(problems({ ...browser, CT_AGENT_ORIGIN_TLS: "terminate" }).length, 2)
    for (const base of [browser, mesh])
      assert.include(
        problems({ ...base, CT_AGENT_CARD_FILE: "card.json" }).join(),
        "CT_AGENT_CARD_FILE needs CT_AGENT_ORIGIN_TLS=terminate"
      )
    assert.include(
      problems({ ...browser, CT_AGENT_TRUSTED_PROXIES: "192.0.2.1" }).join(),
      "CT_AGENT_TRUSTED_PROXIES needs CT_AGENT_ORIGIN_TLS=terminate"
    )
    assert.include(
      problems({ ...mesh, CT_AGENT_ORIGIN_TLS: "terminate", CT_ACME_CERT_OUT_DIR: "/c" }).join(),
      "CT_AGENT_MODE"
    )
    assert.include(problems({ ...mesh, CT_AGENT_MODE: "browser" }).join(), "CT_AGENT_HOSTNAME")
    assert.include(
      problems({ ...browser, CT_AGENT_TRANSPORTS: "quic", CT_AGENT_REGISTER_TCP_ONLY: "1" }).join(),
      "does not work with CT_AGENT_TRANSPORTS"
    )
    const both = "set both, or neither"
    assert.include(problems({ ...customCa, CT_ACME_EAB_KID: "k" }).join(), both)
    assert.include(problems({ ...customCa, CT_ACME_EAB_HMAC: "c2VjcmV0" }).join(), both)
    assert.include(
      problems({ ...terminating, CT_ACME_EAB_KID: "k", CT_ACME_EAB_HMAC: "c2VjcmV0" }).join(),
      "CT_ACME_DIRECTORY_URL"
    )
  })

  it("warn of what is legal but probably not meant", () => {
    assert.deepStrictEqual(accepted(browser).warnings, [])
    assert.strictEqual(accepted({ ...browser, CT_AGENT_FALLBACK_443: "no" }).warnings.length, 1)
    assert.strictEqual(accepted({ ...mesh, CT_AGENT_HOSTNAME: "hello.example.org" }).warnings.length, 1)
    for (const flag of ["CT_AGENT_REGISTER_TCP_ONLY", "CT_AGENT_FRAMED_FALLBACK"] as const)
      assert.include(accepted({ ...browser, [flag]: "off" }).warnings[0], `${flag}=off means yes`)
    assert.strictEqual(accepted({ ...browser, CT_ACME_DIRECTORY_URL: "https://ca.example/d" }).warnings.length, 1)
    assert.strictEqual(accepted({ ...browser, CT_AGENT_DIRECT_ADVERTISE: "192.0.2.1" }).warnings.length, 1)
    assert.deepStrictEqual(accepted({ ...mesh, CT_AGENT_DIRECT_ADVERTISE: "192.0.2.1" }).warnings, [])
  })
})
