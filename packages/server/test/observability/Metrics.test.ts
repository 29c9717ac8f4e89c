import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { execFileSync } from "node:child_process"
import * as TestServer from "../harness/TestServer.ts"

const textOf = (response: Response) => Effect.promise(() => response.text())
const scrape = Effect.flatMap(TestServer.raw("/metrics"), textOf)

const sample = /^([a-z_]+)(?:\{([a-z]+="(?:[^"\\\n]|\\.)*"(?:,[a-z]+="(?:[^"\\\n]|\\.)*")*)\})? (\S+)$/

/** The samples of a page, by name and labels. What is not in the format is an assertion that fails. */
const read = (page: string) => {
  const values = new Map<string, number>()
  const typed = new Map<string, string>()
  for (const line of page.trimEnd().split("\n")) {
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line)
    if (type !== null) typed.set(type[1] ?? "", type[2] ?? "")
    if (line.startsWith("#")) continue
    const [, name = "", labels = "", value = ""] = sample.exec(line) ?? assert.fail(`not a sample: ${line}`)
    const key = `${name}{${labels}}`
    assert.isTrue(typed.has(name.replace(/_(?:bucket|sum|count)$/, "")) || typed.has(name), name)
    assert.isFalse(values.has(key), `twice: ${key}`)
    assert.isFalse(Number.isNaN(Number(value)), line)
    values.set(key, Number(value))
  }
  return values
}

const promtool = (page: string) => {
  try {
    execFileSync("promtool", ["check", "metrics"], { input: page, stdio: ["pipe", "pipe", "pipe"] })
    return true
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined
    throw cause
  }
}

layer(TestServer.layer(), { excludeTestServices: true, timeout: "60 seconds" })("the page for Prometheus", (it) => {
  it.effect("counts every request under its route pattern, status and duration", () =>
    Effect.gen(function* () {
      const id = "ab".repeat(32)
      for (let n = 0; n < 3; n++) yield* TestServer.raw(`/registry/resolve/${id}`)
      yield* TestServer.raw("/healthz")
      yield* TestServer.raw("/nowhere/at/all")
      yield* TestServer.raw("/enroll/issue", { method: "POST", body: "{}" })
      const page = yield* scrape
      assert.notInclude(page, id)
      assert.notInclude(page, "nowhere")
      const values = read(page)
      const total = (labels: string) => values.get(`catenet_http_requests_total{${labels}}`)
      assert.strictEqual(total('method="GET",route="/registry/resolve/:token",status="404"'), 3)
      assert.strictEqual(total('method="GET",route="/healthz",status="200"'), 1)
      assert.strictEqual(total('method="GET",route="none",status="404"'), 1)
      assert.strictEqual(total('method="POST",route="/enroll/issue",status="401"'), 1)
      const duration = (suffix: string) =>
        values.get(`catenet_http_request_duration_seconds_${suffix.replace("{", '{method="GET",route="/healthz"')}`)
      assert.strictEqual(duration("count{}"), 1)
      assert.strictEqual(duration('bucket{,le="+Inf"}'), 1)
      assert.isAbove(duration("sum{}") ?? 0, 0)
      assert.isBelow(duration("sum{}") ?? 9, 5)
    })
  )

  it.effect("has buckets that only grow and end in the count", () =>
    Effect.gen(function* () {
      yield* TestServer.raw("/status")
      const buckets = [...read(yield* scrape)].filter(([key]) =>
        key.startsWith('catenet_http_request_duration_seconds_bucket{method="GET",route="/status"')
      )
      assert.strictEqual(buckets.length, 14)
      const values = buckets.map(([, value]) => value)
      assert.deepStrictEqual(
        values,
        values.toSorted((a, b) => a - b)
      )
      assert.strictEqual(values.at(-1), 1)
    })
  )

  it.effect("tells what the database holds and that it is there", () =>
    Effect.gen(function* () {
      const values = read(yield* scrape)
      assert.strictEqual(values.get("catenet_database_up{}"), 1)
      assert.strictEqual(values.get("catenet_oidc_up{}"), 0)
      assert.strictEqual(values.get('catenet_outbox_calls{state="pending"}'), 0)
      assert.strictEqual(values.get('catenet_certificate_admissions{state="queued"}'), 0)
      assert.isAbove(values.get("process_resident_memory_bytes{}") ?? 0, 1_000_000)
    })
  )

  it.effect("is what promtool accepts", (context) =>
    Effect.gen(function* () {
      const accepted = promtool(yield* scrape)
      if (accepted === undefined) context.skip("promtool is not installed")
      assert.isTrue(accepted)
    })
  )

  it.effect("can be kept to those who hold its token", () =>
    Effect.gen(function* () {
      const kept = yield* Layer.build(TestServer.replica({ CT_CP_METRICS_TOKEN: "scrape-me" }))
      const ask = (authorization?: string) =>
        TestServer.raw("/metrics", authorization === undefined ? {} : { headers: { authorization } }).pipe(
          Effect.provide(kept)
        )
      for (const wrong of [undefined, "Bearer scrape", "Bearer scrape-me ", "scrape-me"]) {
        const response = yield* ask(wrong)
        assert.strictEqual(response.status, wrong === "Bearer scrape-me " ? 200 : 401)
        if (response.status === 401) assert.strictEqual(response.headers.get("www-authenticate"), "Bearer")
      }
      assert.strictEqual((yield* ask("Bearer scrape-me")).status, 200)
    })
  )
})
