/**
 * Answers the edge's health probes: connects to the origin as for a client, or with CT_AGENT_HEALTH_PATH requests that path over
 * HTTP. No redirects, no body. One probe runs at a time and answers all concurrent ones.
 */
import { baseOf } from "@catenet/domain/values/Hostname"
import { Http } from "@catenet/platform/Http"
import { encodeProxyHeader } from "@catenet/platform/ProxyProtocol"
import type { OriginEcho, OriginVerdict } from "@catenet/wire/frames/MuxEcho"
import type { OnEcho } from "@catenet/wire/transport/Echoes"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Duration, Effect, FiberSet } from "effect"
import type { Socket } from "node:net"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import { version } from "../Version.ts"
import type { OriginDown } from "./Origin.ts"
import type { Found, OpenOrigin } from "./OriginConnections.ts"

/** For connecting and answering together. */
const probeMillis = 5_000

const verdictOf = ({ code, late }: OriginDown): OriginVerdict => {
  if (late) return "timeout"
  if (code === "ECONNREFUSED") return "refused"
  return code === "ENOTFOUND" || code === "EAI_AGAIN" ? "unresolved" : "unreachable"
}

/** GET on the connected socket. Waits only for the head of the response. */
const get = (socket: Socket, path: string, host: string) =>
  Effect.callback<Found>((resume) => {
    const asking = Http.request({
      createConnection: () => socket,
      path,
      headers: { host, accept: "*/*", connection: "close", "user-agent": `ct-agent/${version}` }
    })
    asking.once("error", () => resume(Effect.succeed({ verdict: "closed" })))
    asking.once("response", ({ statusCode = 0 }) => {
      const isUp = statusCode >= 200 && statusCode < 400
      resume(Effect.succeed(isUp ? { verdict: "up" } : { verdict: "status", status: statusCode }))
    })
    // After the response, further data of the origin must not end the process.
    asking.on("error", () => undefined)
    asking.end()
    return Effect.sync(() => asking.destroy())
  })

/** Connects, and asks for `path` if there is one. `host` is the Host header. */
export const probe = Effect.fnUntraced(function* (
  origin: OpenOrigin,
  host: string,
  path: string | undefined = origin.healthPath
) {
  const { ending } = yield* AgentMetrics
  const found = Effect.acquireUseRelease(
    origin.connect(origin.proxyProtocol === "v2" ? encodeProxyHeader({}) : undefined),
    (socket): Effect.Effect<Found> => {
      guard(socket, ending(socket))
      return path === undefined ? Effect.succeed({ verdict: "up" }) : get(socket, path, host)
    },
    (socket) => Effect.sync(() => (path === undefined ? socket.destroySoon() : socket.destroy()))
  )
  return yield* found.pipe(
    Effect.catchTag("OriginDown", (down) => Effect.succeed<Found>({ verdict: verdictOf(down) })),
    Effect.timeoutOrElse({ duration: probeMillis, orElse: () => Effect.succeed<Found>({ verdict: "timeout" }) })
  )
})

/** The answers of one agent, for all its links. Closing the scope ends the probe that runs. */
export const make = Effect.fnUntraced(function* (origin: OpenOrigin, hostname: string | undefined) {
  const metrics = yield* AgentMetrics
  const run = yield* FiberSet.makeRuntime<never>()
  const address = origin.name
  const waiting: Array<(echo: OriginEcho) => void> = []

  const look = Effect.gen(function* () {
    const [took, found] =
      origin.protocol === "udp"
        ? [Duration.zero, { verdict: "unasked" } as const]
        : yield* Effect.timed(
            Effect.provideService(
              origin.look ?? probe(origin, hostname === undefined ? address : baseOf(hostname)),
              AgentMetrics,
              metrics
            )
          )
    const echo: OriginEcho = { origin: address, ...found, millis: Math.round(Duration.toMillis(took)) }
    const before = metrics.probe.last?.echo.verdict
    metrics.probe.last = { echo, at: metrics.now() }
    for (const answer of waiting.splice(0)) answer(echo)
    if (before !== undefined && before !== echo.verdict)
      yield* Effect.logInfo(
        `origin ${echo.origin}: ${echo.verdict}${echo.status === undefined ? "" : ` ${echo.status}`}`
      )
  })

  const onEcho: OnEcho = (_registration, answer) => {
    if (waiting.push(answer) === 1) run(look)
  }
  return onEcho
})
