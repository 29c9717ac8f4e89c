import * as Contract from "@catenet/testing/server/Contract"
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
      yield* Contract.hold(
        "edges",
        as,
        [
          { call: "lookup", as, query: "?host=a.example.test", status: 404, code: "NoLiveEdge" },
          { call: "heartbeat", as, body: beat, status: 200 },
          { call: "agentProved", as, body: { token: "9".repeat(64), key }, status: 200 },
          {
            call: "ticketKeys",
            as,
            body: { id: "primary", key: "09".repeat(32), signature: "ab".repeat(64) },
            status: 403,
            code: "TicketKeysRefused"
          },
          { call: "heartbeat", as, body: { ...beat, pubkey: key }, status: 400, code: "HeartbeatProofIncomplete" },
          {
            call: "heartbeat",
            as,
            body: { ...beat, pubkey: key, signature: "ab".repeat(64) },
            status: 403,
            code: "HeartbeatRefused"
          },
          {
            call: "lookup",
            as,
            query: "?host=a.example.test",
            status: 200,
            answer: { edge_id: "primary", peer_addr: "edge.example:4433" }
          },
          { call: "lookup", as, query: "?", status: 400, code: "LookupAmbiguous" },
          { call: "lookup", as, query: `?host=a.example.test&token=${key}`, status: 400, code: "LookupAmbiguous" },
          { call: "lookup", as, query: "?token=zz", status: 400, code: "MalformedRequest" },
          { call: "list", as, status: 200 },
          { call: "list", as, query: "?cursor=", status: 400, code: "MalformedRequest" },
          { call: "rehydrate", as, at: { edge_id: "primary" }, status: 200 },
          {
            call: "rehydrate",
            as,
            at: { edge_id: "primary" },
            query: "?limit=0",
            status: 400,
            code: "MalformedRequest"
          },
          { call: "rehydrate", as, at: { edge_id: "%20" }, status: 400, code: "MalformedRequest" },
          { call: "rebind", as, at: { id: "primary" }, status: 200 },
          { call: "rebind", as, at: { id: "anonymous" }, status: 404, code: "EdgeUnknown" },
          { call: "rebind", as, at: { id: "%20" }, status: 400, code: "MalformedRequest" },
          { call: "revokedTokens", as, status: 200 },
          { call: "checkVisitor", as, body: { host: "a.example.test" }, status: 200 },
          { call: "checkVisitor", as, body: { host: "a b", session: "short" }, status: 400, code: "MalformedRequest" },
          {
            call: "redeemGateCode",
            as,
            body: { host: "a.example.test", code: "A".repeat(43), browser: key },
            status: 403,
            code: "GateCodeRefused"
          },
          { call: "redeemGateCode", as, body: { host: "a.example.test" }, status: 422, code: "WrongShape" },
          { call: "endVisit", as, body: { host: "a.example.test", session: "A".repeat(43) }, status: 200 },
          { call: "endVisit", as, body: { session: "A".repeat(43) }, status: 422, code: "WrongShape" },
          { call: "authorizeChannel", as, body: { channel: key, holder: key }, status: 404, code: "MemberNotAdmitted" },
          { call: "authorizeChannel", as, body: { channel: "zz", holder: key }, status: 400, code: "MalformedRequest" }
        ],
        never
      )
    })
  )
})
