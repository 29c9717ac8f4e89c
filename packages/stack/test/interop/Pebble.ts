/** Pebble, the ACME server that Let's Encrypt wrote for the authors of clients, with its name server, on loopback. */
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { eventually, temporaryFolder } from "@catenet/testing/edge/TestEdge"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { request } from "node:http"
import { request as requestSecurely } from "node:https"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { freePort } from "../../src/Ports.ts"
import { running } from "./Background.ts"
import type { GoPrograms } from "./GoPrograms.ts"

export const programs: GoPrograms = {
  module: "github.com/letsencrypt/pebble/v2",
  version: "v2.10.1",
  commands: ["cmd/pebble", "cmd/pebble-challtestsrv"]
}

/** The external account that every account must be bound to, base64url. */
export const binding = { kid: "kid-1", hmac: "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W" }

/** Starts it; it validates TLS-ALPN-01 at this port of loopback, whatever the name. */
export const start = Effect.fn("Pebble.start")(function* (folder: string, tlsPort: number) {
  const authority = makeAuthority()
  const { cert, key } = authority.leaf("localhost")
  const place = yield* temporaryFolder
  const [port, management, dns, dnsManagement] = yield* Effect.replicateEffect(freePort("127.0.0.1"), 4)
  const file = (name: string, content: string) => {
    writeFileSync(join(place, name), content)
    return join(place, name)
  }
  const config = {
    pebble: {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: file("cert.pem", cert),
      privateKey: file("key.pem", key),
      httpPort: 1,
      tlsPort,
      externalAccountBindingRequired: true,
      externalAccountMACKeys: { [binding.kid]: binding.hmac },
      retryAfter: { authz: 1, order: 1 },
      profiles: { default: { description: "the only one", validityPeriod: 7_776_000 } }
    }
  }
  yield* running(
    join(folder, "pebble-challtestsrv"),
    [
      `-dnsserver=127.0.0.1:${dns}`,
      `-management=127.0.0.1:${dnsManagement}`,
      "-http01=",
      "-https01=",
      "-tlsalpn01=",
      "-doh=",
      "-defaultIPv6=",
      "-defaultIPv4=127.0.0.1"
    ],
    { ready: "Starting management server" }
  )
  const server = yield* running(
    join(folder, "pebble"),
    ["-config", file("pebble.json", JSON.stringify(config)), "-dnsserver", `127.0.0.1:${dns}`, "-strict"],
    { ready: "Listening on", env: { PEBBLE_VA_NOSLEEP: "1", PEBBLE_AUTHZREUSE: "0", PEBBLE_WFE_NONCEREJECT: "30" } }
  )

  /** What the answer holds; a body is posted. */
  const call = (send: typeof request, url: string, body?: unknown) =>
    new Promise<string>((resolve, reject) => {
      const headers = { "user-agent": "catenet-tests" }
      const options = { method: body === undefined ? "GET" : "POST", ca: authority.pem, agent: false, headers }
      send(url, options, (response) => resolve(text(response)))
        .on("error", reject)
        .end(body === undefined ? undefined : JSON.stringify(body))
    })
  const manage = (path: string, body?: unknown) => call(requestSecurely, `https://localhost:${management}${path}`, body)
  yield* Effect.promise(() =>
    eventually(
      () =>
        manage("/roots/0").then(
          () => true,
          () => false
        ),
      "pebble answers"
    )
  )
  return {
    /** Its name server. */
    dns: `127.0.0.1:${dns}`,
    dnsManagement: `http://127.0.0.1:${dnsManagement}`,
    directory: `https://localhost:${port}/dir`,
    /** By which its HTTPS is trusted. */
    httpsRoot: authority.pem,
    /** By which its certificates are trusted. */
    issuingRoot: () => manage("/roots/0"),
    log: server.printed,
    /** Publishes the proof of a host name in its name server, or takes it away. */
    publish: (host: string, value: string | undefined) =>
      call(request, `http://127.0.0.1:${dnsManagement}/${value === undefined ? "clear-txt" : "set-txt"}`, {
        host: `_acme-challenge.${host}.`,
        value
      }),
    /** Answers that a certificate is to be renewed in this window. */
    suggestRenewal: (certificate: string, start: Date, end: Date) =>
      manage("/set-renewal-info/", { certificate, ARIResponse: JSON.stringify({ suggestedWindow: { start, end } }) })
  }
})

export type Pebble = Effect.Success<ReturnType<typeof start>>
