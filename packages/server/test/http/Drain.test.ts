/** A replica that is asked to stop while many clients keep their connections busy. */
import { eventually, until } from "@catenet/testing/Eventually"
import { onThisMachine } from "@catenet/testing/Promptness"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { Agent, get } from "node:http"
import { freePort } from "../../../stack/src/Ports.ts"

const clients = 200

interface Answer {
  readonly status: number
  readonly closes: boolean
}

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

const ask = (agent: Agent, url: string) =>
  new Promise<Answer>((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume()
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, closes: response.headers.connection === "close" })
      )
      response.on("error", reject)
    }).on("error", reject)
  })

layer(TestDatabase.layer, { excludeTestServices: true, timeout: "60 seconds" })("a server that stops", (it) => {
  it.effect("is not ready for a while, then lets 200 busy clients go within 2 s, and resets none", () =>
    Effect.gen(function* () {
      const port = yield* freePort("127.0.0.1")
      const scope = yield* Scope.make()
      const variables = {
        CT_CONTROL_PLANE_LISTEN: `127.0.0.1:${port}`,
        CT_CP_SHUTDOWN_GRACE_SECS: "30",
        CT_CP_DRAIN_DELAY_SECS: "1"
      }
      yield* Layer.buildWithScope(TestServer.replica(variables), scope)
      const ends = new Map<string, number>()
      const ended = (agent: Agent, how: string) => {
        ends.set(how, (ends.get(how) ?? 0) + 1)
        agent.destroy()
      }
      const served = new Set<Agent>()
      const stays = async (path: string) => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        for (;;)
          try {
            const { closes, status } = await ask(agent, `http://127.0.0.1:${port}${path}`)
            served.add(agent)
            if (status !== 200) return ended(agent, `status ${status}`)
            if (closes) return ended(agent, "said to close")
            await pause(100)
          } catch (error) {
            return ended(agent, String(Reflect.get(Object(error), "code")))
          }
      }
      const all: Array<Promise<void>> = []
      while (all.length < clients) {
        for (let n = 0; n < 50; n++) all.push(stays(n % 10 === 0 ? "/registry/agents" : "/status"))
        yield* Effect.promise(() => eventually(() => served.size === all.length, "they are served"))
      }
      const began = performance.now()
      const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      const readiness = Effect.promise(() => fetch(`http://127.0.0.1:${port}/readyz`).then(({ status }) => status))
      yield* until(readiness, (status) => status === 503)
      assert.strictEqual(ends.size, 0, "meanwhile clients are served")
      yield* Fiber.join(stopping)
      const took = performance.now() - began
      yield* Effect.promise(() => Promise.all(all))
      assert.deepStrictEqual([...ends], [["said to close", clients]])
      assert.isAtLeast(took, 1_000)
      assert.isBelow(took, onThisMachine(3_000))
    })
  )
})
