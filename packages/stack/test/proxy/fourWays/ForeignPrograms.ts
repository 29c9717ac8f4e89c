/** Origins of other makers: how each is started, on a port without TLS, one with TLS, and one that closes idle connections soon. */
import { mintPair } from "@catenet/testing/edge/TestEdge"
import * as Daemon from "@catenet/testing/server/Daemon"
import { temporaryRoot } from "@catenet/testing/TemporaryRoot"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { freePort } from "../../../src/Ports.ts"
import { skipped } from "../../interop/GoPrograms.ts"

/** The certificate of all of them. */
export const pair = mintPair(["localhost"])

export interface Ports {
  readonly plain: number
  readonly tls: number
  /** Closes connections that were idle for 0.3 s. */
  readonly brisk: number
}

interface Setting extends Ports {
  readonly folder: string
  readonly cert: string
  readonly key: string
  /** 200,000 bytes that never change. */
  readonly file: string
}

/** What a program does that not all of them do. */
export type Ability = "files" | "hints" | "refuses uploads" | "streams" | "trailers"

export interface Program {
  readonly isThere: boolean
  readonly abilities: ReadonlyArray<Ability>
  /** Of HTTP, where TLS lets it choose. */
  readonly tlsVersion: "1.1" | "2.0"
  readonly start: (setting: Setting) => Omit<Daemon.Daemon, "folder" | "endedBy">
}

const runs = (program: string, ...args: ReadonlyArray<string>) => spawnSync(program, args).status === 0

/** Ten fields, longer than 16 KiB together. */
const tall = (line: (name: string, value: string) => string) =>
  Array.from({ length: 10 }, (_, index) => line(`X-Tall-${index}`, "t".repeat(4_000))).join("\n")

const nginx = ({ brisk, cert, file, folder, key, plain, tls }: Setting) => {
  writeFileSync(
    join(folder, "pages.conf"),
    `if_modified_since before;
     absolute_redirect off;
     location / { return 200 "ok"; }
     location /seen { return 200 "$host $server_protocol $http_x_forwarded_for"; }
     location /tall { ${tall((name, value) => `add_header ${name} "${value}";`)} return 200 "ok"; }
     location /cookies { add_header Set-Cookie "a=1; Path=/"; add_header Set-Cookie "b=2"; return 200 "ok"; }
     location /none { return 204; }
     location /moved { return 302 /elsewhere; }
     location /missing { return 404; }
     location = /file { alias ${file}; }`
  )
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; pid ${folder}/pid; error_log stderr notice; events {}
     http { access_log off; ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")}
       server { listen 127.0.0.1:${plain}; listen 127.0.0.1:${tls} ssl http2;
         ssl_certificate ${cert}; ssl_certificate_key ${key}; include ${folder}/pages.conf; }
       server { listen 127.0.0.1:${brisk}; keepalive_timeout 300ms; client_max_body_size 1k;
         include ${folder}/pages.conf; } }`
  )
  return {
    program: "/usr/sbin/nginx",
    args: ["-p", folder, "-c", join(folder, "nginx.conf")],
    isReady: (line: string) => line.includes("start worker processes")
  }
}

const caddy = ({ brisk, cert, folder, key, plain, tls }: Setting) => {
  writeFileSync(
    join(folder, "Caddyfile"),
    `{
  admin off
  auto_https off
  default_bind 127.0.0.1
  servers :${brisk} {
    timeouts {
      idle 300ms
    }
  }
}
(pages) {
  ${tall((name, value) => `header /tall ${name} ${value}`)}
  header /cookies Set-Cookie "a=1; Path=/"
  header /cookies +Set-Cookie b=2
  redir /moved /elsewhere
  respond /seen "{host} {http.request.proto} {header.x-forwarded-for}"
  respond /none 204
  respond /missing 404
  handle /file {
    root * ${folder}
    file_server
  }
  respond ok
}
http://:${plain}, http://:${brisk} {
  import pages
}
https://:${tls} {
  tls ${cert} ${key}
  import pages
}
`
  )
  return {
    program: "caddy",
    args: ["run", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")],
    options: { env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder } },
    isReady: (line: string) => line.includes("serving initial configuration")
  }
}

const here = import.meta.dirname

const go = ({ brisk, cert, file, folder, key, plain, tls }: Setting) => {
  const binary = join(folder, "origin")
  const env = { ...process.env, CGO_ENABLED: "0", GOTOOLCHAIN: "local", GO111MODULE: "off" }
  spawnSync("go", ["build", "-o", binary, join(here, "origin.go")], { env })
  return {
    program: binary,
    args: [`${plain}`, `${tls}`, `${brisk}`, cert, key, file],
    isReady: (line: string) => line === "ready"
  }
}

const script =
  (program: string, name: string) =>
  ({ brisk, cert, key, plain, tls }: Setting) => ({
    program,
    args: [join(here, name), `${plain}`, `${tls}`, `${brisk}`, cert, key],
    isReady: (line: string) => line === "ready"
  })

const hypercorn = ({ cert, key, plain, tls }: Setting) => ({
  program: "hypercorn",
  args: [
    "--bind",
    `127.0.0.1:${tls}`,
    "--insecure-bind",
    `127.0.0.1:${plain}`,
    "--certfile",
    cert,
    "--keyfile",
    key,
    join(here, "asgiOrigin.py:app")
  ],
  isReady: (line: string) => line.includes(`Running on http://127.0.0.1:${plain}`)
})

const programs: Readonly<Record<string, Program>> = {
  nginx: {
    isThere: runs("/usr/sbin/nginx", "-v"),
    abilities: ["files", "refuses uploads"],
    tlsVersion: "2.0",
    start: nginx
  },
  caddy: { isThere: runs("caddy", "version"), abilities: ["files"], tlsVersion: "2.0", start: caddy },
  go: {
    isThere: runs("go", "version"),
    abilities: ["files", "hints", "refuses uploads", "streams", "trailers"],
    tlsVersion: "2.0",
    start: go
  },
  node: {
    isThere: true,
    abilities: ["hints", "refuses uploads", "streams", "trailers"],
    tlsVersion: "2.0",
    start: script(process.execPath, "nodeOrigin.ts")
  },
  python: {
    isThere: runs("python3", "--version"),
    abilities: ["refuses uploads"],
    tlsVersion: "1.1",
    start: script("python3", "origin.py")
  },
  hypercorn: {
    isThere: runs("hypercorn", "--help"),
    abilities: ["streams"],
    tlsVersion: "2.0",
    start: hypercorn
  }
}

export interface Running extends Ports, Pick<Program, "abilities" | "tlsVersion"> {
  readonly name: string
}

/** Each that is on this machine; it is said of the others that they are not. */
export const startAll = Effect.gen(function* () {
  const running: Array<Running> = []
  for (const [name, { abilities, isThere, start, tlsVersion }] of Object.entries(programs)) {
    if (!isThere) {
      skipped(`${name} as an origin`, `there is no \`${name}\` on PATH`)
      continue
    }
    const folder = mkdtempSync(join(temporaryRoot(), "catenet-origin-"))
    // Workers of nginx are of another user.
    chmodSync(folder, 0o755)
    const kept = (file: string, contents: string) => {
      writeFileSync(join(folder, file), contents)
      return join(folder, file)
    }
    const ports = {
      plain: yield* freePort("127.0.0.1"),
      tls: yield* freePort("127.0.0.1"),
      brisk: yield* freePort("127.0.0.1")
    }
    const setting = {
      ...ports,
      folder,
      cert: kept("cert.pem", pair.cert),
      key: kept("key.pem", pair.key),
      file: kept("file", "0123456789".repeat(20_000))
    }
    yield* Daemon.start({ ...start(setting), folder, endedBy: "SIGTERM" })
    running.push({ name, abilities, tlsVersion, ...ports })
  }
  return running
})
