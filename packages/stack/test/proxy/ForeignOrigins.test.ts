/**
 * curl as a visitor over HTTP/1.1 and HTTP/2, nginx, Go's net/http and Python's http.server as origins, at both tiers: idle
 * connections that the origin closes, uploads that it refuses early, and heads above 16 KiB.
 */
import { temporaryFolder } from "@catenet/testing/edge/TestEdge"
import * as Daemon from "@catenet/testing/server/Daemon"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../../src/Ports.ts"
import { skipped } from "../interop/GoPrograms.ts"
import * as BothTiers from "./BothTiers.ts"

const runs = (program: string, ...args: ReadonlyArray<string>) => spawnSync(program, args).status === 0

const hasCurl = spawnSync("curl", ["--version"]).stdout?.toString().includes("HTTP2") === true
if (!hasCurl) skipped("origins of other makers", "there is no `curl` that speaks HTTP/2 (package curl)")

const nginx = ["nginx", "/usr/sbin/nginx"].find((path) => runs(path, "-v"))

const nginxConfiguration = (port: number, folder: string) => `
daemon off;
pid ${folder}/pid;
error_log stderr notice;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  keepalive_timeout 300ms;
  client_max_body_size 1k;
  server {
    listen 127.0.0.1:${port};
    location /tall {
${Array.from({ length: 10 }, (_, index) => `      add_header X-Tall-${index} "${"t".repeat(4_000)}";`).join("\n")}
      return 200 "ok";
    }
    location / { return 200 "ok"; }
  }
}
`

/** How each program is started on the port, in a folder of its own; nothing where it is missing. */
const programs: Readonly<
  Record<string, ((port: number, folder: string) => Omit<Daemon.Daemon, "folder" | "endedBy">) | undefined>
> = {
  nginx:
    nginx === undefined
      ? undefined
      : (port, folder) => {
          writeFileSync(join(folder, "nginx.conf"), nginxConfiguration(port, folder))
          return {
            program: nginx,
            args: ["-p", folder, "-c", join(folder, "nginx.conf")],
            isReady: (line) => line.includes("start worker processes")
          }
        },
  go: !runs("go", "version")
    ? undefined
    : (port, folder) => {
        const binary = join(folder, "origin")
        const env = { ...process.env, CGO_ENABLED: "0", GOTOOLCHAIN: "local", GO111MODULE: "off" }
        spawnSync("go", ["build", "-o", binary, join(import.meta.dirname, "foreignOrigin.go")], { env })
        return { program: binary, args: [String(port)], isReady: (line) => line === "ready" }
      },
  python3: !runs("python3", "--version")
    ? undefined
    : (port) => ({
        program: "python3",
        args: [join(import.meta.dirname, "foreignOrigin.py"), String(port)],
        isReady: (line) => line === "ready"
      })
}

const started = Effect.fnUntraced(function* (name: string) {
  const port = yield* freePort("127.0.0.1")
  const folder = mkdtempSync(join(tmpdir(), "catenet-origin-"))
  const made = programs[name]?.(port, folder)
  assert.isDefined(made)
  yield* Daemon.start({ ...made, folder, endedBy: "SIGTERM" })
  return yield* BothTiers.make(port)
})

interface Answered {
  readonly code: number
  readonly out: string
}

/** What curl writes on stdout, and how it exits. */
const curl = (
  tier: BothTiers.Tier,
  file: string,
  version: string,
  paths: ReadonlyArray<string>,
  ...more: Array<string>
) =>
  Effect.callback<Answered>((resume) => {
    const args = ["-sS", `--http${version}`, "--max-time", "100", "--cacert", file, "-H", "Expect:"]
    args.push("--resolve", `${tier.host}:${tier.port}:127.0.0.1`, ...more)
    for (const path of paths) args.push(`https://${tier.host}:${tier.port}${path}`)
    execFile("curl", args, { maxBuffer: 1_000_000 }, (error, out, err) =>
      resume(Effect.succeed({ code: error === null ? 0 : Number(error.code), out: `${out}${err}` }))
    )
  })

const versions = ["1.1", "2"]

describe.skipIf(!hasCurl).concurrent("curl as a visitor, at both tiers (needs `curl`)", () => {
  for (const [name, program] of Object.entries(programs)) {
    if (program === undefined) skipped(`${name} as an origin`, `there is no \`${name}\` on PATH`)
    it.live.skipIf(program === undefined)(
      `is served by ${name} after idle connections are closed, hears of refused uploads and reads tall heads`,
      () =>
        Effect.gen(function* () {
          const tiers = yield* started(name)
          const folder = yield* temporaryFolder
          const upload = join(folder, "upload")
          writeFileSync(upload, Buffer.alloc(700_000, 7))
          const check = Effect.fnUntraced(function* (tier: BothTiers.Tier, version: string) {
            const where = `${name}, ${tier.name}, HTTP/${version}`
            const ca = join(folder, `${tier.name}.pem`)
            writeFileSync(ca, tier.ca)
            const status = ["-o", "/dev/null", "-w", "%{http_code} "]
            for (let round = 0; round < 3; round++) {
              const refused = yield* curl(tier, ca, version, ["/"], "--data-binary", `@${upload}`, ...status)
              assert.deepStrictEqual(refused, { code: 0, out: "413 " }, where)
            }
            const tall = yield* curl(tier, ca, version, ["/tall"], "-D", "-")
            assert.strictEqual(tall.code, 0, where)
            assert.lengthOf(tall.out.match(/x-tall-\d: t{4000}\r\n/gi) ?? [], 10, where)
            // A request a second, on one connection.
            const idle = ["--rate", "60/m", "-o", "/dev/null", "-o", "/dev/null"]
            const paced = yield* curl(tier, ca, version, ["/", "/", "/"], ...idle, ...status)
            assert.deepStrictEqual(paced, { code: 0, out: "200 200 200 " }, where)
          })
          const checks = tiers.flatMap((tier) => versions.map((version) => check(tier, version)))
          yield* Effect.all(checks, { concurrency: "unbounded" })
        }).pipe(Effect.scoped)
    )
  }
})
