/** BIND with a zone of its own, as a service for a public UDP port. */
import { eventually } from "@catenet/testing/Eventually"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { Resolver } from "node:dns/promises"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { freePort } from "../../src/Ports.ts"

/** BIND with one zone, at a port of its own. */
export const nameServer = Effect.fnUntraced(function* (folder: string) {
  const port = yield* freePort("127.0.0.1")
  const conf = join(folder, "named.conf")
  writeFileSync(
    join(folder, "zone.db"),
    `$TTL 60
@ IN SOA ns root 1 60 60 60 60
@ IN NS ns
ns IN A 192.0.2.1
www IN A 192.0.2.7
long IN TXT "${"x".repeat(200)}" "${"y".repeat(200)}"
`
  )
  writeFileSync(
    conf,
    `options { directory "${folder}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; pid-file none; session-keyfile none; };
controls { };
zone "ports.test" { type primary; file "zone.db"; };
`
  )
  yield* Effect.acquireRelease(
    Effect.sync(() => spawn("named", ["-f", "-c", conf, "-n", "1"], { stdio: "ignore" })),
    (named) => Effect.sync(() => void named.kill("SIGKILL"))
  )
  const resolver = new Resolver({ timeout: 300, tries: 1 })
  resolver.setServers([`127.0.0.1:${port}`])
  yield* Effect.promise(() =>
    eventually(
      () =>
        resolver.resolve4("www.ports.test").then(
          () => true,
          () => false
        ),
      "named answers"
    )
  )
  return port
})
