/** BIND as a name server of one zone that takes signed updates, on loopback, where it is installed (`named` on PATH). */
import { Effect, Redacted } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { spawnSync } from "node:child_process"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as DnsBackend from "../../../../server/src/dns/DnsBackend.ts"
import { freePort } from "../../../../stack/src/Ports.ts"
import * as Daemon from "../Daemon.ts"

export const isInstalled = spawnSync("named", ["-v"]).status === 0
const keyName = "catenet"
const secret = Buffer.alloc(32, 9)

/** Serves `zone.test` until the scope closes. */
export const start = Effect.gen(function* () {
  const folder = mkdtempSync(join(tmpdir(), "catenet-bind-"))
  const port = yield* freePort("127.0.0.1")
  writeFileSync(
    join(folder, "zone"),
    `$TTL 60\n@ IN SOA ns.zone.test. a.zone.test. 1 60 60 60 60\n@ IN NS ns.zone.test.\nns IN A 127.0.0.1\n`
  )
  writeFileSync(
    join(folder, "named.conf"),
    `key "catenet" { algorithm hmac-sha256; secret "${secret.toString("base64")}"; };
options { directory "${folder}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; recursion no;
  pid-file "${folder}/pid"; session-keyfile "${folder}/session"; dnssec-validation no; };
controls { };
zone "zone.test" { type primary; file "zone"; update-policy { grant catenet zonesub TXT A AAAA; }; };`
  )
  yield* Daemon.start({
    program: "named",
    args: ["-g", "-c", join(folder, "named.conf"), "-n", "1"],
    folder,
    // It has also said before that it is "running on Linux".
    isReady: (line) => line.endsWith(" running"),
    endedBy: "SIGTERM"
  })
  const server = { host: "127.0.0.1", port }
  const key = { name: keyName, secret: Redacted.make(Uint8Array.from(secret)) }
  const { set } = yield* DnsBackend.makeRfc2136({ server, zone: "zone.test", key })
  return { ...server, key, set }
}).pipe(Effect.provide(SecureRandom.layerWebCrypto))
