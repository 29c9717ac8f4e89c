/** HAProxy reads the PROXY headers that are written here, and those that it writes are read here. */
import { start } from "@catenet/idp/IdentityProvider"
import { trusts } from "@catenet/platform/ForwardedChain"
import { encodeProxyHeader } from "@catenet/platform/ProxyProtocol"
import * as ProxiedConnections from "@catenet/server/internal/http/ProxiedConnections"
import * as Daemon from "@catenet/testing/server/Daemon"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { freePort } from "../../src/Ports.ts"
import { skipped } from "./GoPrograms.ts"

const program = ["haproxy", "/usr/sbin/haproxy"].find((path) => spawnSync(path, ["-v"]).status === 0)
if (program === undefined) skipped("PROXY headers beside HAProxy's", "there is no `haproxy` (package haproxy)")

const defaults = "timeout connect 5s\n  timeout client 5s\n  timeout server 5s"

/** HAProxy with these sections, until the scope closes. */
const haproxy = Effect.fnUntraced(function* (sections: string) {
  const folder = mkdtempSync(join(tmpdir(), "catenet-haproxy-"))
  const file = join(folder, "haproxy.cfg")
  writeFileSync(file, `defaults\n  ${defaults}\n${sections}`)
  yield* Daemon.start({
    program: program ?? "haproxy",
    args: ["-W", "-db", "-f", file],
    folder,
    isReady: (line) => line.includes("Loading success"),
    endedBy: "SIGINT"
  })
})

/** All that comes back for these bytes. */
const answered = (port: number, ...said: ReadonlyArray<string | Uint8Array>) =>
  Effect.promise(() => {
    const socket = connect(port, "127.0.0.1")
    for (const each of said) socket.write(each)
    return text(socket)
  })

describe.skipIf(program === undefined)("the PROXY protocol beside HAProxy (needs `haproxy`)", () => {
  it.live("headers of both families are read by it as they were meant", () =>
    Effect.gen(function* () {
      const port = yield* freePort("127.0.0.1")
      yield* haproxy(`frontend reads
  mode http
  bind 127.0.0.1:${port} accept-proxy
  http-request return status 200 content-type text/plain lf-string "%[src] %[src_port] %[fc_pp_authority]"
`)
      for (const address of ["198.51.100.7", "2001:db8::7"]) {
        const header = encodeProxyHeader({ source: { address, port: 4711 }, authority: "hello.example" })
        const said = yield* answered(port, header, "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        assert.match(said, new RegExp(`\\r\\n\\r\\n${address} 4711 hello.example$`))
      }
    }).pipe(Effect.scoped)
  )

  it.live("its own are read here, and those of its health checks name no client", () =>
    Effect.gen(function* () {
      const seen: Array<string | undefined> = []
      const folder = mkdtempSync(join(tmpdir(), "catenet-idp-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
      const idp = yield* Effect.acquireRelease(
        Effect.promise(() =>
          start({
            realm: "r",
            host: "127.0.0.1",
            port: 0,
            folder,
            audience: "a",
            clients: [],
            users: [],
            prepare: (server) => {
              ProxiedConnections.accept(server, trusts(["127.0.0.0/8"]))
              server.on("request", ({ socket }) => seen.push(socket.remoteAddress))
            }
          })
        ),
        (running) => Effect.promise(() => running.close())
      )
      const [outer, inner] = [yield* freePort("127.0.0.1"), yield* freePort("127.0.0.1")]
      yield* haproxy(`listen outer
  mode tcp
  bind 127.0.0.1:${outer} accept-proxy
  server inner 127.0.0.1:${inner} send-proxy-v2
listen inner
  mode tcp
  bind 127.0.0.1:${inner} accept-proxy
  server idp 127.0.0.1:${idp.port} send-proxy-v2 check inter 100ms
`)
      const request = "GET /realms/r/.well-known/openid-configuration HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
      for (const address of ["198.51.100.7", "2001:db8::7"]) {
        const header = encodeProxyHeader({ source: { address, port: 4711 } })
        assert.match(yield* answered(outer, header, request), /^HTTP\/1\.1 200 /)
      }
      assert.deepStrictEqual(seen, ["198.51.100.7", "2001:db8::7"])
    }).pipe(Effect.scoped)
  )
})
