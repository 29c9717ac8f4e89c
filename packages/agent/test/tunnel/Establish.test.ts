import { assert, it } from "@effect/vitest"
import { rungs } from "../../src/tunnel/Establish.ts"

it("port 443 is tried after the edge's own port, when that is allowed and another one", () => {
  const edge = { host: "edge.example.org", port: 4433 }
  const front = { host: "edge.example.org", port: 443 }
  assert.deepStrictEqual(rungs(edge, false), [edge])
  assert.deepStrictEqual(rungs(edge, true), [edge, front])
  assert.deepStrictEqual(rungs(front, true), [front])
})
