/**
 * GET /status against a bare node:http handler that answers the same bytes, in one interleaved run: both programs are
 * up, each round loads one and then the other. Needs CT_CP_DATABASE_URL; ROUNDS and SECONDS say how long.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { run } from "./Load.ts"

const port = 18_471
const rounds = Number(process.env["ROUNDS"] ?? 5)
const seconds = Number(process.env["SECONDS"] ?? 3)
const request = "GET /status HTTP/1.1\r\nhost: localhost\r\n\r\n"

/** Processor time of a program so far, in microseconds; the steadier figure on a machine that others use too. */
const cpuOf = ({ pid }: ChildProcess): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ")
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

const ours = spawn(process.execPath, [...process.execArgv, `${import.meta.dirname}/../src/main.ts`], {
  env: { ...process.env, CT_CONTROL_PLANE_LISTEN: `127.0.0.1:${port}` },
  stdio: "inherit"
})
const firstAnswer = async (): Promise<Response> => {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/status`).catch(() => sleep(100))
    if (answer !== undefined) return answer
  }
}
const answer = await firstAnswer()
const body = await answer.text()
const own = new Set(["date", "connection", "keep-alive"])
const headers = Object.fromEntries([...answer.headers].filter(([name]) => !own.has(name)))
const program = `
  const answer = ${JSON.stringify({ body, headers })}
  const server = require("node:http").createServer((request, response) => {
    response.writeHead(200, answer.headers)
    response.end(answer.body)
  })
  server.listen(0, "127.0.0.1", () => process.stdout.write(String(server.address().port)))`
const bare = spawn(process.execPath, ["-e", program])
const barePort = await new Promise<number>((resolve) => bare.stdout.once("data", (text) => resolve(Number(text))))

const load = async (child: ChildProcess, port: number, seconds: number) => {
  const before = cpuOf(child)
  const outcome = await run({ port, request, connections: 64, seconds })
  return { ...outcome, cpu: (cpuOf(child) - before) / (outcome.requestsPerSecond * seconds) }
}
const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

await load(ours, port, 2)
await load(bare, barePort, 1)
const ratios: Array<{ readonly rate: number; readonly cpu: number }> = []
for (let round = 0; round < rounds; round++) {
  const us = await load(ours, port, seconds)
  const them = await load(bare, barePort, seconds)
  ratios.push({ rate: us.requestsPerSecond / them.requestsPerSecond, cpu: us.cpu / them.cpu })
  const shown = [us, them].map(
    (o) => `${o.requestsPerSecond}/s p50 ${o.p50.toFixed(1)} p99 ${o.p99.toFixed(1)} ms, ${o.cpu.toFixed(0)} us`
  )
  console.log(`catenet ${shown[0]}; bare node:http ${shown[1]}`)
}
console.log(
  `requests x${median(ratios.map(({ rate }) => rate)).toFixed(2)}, cpu x${median(ratios.map(({ cpu }) => cpu)).toFixed(2)}`
)
ours.kill()
bare.kill()
