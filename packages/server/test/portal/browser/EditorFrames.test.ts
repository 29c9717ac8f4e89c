import { onThisMachine } from "@catenet/testing/Promptness"
import { database, server } from "@catenet/testing/server/Accounts"
import { ask, person } from "@catenet/testing/server/channels/Asking"
import { keyOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { missing, launch, open } from "@catenet/testing/server/portal/browser/Chromium"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const kim = person("frames-kim")
const agents = Array.from({ length: 200 }, (_, n) => keyOf(`frames ${n}`)).toSorted()
/** Each agent with the two that follow it. */
const edges = agents.flatMap((one, n) =>
  [1, 2].map((step) => {
    const [a = "", b = ""] = [one, agents[(n + step) % agents.length] ?? ""].toSorted()
    return { a, b }
  })
)

/** The most that a frame may take in the middle and at worst. */
const patience = { median: 1_000 / 30, worst: 1_000 }

describe.skipIf(missing)("the editor in a browser", () => {
  layer(server(), { excludeTestServices: true, timeout: "120 seconds" })("of 200 agents and 400 links", (it) => {
    it.effect("draws 30 frames a second while an agent is dragged", () =>
      Effect.gen(function* () {
        const { body } = yield* ask(kim, "/me/topologies", {})
        const id = String(body["id"])
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into topology_agents (agent, owner, topology_id, kind)
          select agent, 'frames-kim', ${id}, 'peer' from unnest(${agents}::text[]) agent`
        yield* sql`insert into topology_edges (topology_id, a, b)
          select ${id}, * from unnest(${edges.map(({ a }) => a)}::text[], ${edges.map(({ b }) => b)}::text[])`
        const browser = yield* launch
        const { page, problems } = yield* open(browser, kim)
        const frames = yield* Effect.promise(async () => {
          await page.goto(`/me/topologies/${id}/editor`)
          assert.deepStrictEqual(
            [await page.locator("g.node").count(), await page.locator("line.link").count()],
            [200, 400]
          )
          const node = page.locator("g.node").first()
          await node.scrollIntoViewIfNeeded()
          const before = await node.getAttribute("transform")
          const box = await node.locator("circle").boundingBox()
          if (box === null) throw new Error("not drawn")
          const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
          await page.mouse.move(x, y)
          await page.mouse.down()
          await page.evaluate(`(() => {
            const at = window.framesAt = []
            const next = (time) => { at.push(time); requestAnimationFrame(next) }
            requestAnimationFrame(next)
          })()`)
          for (let step = 0; step < 120; step++) await page.mouse.move(x + (step % 40) * 3, y + (step % 30) * 2)
          const at = await page.evaluate<ReadonlyArray<number>>("window.framesAt")
          await page.mouse.up()
          assert.notStrictEqual(await node.getAttribute("transform"), before)
          return at.slice(1).map((time, n) => time - (at[n] ?? time))
        })
        const sorted = frames.toSorted((a, b) => a - b)
        const [median = 0, worst = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
        const said = `${sorted.length} frames, median ${median.toFixed(1)} ms, worst ${worst.toFixed(1)} ms`
        if (process.env["CATENET_FIGURES"] !== undefined) process.stderr.write(`${said}\n`)
        assert.isAbove(sorted.length, 10, said)
        assert.isAtMost(median, onThisMachine(patience.median), said)
        assert.isAtMost(worst, onThisMachine(patience.worst), said)
        assert.deepStrictEqual(problems, [])
      }).pipe(Effect.provide(database), Effect.scoped)
    )
  })
})
