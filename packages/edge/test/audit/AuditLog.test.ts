import { servingAgent, slotAgent, tlsTo } from "@catenet/testing/edge/Agent"
import * as Members from "@catenet/testing/edge/Members"
import { eventually, start, temporaryFolder, token } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

const T = token("7")
const tunnelHost = "app.zone.test"
const member = Members.member(Members.channel())
const named = [member.channel.id, member.holder].map((bytes) => Buffer.from(bytes).toString("hex"))

/** What counts a member that came this way. */
const joined = ({ alpn }: Members.JoinOptions) =>
  alpn === undefined ? 'ct_edge_channel_park_legs_total{keepalive="true"}' : "ct_edge_relay_gate_unreachable_total"

describe("the audit log", () => {
  it.live(
    "records connections by address and hashed tunnel or by channel and holder, and deletes them after its retention",
    () =>
      Effect.gen(function* () {
        const path = join(yield* temporaryFolder, "audit.sqlite")
        const run = Effect.fn("run")(function* (visit: boolean) {
          const life = yield* Scope.make()
          const world = yield* start({
            CT_EDGE_AUDIT_LOG_PATH: path,
            CT_EDGE_RELAY_UPSTREAM: "127.0.0.1:1",
            CT_EDGE_RELAY_NODE_PEER: "node"
          }).pipe(Scope.provide(life))
          Members.register(world, member)
          if (visit) {
            yield* Effect.promise(() => world.authorize(T, tunnelHost, "gelb"))
            yield* servingAgent(world, T, [tunnelHost])
            yield* slotAgent(world, T, "L", tunnelHost)
            const visitor = yield* Effect.promise(() => tlsTo(world.frontDoor, world.wildcardRoot, tunnelHost))
            visitor.destroy()
            yield* Effect.promise(async () => {
              for (const options of [{}, { alpn: ["ct-edge-relay"] }] satisfies ReadonlyArray<Members.JoinOptions>) {
                const peer = await Members.dial(world, options)
                peer.send("alpn" in options ? member.grant : Members.joinFrame(member))
                peer.send(Members.answer(member, await peer.take(32)))
                await eventually(async () => (await world.metrics())[joined(options)] === 1, "it is let in")
                peer.socket.destroy()
              }
              const stranger = await Members.dial(world)
              stranger.send(Members.joinFrame(Members.member(member.channel)))
              await stranger.rest()
            })
          }
          yield* Scope.close(life, Exit.void)
        })
        const rows = () => {
          const db = new DatabaseSync(path)
          const found = db
            .prepare("select transport, source_ip, tunnel, channel_id, holder_key from connections order by rowid")
            .all()
          db.exec("update connections set ts = 0")
          db.close()
          return found
        }
        const old = new DatabaseSync(path)
        old.exec(
          "create table connections (ts integer not null, transport text not null, source_ip text not null, tunnel text not null) strict"
        )
        old.close()
        yield* run(true)
        const seen = rows()
        assert.deepStrictEqual(
          seen.map(({ source_ip, transport }) => [transport, source_ip]),
          [
            ["mux_agent", "127.0.0.1"],
            ["tcp_fallback", "127.0.0.1"],
            ["front_door_tls", "127.0.0.1"],
            ["tls_channel", "127.0.0.1"],
            ["relay_gate", "127.0.0.1"]
          ]
        )
        for (const [index, row] of seen.entries()) {
          const ofChannel = [row["channel_id"], row["holder_key"]]
          if (index < 3) assert.deepStrictEqual(ofChannel, ["", ""])
          else assert.deepStrictEqual([row["tunnel"], ...ofChannel], ["", ...named])
        }
        assert.notInclude(JSON.stringify(seen), T)
        yield* run(false)
        assert.deepStrictEqual(rows(), [])
      }).pipe(Effect.scoped)
  )
})
