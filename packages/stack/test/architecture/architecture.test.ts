import { existsSync, globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { importsOf, root, sourceFiles, targetOf, withoutComments } from "./Imports.ts"

/** Who may import whom: the table of the design, `node:` built-ins apart. */
const allowed: Readonly<Record<string, ReadonlyArray<string>>> = {
  platform: ["effect", "@effect/platform-node"],
  domain: ["effect"],
  crypto: ["effect", "@noble/"],
  wire: ["effect", "@catenet/platform", "@catenet/crypto"],
  server: [
    "effect",
    "@effect/",
    "@catenet/platform",
    "@catenet/domain",
    "@catenet/crypto",
    "jose",
    "nodemailer",
    "openid-client",
    "tldts"
  ],
  proxy: ["effect", "@catenet/platform", "@catenet/domain", "@catenet/wire"],
  edge: [
    "effect",
    "@effect/",
    "@catenet/platform",
    "@catenet/domain",
    "@catenet/crypto",
    "@catenet/wire",
    "@catenet/proxy"
  ],
  agent: [
    "effect",
    "@effect/",
    "@catenet/platform",
    "@catenet/domain",
    "@catenet/crypto",
    "@catenet/wire",
    "@catenet/proxy",
    "jose",
    "qr",
    "yaml"
  ],
  idp: ["@catenet/platform", "@catenet/domain", "oidc-provider", "openid-client", "jose"],
  stack: ["effect", "@effect/", "@catenet/", "jose", "yaml"]
}

/** Built-in modules of Node where the table forbids I/O, with the file that is the exception. */
const builtIns: Readonly<Record<string, ReadonlyArray<string>>> = {
  domain: [],
  crypto: [
    "packages/crypto/src/native.ts",
    // ECDSA P-256 and its key formats are the runtime's.
    "packages/crypto/src/x509/Certificate.ts",
    "packages/crypto/src/x509/CertificateRequest.ts",
    "packages/crypto/src/x509/Der.ts"
  ]
}

/**
 * Where the environment and a program's terminal are touched without a service, and timers by what moves bytes. The lint rule of
 * seams (`tools/lint/conventions.mjs`) holds clocks, timers and random bytes everywhere else.
 */
const ambient = new Set([
  "packages/agent/src/channel/serve/HandlerEnvironment.ts",
  "packages/agent/src/certificate/ReloadCommand.ts",
  "packages/agent/src/terminal/LineWrap.ts",
  "packages/agent/src/update/TrialRole.ts",
  "packages/wire/src/quic/process/QuicProcessLaunch.ts",
  // Scripts of pages, which run in browsers.
  "packages/agent/src/inspect/PageAssets.ts",
  "packages/server/src/portal/invite/InviteScript.generated.ts",
  "packages/server/src/portal/invite/InviteScript.ts",
  "packages/server/src/portal/pages/topology/EditorScript.ts",
  "packages/server/src/portal/receipts/VerifierScript.generated.ts",
  "packages/server/src/portal/shell/Script.ts",
  "packages/server/src/store/Backup.ts",
  "packages/stack/src/supervisor/ChildProcesses.ts",
  "packages/stack/src/supervisor/ParentWatch.ts",
  "packages/wire/src/transport/EdgeSlot.ts",
  "packages/wire/src/transport/FrameReader.ts",
  "packages/wire/src/transport/FramedStream.ts",
  "packages/wire/src/transport/HelloPeek.ts",
  "packages/wire/src/transport/Http2Stream.ts",
  "packages/wire/src/transport/LateBody.ts",
  "packages/wire/src/transport/Mux.ts",
  "packages/wire/src/transport/MuxSender.ts",
  "packages/wire/src/transport/SessionTimers.ts",
  "packages/wire/src/transport/Splice.ts",
  "packages/wire/src/transport/WebSocketStream.ts",
  "packages/platform/src/Scheduler.ts"
])
const touchesAmbient =
  /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bprocess\.env\b|(?<![.\w])set(?:Timeout|Interval)\(|\bconsole\./

/** Makers of a `Config` that reads. Variables are declared with `@catenet/platform`, so that guides, help and errors know them. */
const readsConfiguration =
  /\bConfig\.(?:schema|String|NonEmptyString|Number|Finite|Int|Literals?|Array|Record|Boolean|Duration|ByteSize|Port|LogLevel|Redacted|URL|Date)\(/

/**
 * Where HTTP clients are made. Each follows no redirect and bounds what it reads; everything else goes through one of them, so
 * that no secret goes to an address that is not configured. The proxy's speaks to origins, on streams that are opened elsewhere.
 */
const httpClients = new Set([
  // CONNECT to the configured proxy, whose answer has no body.
  "packages/agent/src/carrier/OutgoingProxy.ts",
  // To the authority that is assigned, with roots of its own.
  "packages/agent/src/certificate/AcmeTransport.ts",
  // In the script of a page, which asks the server that it came from.
  "packages/agent/src/inspect/PageAssets.ts",
  "packages/agent/src/onboard/OutgoingHttp.ts",
  // On a socket that leads to the origin already; it reads no body and follows no redirect.
  "packages/agent/src/tunnel/OriginProbe.ts",
  // Of files that are signed, up to 256 MiB, with bounds of its own; it follows no redirect and sends nothing secret.
  "packages/agent/src/update/ReleaseCandidate.ts",
  "packages/edge/src/control/ControlPlane.ts",
  "packages/platform/src/Http.ts",
  "packages/platform/src/OutgoingHttp.ts",
  // To addresses that accounts have chosen, public ones alone.
  "packages/platform/src/PublicHttp.ts",
  "packages/proxy/src/http2/Http2Exchange.ts",
  // A script of a page: its policy lets it ask the portal alone.
  "packages/server/src/api/ApiDocs.ts",
  "packages/server/src/http/OutgoingHttp.ts",
  // A script of a page: its policy lets it ask the portal alone.
  "packages/server/src/portal/invite/InviteScript.ts",
  "packages/server/src/portal/pages/topology/EditorScript.ts",
  "packages/server/src/portal/shell/Script.ts",
  "packages/stack/src/platform/PlatformChecks.ts",
  "packages/stack/src/up/Programs.ts"
])
const makesHttpClient =
  /\bFetchHttpClient\b|\bNodeHttpClient\b|(?<![.\w])fetch\(|\bglobalThis\.fetch\b|\bHttp\.(?:fetch|request|secureRequest)\b/

const packages = Object.keys(allowed)
const matches = (specifier: string, entry: string) =>
  entry.endsWith("/") ? specifier.startsWith(entry) : specifier === entry || specifier.startsWith(`${entry}/`)

describe("the packages", () => {
  for (const name of packages)
    it(`${name} imports only what it may`, () => {
      const files = sourceFiles(name)
      assert.isNotEmpty(files)
      for (const file of files)
        for (const { specifier } of importsOf(file)) {
          if (specifier.startsWith(".")) continue
          if (specifier.startsWith("node:")) {
            const exceptions = builtIns[name]
            assert.isTrue(exceptions?.includes(file) ?? true, `${file} imports ${specifier}`)
            continue
          }
          const permitted = [...(allowed[name] ?? []), `@catenet/${name}`]
          assert.isTrue(
            permitted.some((entry) => matches(specifier, entry)),
            `${file} imports ${specifier}`
          )
        }
    })

  it("every import names a file that is there, by its own extension", () => {
    for (const file of packages.flatMap(sourceFiles))
      for (const found of importsOf(file)) {
        const target = targetOf(found)
        if (target !== undefined) assert.isTrue(existsSync(join(root, target)), `${file} imports ${found.specifier}`)
      }
  })

  it("have no import cycle", () => {
    const edges = new Map(
      packages
        .flatMap(sourceFiles)
        .map((file) => [file, importsOf(file).flatMap((found) => targetOf(found) ?? [])] as const)
    )
    const finished = new Set<string>()
    const visit = (file: string, path: ReadonlyArray<string>): void => {
      if (finished.has(file)) return
      const start = path.indexOf(file)
      assert.strictEqual(start, -1, `import cycle: ${[...path.slice(Math.max(start, 0)), file].join(" > ")}`)
      for (const next of edges.get(file) ?? []) visit(next, [...path, file])
      finished.add(file)
    }
    for (const file of edges.keys()) visit(file, [])
  })

  it("have no source file of more than 300 lines that a person writes", () => {
    const tooLong = packages
      .flatMap(sourceFiles)
      .filter((file) => !file.endsWith(".generated.ts"))
      .filter((file) => readFileSync(join(root, file), "utf8").split("\n").length > 301)
    assert.deepStrictEqual(tooLong, [])
  })

  it("have no test or benchmark of more than 300 lines that does not say in its head why", () => {
    const tooLong = packages
      .flatMap((name) => globSync(`packages/${name}/{test,bench,mutation}/**/*.ts`, { cwd: root }))
      .map((file) => ({ file, source: readFileSync(join(root, file), "utf8") }))
      .filter(({ source }) => source.split("\n").length > 301)
      .filter(({ source }) => !/^\/\*\*(?:(?!\*\/)[\s\S])*\bOne file, since\b/.test(source))
    assert.deepStrictEqual(
      tooLong.map(({ file }) => file),
      []
    )
  })

  it("take time, randomness and settings from services, except in the named files", () => {
    const touching = packages
      .flatMap(sourceFiles)
      .filter((file) => touchesAmbient.test(withoutComments(readFileSync(join(root, file), "utf8"))))
    assert.deepStrictEqual(
      touching.filter((file) => !ambient.has(file)),
      []
    )
    assert.deepStrictEqual(
      [...ambient].filter((file) => !touching.includes(file)),
      []
    )
  })

  it("read variables through @catenet/platform only", () => {
    const reading = packages
      .filter((name) => name !== "platform")
      .flatMap(sourceFiles)
      .filter((file) => readsConfiguration.test(withoutComments(readFileSync(join(root, file), "utf8"))))
    assert.deepStrictEqual(reading, [])
  })

  it("make HTTP clients in the named files only", () => {
    const making = packages
      .flatMap(sourceFiles)
      .filter((file) => makesHttpClient.test(withoutComments(readFileSync(join(root, file), "utf8"))))
    assert.deepStrictEqual(making.toSorted(), [...httpClients])
  })

  it("set flags of V8 in programs only, never in a library", () => {
    const setting = packages
      .flatMap(sourceFiles)
      .filter((file) => /\bsetFlagsFromString\b/.test(withoutComments(readFileSync(join(root, file), "utf8"))))
    assert.deepStrictEqual(setting.toSorted(), [
      "packages/agent/src/StartupMemory.ts",
      "packages/platform/src/BufferCollector.ts"
    ])
  })

  it("name every folder after what is in it", () => {
    const vague = packages
      .flatMap(sourceFiles)
      .filter((file) => /(?:^|\/)(?:utils?|helpers?|common|misc|index)(?:\.ts|\/)/i.test(file))
    assert.deepStrictEqual(vague, [])
  })
})
