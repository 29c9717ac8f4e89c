/**
 * The minute in which a name that requires a login turns end-to-end: who may pass goes on to, who may not is turned away as before,
 * and from then on the edge has nothing of what visitors show and send.
 */
import { readUntil, tlsTo } from "@catenet/testing/edge/Agent"
import type { TestEdge } from "@catenet/testing/edge/TestEdge"
import { until } from "@catenet/testing/Eventually"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Schedule } from "effect"
import { randomBytes } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { inMemoryOf } from "../e2e/ProcessMemory.ts"
import { ask, askHttp2, browser, controlPlane, Edges, type Heard, upgrade } from "./GateStack.ts"
import { signedIn, statusAt, tunnel, vera } from "./GateTunnel.ts"

/** Visitors a second, and for how long they come before and after the turn; a campaign sets both. */
const rate = Number(process.env["CATENET_SWITCH_RATE"] ?? 20)
const seconds = Number(process.env["CATENET_SWITCH_SECONDS"] ?? 1)

/** What the origin was told, without what is another for each request or signature. */
const fieldsOf = ({ headers }: Heard) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${["x-request-id", "x-gate-assertion"].includes(name) ? "ANY" : String(value)}`)
    .toSorted()
    .join("\n")

/** The processes of the first edge besides the one of this test. */
const workers = () =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const [, parent = ""] = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? []
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8")
        return Number(parent) === process.pid && command.includes("processes/worker")
      } catch {
        return false
      }
    })

layer(Edges.layer.pipe(Layer.provideMerge(controlPlane)), { excludeTestServices: true, timeout: "120 seconds" })(
  "a name that requires a login and turns end-to-end",
  (it) => {
    it.effect(
      "turns nobody away who was let in, lets nobody in who was not, and names visitors to the origin as before",
      () =>
        Effect.gen(function* () {
          const { first, origin } = yield* Edges
          const { complete, host, own, params, tunnelControls, tunnels } = yield* tunnel("visited.zone.test")
          yield* tunnels.allowVisitor({ params, payload: vera })
          const { cookie } = yield* signedIn(first, host)
          const link = yield* tunnelControls.mintShareLink({ params, headers: {}, payload: { ttl: "1h" } })
          const guest = browser(() => first)
          assert.strictEqual((yield* guest.visit(link.url)).text, "the origin")
          const either: TestEdge = { ...first, wildcardRoot: `${first.wildcardRoot}\n${own.wildcardRoot}` }
          const shown = [
            ["member", cookie],
            ["guest", guest.cookies(host)],
            ["stranger", ""],
            ["impostor", `__Host-ct_gate_session=${randomBytes(32).toString("base64url")}`]
          ] as const
          const answers = new Map<string, number>()
          const visit = async (n: number) => {
            const [who, cookie] = shown[n % shown.length] ?? ["stranger", ""]
            const sent = { cookie: `who=${who}; ${cookie}`, "x-gate-email": "root@victim.example" }
            const isHttp2 = n % 3 === 0
            const answer = isHttp2
              ? askHttp2(either, host, sent)
              : ask(either, `https://${host}/`, sent).then(({ status }) => status)
            const what = await answer.catch((error: Error) => error.message)
            const key = `${who} ${what}`
            answers.set(key, (answers.get(key) ?? 0) + 1)
          }
          const before = origin.heard.length
          const socket = yield* Effect.promise(() => upgrade(first, host, [`Cookie: ${cookie}`]))
          assert.strictEqual(socket.status, 101)

          const running: Array<Promise<void>> = []
          const begun = performance.now()
          const arrive = Effect.sync(() => {
            const due = ((performance.now() - begun) / 1_000) * rate
            while (running.length < due) running.push(visit(running.length))
          })
          const arriving = yield* Effect.forkScoped(Effect.repeat(arrive, Schedule.spaced("5 millis")))
          const more = Effect.suspend(() => {
            const due = running.length + seconds * rate
            return until(
              Effect.sync(() => running.length),
              (length) => length >= due
            )
          })
          yield* more
          yield* until(complete, (status) => status === 200, "100 millis")
          yield* until(statusAt(own, host), (status) => status !== 0)
          yield* more
          yield* Fiber.interrupt(arriving)
          yield* Effect.promise(() => Promise.all(running))
          assert.sameMembers([...answers.keys()], ["member 200", "guest 200", "stranger 302", "impostor 302"])

          const echo = readUntil(socket.socket, "still here")
          socket.socket.write("still here")
          yield* Effect.promise(() => echo)
          const heard = origin.heard.slice(before).filter(({ headers }) => headers.cookie?.startsWith("who="))
          const told = new Map<string, Set<string>>()
          for (const one of heard) {
            const key = `${one.headers.cookie} ${one.headers.connection}`
            told.set(key, (told.get(key) ?? new Set()).add(fieldsOf(one)))
          }
          assert.sameMembers(
            [...told.keys()].map((key) => key.split(" ")[0]),
            ["who=member", "who=member", "who=guest", "who=guest"]
          )
          for (const [key, fields] of told) assert.lengthOf([...fields], 1, `${key}:\n${[...fields].join("\n\n")}`)
        }).pipe(Effect.scoped)
    )

    it.effect.runIf(process.platform === "linux")(
      "leaves in the memory of the edge what visitors showed before, and nothing of what they show and send then",
      () =>
        Effect.gen(function* () {
          const { first } = yield* Edges
          const { complete, host, own, params, tunnels } = yield* tunnel("searched.zone.test")
          yield* tunnels.allowVisitor({ params, payload: vera })
          const [worker = 0] = workers()
          assert.isAbove(worker, 0)
          /** So many visits that each process of the edge has some: a WebSocket that stays open, and an upload. */
          const visits = Effect.fnUntraced(function* (at: TestEdge) {
            const { cookie } = yield* signedIn(at, host)
            const token = /ct_gate_session=([\w-]{43})/.exec(cookie)?.[1] ?? ""
            const mark = randomBytes(16).toString("hex")
            const body = `${mark}\n`.repeat(4_000)
            const head = `POST / HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\nContent-Length: ${body.length}\r\n\r\n`
            for (let n = 0; n < 12; n++) {
              const open = yield* Effect.acquireRelease(
                Effect.promise(() => upgrade(at, host, [`Cookie: ${cookie}`])),
                ({ socket }) => Effect.sync(() => socket.destroy())
              )
              assert.strictEqual(open.status, 101)
              const upload = yield* Effect.acquireRelease(
                Effect.promise(() => tlsTo(at.frontDoor, at.wildcardRoot, host, ["http/1.1"])),
                (socket) => Effect.sync(() => socket.destroy())
              )
              upload.write(head + body)
              yield* Effect.promise(() => readUntil(upload, "the origin"))
            }
            return [token, mark] as const
          })
          const before = yield* visits(first)
          const found = Effect.sync(() => inMemoryOf(worker, before).size)
          yield* until(found, (texts) => texts === before.length, "100 millis")
          yield* until(complete, (status) => status === 200, "100 millis")
          yield* until(statusAt(own, host), (status) => status !== 0)
          const after = yield* visits(own)
          const kept = inMemoryOf(worker, [...before, ...after])
          assert.isTrue(kept.has(before[0]), "the session of those who came before and stay is found")
          assert.deepStrictEqual(
            after.filter((text) => kept.has(text)),
            []
          )
        }).pipe(Effect.scoped)
    )
  }
)
