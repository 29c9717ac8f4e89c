import { start } from "@catenet/testing/edge/TestEdge"
import { originVerdicts } from "@catenet/wire/frames/MuxEcho"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

/** The names of data-plane 13 that belong to tunnels. */
const names = [
  "active_tunnels",
  "active_agents",
  "registrations_total",
  "relays_total",
  "relay_bytes_total",
  "relay_bytes_kind_total",
  "failovers_total",
  "tcp_fallback_parked",
  "tcp_fallback_parks_total",
  "tcp_fallback_reaped_total",
  "tcp_fallback_deliveries_total",
  "front_door_client_aborts_total",
  "listener_loop_last_seen_seconds",
  "listener_loop_expected_since_seconds",
  "listener_loop_health_gating",
  "listener_conn_cap_sheds_total",
  "access_window_refused_total",
  "rule_refused_total",
  "tunnel_history_tracked_tokens"
]

describe("the metrics of an edge", () => {
  it.live("have every series of the specification from the start, each with its help and its type", () =>
    Effect.gen(function* () {
      const world = yield* start()
      const response = yield* Effect.promise(() => fetch(`http://127.0.0.1:${world.bound.metrics?.port}/metrics`))
      assert.strictEqual(response.headers.get("content-type"), "text/plain; version=0.0.4")
      const text = yield* Effect.promise(() => response.text())
      const declared = new Set<string>()
      const sampled = new Set<string>()
      for (const line of text.trimEnd().split("\n")) {
        const [, help, type, sample] =
          /^(?:# HELP (\w+) \S.*|# TYPE (\w+) (?:counter|gauge)|(\w+)(?:\{[a-z_]+="[^"]*"(?:,[a-z_]+="[^"]*")*\})? \d+)$/.exec(
            line
          ) ?? assert.fail(line)
        if (help !== undefined) assert.isFalse(declared.has(help), line)
        if (type !== undefined) declared.add(type)
        if (sample === undefined) continue
        assert.isTrue(declared.has(sample), line)
        sampled.add(sample)
      }
      assert.deepStrictEqual(Array.from(sampled), Array.from(declared))
      assert.includeMembers(
        Array.from(sampled),
        names.map((name) => `ct_edge_${name}`)
      )
      assert.isTrue(text.endsWith("\n"))
      for (const state of ["up", "connected", "origin_silent", "agent_silent"])
        assert.include(text, `ct_edge_tunnel_reach{state="${state}"} 0\n`)
      for (const verdict of [...originVerdicts, "silence"])
        assert.include(text, `ct_edge_echoes_total{verdict="${verdict}"} 0\n`)
      for (const listener of ["mesh", "front-door"])
        for (const reason of ["connections", "address", "descriptors"])
          assert.include(text, `ct_edge_listener_conn_cap_sheds_total{listener="${listener}",reason="${reason}"} 0\n`)
    }).pipe(Effect.scoped)
  )
})
