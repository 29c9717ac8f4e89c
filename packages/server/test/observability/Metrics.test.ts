import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { execFileSync, spawnSync } from "node:child_process"

const textOf = (response: Response) => Effect.promise(() => response.text())
const ask = (authorization?: string) =>
  TestServer.raw("/metrics", authorization === undefined ? {} : { headers: { authorization } })
const scrape = Effect.flatMap(ask("Bearer scrape-me"), textOf)

const sample = /^([a-z_]+)(?:\{([a-z]+="(?:[^"\\\n]|\\[\\"n])*"(?:,[a-z]+="(?:[^"\\\n]|\\[\\"n])*")*)\})? (\S+)$/
const numeral = /^(?:-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|\+Inf)$/

/**
 * The samples of a page, by name and labels, read as strictly as the format's own checker does: every family once, with
 * help and type before its samples and nothing between them; totals are counters and counters are totals; every
 * histogram is whole, only grows, and ends in its count.
 */
const read = (page: string) => {
  assert.isTrue(page.endsWith("\n"))
  const values = new Map<string, number>()
  const families = new Map<string, string>()
  let family = ""
  let helped = ""
  for (const line of page.slice(0, -1).split("\n")) {
    const help = /^# HELP ([a-z_]+) (\S.*\.)$/.exec(line)?.[1]
    const [, named = "", type = ""] = /^# TYPE ([a-z_]+) (counter|gauge|histogram)$/.exec(line) ?? []
    if (help !== undefined) helped = help
    else if (named !== "") {
      assert.strictEqual(named, helped, "help comes first")
      assert.isFalse(families.has(named), `twice: ${named}`)
      assert.strictEqual(type === "counter", named.endsWith("_total"), named)
      families.set(named, type)
      family = named
    } else {
      const [, name = "", labels = "", value = ""] = sample.exec(line) ?? assert.fail(`not a sample: ${line}`)
      const own = families.get(family) === "histogram" ? name.replace(/_(?:bucket|sum|count)$/, "") : name
      assert.strictEqual(own, family, "families are not mixed")
      const names = Array.from(labels.matchAll(/(?:^|,)([a-z]+)="/g), ([, label]) => label)
      assert.strictEqual(new Set(names).size, names.length, line)
      const key = `${name}{${labels}}`
      assert.isFalse(values.has(key), `twice: ${key}`)
      assert.match(value, numeral, line)
      values.set(key, value === "+Inf" ? Infinity : Number(value))
    }
  }
  for (const [name, type] of families) if (type === "histogram") isWhole(name, values)
  return values
}

const isWhole = (name: string, values: ReadonlyMap<string, number>) => {
  const series = new Map<string, Array<readonly [number, number]>>()
  for (const [key, value] of values) {
    const [, labels = "", bound] = /_bucket\{(.*),le="([^"]+)"\}$/.exec(key) ?? []
    if (!key.startsWith(`${name}_bucket`) || bound === undefined) continue
    const buckets = series.get(labels) ?? []
    series.set(labels, buckets)
    buckets.push([bound === "+Inf" ? Infinity : Number(bound), value])
  }
  assert.isAbove(series.size, 0)
  for (const [labels, buckets] of series) {
    const isAscending = (of: ReadonlyArray<number>) => of.every((each, n) => n === 0 || each >= (of[n - 1] ?? 0))
    assert.isTrue(isAscending(buckets.map(([bound]) => bound)) && isAscending(buckets.map(([, count]) => count)))
    assert.deepStrictEqual(buckets.at(-1), [Infinity, values.get(`${name}_count{${labels}}`) ?? -1])
    assert.isTrue(values.has(`${name}_sum{${labels}}`))
  }
}

const isInstalled = spawnSync("promtool", ["--version"]).status === 0
if (!isInstalled)
  process.stderr.write("\nSKIPPED: metrics as Prometheus reads them need promtool (package prometheus).\n\n")

layer(TestServer.layer({ CT_CP_METRICS_TOKEN: "scrape-me" }), { excludeTestServices: true, timeout: "60 seconds" })(
  "the page for Prometheus",
  (it) => {
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

    it.effect.skipIf(!isInstalled)("is what promtool accepts (needs `promtool` on PATH)", () =>
      Effect.gen(function* () {
        execFileSync("promtool", ["check", "metrics"], { input: yield* scrape, stdio: ["pipe", "pipe", "pipe"] })
      })
    )

    it.effect("is for those who hold its token", () =>
      Effect.gen(function* () {
        for (const wrong of [undefined, "", "Bearer", "Bearer scrape", "Bearer scrape-me2", "scrape-me"]) {
          const response = yield* ask(wrong)
          assert.strictEqual(response.status, 401, wrong)
          assert.strictEqual(response.headers.get("www-authenticate"), "Bearer")
          assert.include(yield* textOf(response), '"code":"MetricsTokenRefused"')
        }
        assert.strictEqual((yield* ask("Bearer scrape-me")).status, 200)
      })
    )

    it.effect("refuses every client where no token is configured, as a proxy on this machine calls from here too", () =>
      Effect.gen(function* () {
        const without = yield* Layer.build(TestServer.replica())
        for (const bearer of [undefined, "Bearer ", "Bearer undefined", "Bearer scrape-me"]) {
          const response = yield* Effect.provide(ask(bearer), without)
          assert.strictEqual(response.status, 404, bearer)
          assert.include(yield* textOf(response), '"code":"RouteNotFound"')
        }
      })
    )
  }
)
