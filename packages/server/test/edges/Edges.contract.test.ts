import { hold, row } from "@catenet/testing/server/Contract"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"

const server = TestServer.layer().pipe(Layer.provideMerge(TestIssuer.layer))
const as = "operator" as const
const key = "ab".repeat(32)

/** A channel with one member, as its owner would have made it. */
const never = {
  "redeemGateCode 200": "test/gate/Codes shows it with a visitor who has signed in",
  "certificates 200": "test/certificates/PlatformCertificates shows it with an edge that proves its key",
  "ticketKeys 200": "test/edges/TicketKeys shows it with an edge that proves its key",
  "authorizeChannel 200": "test/channels shows it with a member whose attestation holds"
}

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("edge servers", (it) => {
  it.effect("hold their contract", () =>
    Effect.gen(function* () {
      const post = (path: string, body: unknown) =>
        TestServer.raw(path, {
          method: "POST",
          headers: { "content-type": "application/json", "x-ct-admin-token": TestServer.adminToken },
          body: JSON.stringify(body)
        })
      yield* post("/admin/provision-tunnel", { subject: "s", name: "n", hostname: "a.example.test" })
      const beat = { id: "primary", peer_addr: "edge.example:4433" }
      yield* hold(
        "edges",
        as,
        [
          row("lookup", "404 NoLiveEdge", { as, query: "?host=a.example.test" }),
          row("heartbeat", 200, { as, body: beat }),
          row("agentProved", 200, { as, body: { token: "9".repeat(64), key } }),
          row("ticketKeys", "403 TicketKeysRefused", {
            as,
            body: { id: "primary", key: "09".repeat(32), signature: "ab".repeat(64) }
          }),
          row("certificates", "403 TicketKeysRefused", {
            as,
            body: { id: "primary", key: "09".repeat(32), signature: "ab".repeat(64), since: 0 }
          }),
          row("heartbeat", "400 HeartbeatProofIncomplete", { as, body: { ...beat, pubkey: key } }),
          row("heartbeat", "403 HeartbeatRefused", { as, body: { ...beat, pubkey: key, signature: "ab".repeat(64) } }),
          row("lookup", 200, {
            as,
            query: "?host=a.example.test",
            answer: { edge_id: "primary", peer_addr: "edge.example:4433" }
          }),
          row("presence", 200, { as, body: { edge_id: "primary", whole: true, present: [], absent: [] } }),
          row("presence", "404 EdgeUnknown", { as, body: { edge_id: "no", whole: true, present: [], absent: [] } }),
          row("lookup", "400 LookupAmbiguous", { as, query: "?" }),
          row("lookup", "400 LookupAmbiguous", { as, query: `?host=a.example.test&token=${key}` }),
          row("lookup", "400 MalformedRequest", { as, query: "?token=zz" }),
          row("lookup", "400 LookupAmbiguous", { as, query: "?host=a.example.test&port=tcp/22" }),
          row("lookup", "404 NoLiveEdge", { as, query: "?port=udp/65535" }),
          row("lookup", "400 MalformedRequest", { as, query: "?port=udp/65536" }),
          row("lookup", "400 MalformedRequest", { as, query: "?port=tcp/0" }),
          row("lookup", "400 MalformedRequest", { as, query: "?port=sctp/22" }),
          row("list", 200, { as }),
          row("list", "400 MalformedRequest", { as, query: "?cursor=" }),
          row("rehydrate", 200, { as, at: { edge_id: "primary" } }),
          row("rehydrate", "400 MalformedRequest", { as, at: { edge_id: "primary" }, query: "?limit=0" }),
          row("rehydrate", "400 MalformedRequest", { as, at: { edge_id: "%20" } }),
          row("rebind", 200, { as, at: { id: "primary" } }),
          row("rebind", "404 EdgeUnknown", { as, at: { id: "anonymous" } }),
          row("rebind", "400 MalformedRequest", { as, at: { id: "%20" } }),
          row("revokedTokens", 200, { as }),
          row("checkVisitor", 200, { as, body: { host: "a.example.test" } }),
          row("checkVisitor", "400 MalformedRequest", { as, body: { host: "a b", session: "short" } }),
          row("redeemGateCode", "403 GateCodeRefused", {
            as,
            body: { host: "a.example.test", code: "A".repeat(43), browser: key }
          }),
          row("redeemGateCode", "422 WrongShape", { as, body: { host: "a.example.test" } }),
          row("endVisit", 200, { as, body: { host: "a.example.test", session: "A".repeat(43) } }),
          row("endVisit", "422 WrongShape", { as, body: { session: "A".repeat(43) } }),
          row("authorizeChannel", "404 MemberNotAdmitted", { as, body: { channel: key, holder: key } }),
          row("authorizeChannel", "400 MalformedRequest", { as, body: { channel: "zz", holder: key } })
        ],
        never
      )
    })
  )
})
