import { hold, row } from "@catenet/testing/server/Contract"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { afterAll, layer } from "@effect/vitest"
import { Layer } from "effect"
import { X509Certificate } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { rootCertificates } from "node:tls"

const folder = mkdtempSync(join(tmpdir(), "catenet-contract-"))
const certificate = join(folder, "ca.der")
writeFileSync(certificate, new X509Certificate(rootCertificates[0] ?? "").raw)
const server = TestServer.layer({ CT_CP_EDGE_CERT_PATH: certificate }).pipe(Layer.provideMerge(TestIssuer.layer))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("status", (it) => {
  it.effect("holds its contract", () =>
    hold(
      "status",
      "anonymous",
      [row("status", 200), row("live", 200), row("ready", 200), row("networkInfo", 200), row("edgeCa", 200)],
      {
        "ready DatabaseUnreachable": "Statuses.test.ts takes the database away",
        "ready NotServing": "Drain.test.ts asks a server that is about to stop",
        "edgeCa EdgeCaNotPublished": "Statuses.test.ts asks before the edge has published its root",
        "edgeCa EdgeCaNotConfigured": "Statuses.test.ts asks for a file that is no certificate"
      }
    )
  )
})
