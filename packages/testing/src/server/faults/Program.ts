/** Programs of ours as processes of their own, each on a port that it keeps over its deaths. */
import { Effect, Semaphore } from "effect"
import { HttpServer } from "effect/http"
import { NetAddress } from "effect/net"
import { type ChildProcess, spawn } from "node:child_process"
import * as Ports from "../../../../stack/src/Ports.ts"
import { untilSuccess } from "../../Eventually.ts"
import { platformProgram } from "../../stack/PlatformProgram.ts"

/** Whatever can be killed in the middle of its work. */
export interface Victim {
  readonly name: string
  /** Kills it without a warning and starts it again; done when it answers. */
  readonly strike: Effect.Effect<void>
}

export interface Program extends Victim {
  readonly url: string
}

export const freePort = Ports.freePort("127.0.0.1")

/** Several ports that are free together. */
export const freePorts = (count: number) => Effect.replicateEffect(freePort, count)

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null

const killed = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    if (hasEnded(child)) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGKILL")
  })

/**
 * Starts a program of Node and waits until its health address answers. A program that ends by itself fails the test:
 * none of ours may fall because another one did.
 */
export const start = (options: {
  readonly name: string
  readonly port: number
  readonly main: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  readonly health: string
}) =>
  Effect.gen(function* () {
    const url = `http://127.0.0.1:${options.port}`
    let child: ChildProcess | undefined
    let log = ""
    const spawned = Effect.sync(() => {
      const next = spawn(process.execPath, [...options.main], {
        env: {
          ...options.env,
          PATH: process.env["PATH"],
          HOME: process.env["HOME"],
          NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"]
        },
        stdio: ["ignore", "ignore", "pipe"]
      })
      next.stderr.setEncoding("utf8").on("data", (text: string) => (log = (log + text).slice(-2000)))
      child = next
    })
    // What it has said may come after its end.
    const obituary = Effect.callback<string>((resume) => {
      const tell = () => {
        const how = child?.signalCode ?? `exit code ${child?.exitCode}`
        resume(Effect.succeed(`${options.name} has ended by itself, ${how}: ${log}`))
      }
      if (child?.stderr?.closed) return tell()
      child?.once("close", tell)
    })
    const lives = Effect.suspend(() =>
      child !== undefined && hasEnded(child)
        ? Effect.flatMap(obituary, (text) => Effect.die(new Error(text)))
        : Effect.void
    )
    const answers = Effect.tryPromise(async () => {
      const { status } = await fetch(url + options.health, { signal: AbortSignal.timeout(2000) })
      if (status !== 200) throw new Error(`it answers ${status}`)
    }).pipe(
      Effect.tapError(() => lives),
      (answered) => untilSuccess(answered, "120 seconds")
    )
    const end = Effect.suspend(() => (child === undefined ? Effect.void : killed(child)))
    yield* Effect.acquireRelease(spawned, () => end)
    yield* answers
    const one = yield* Semaphore.make(1)
    const strike = Effect.gen(function* () {
      yield* lives
      yield* end
      yield* spawned
      yield* answers
    }).pipe(one.withPermits(1))
    return { name: options.name, url, strike } satisfies Program
  })

/** A replica of the control plane, by the command that users have. */
export const controlPlane = [platformProgram, "serve"]

/** The embedded identity provider. */
export const provider = [platformProgram, "idp"]

/** Lets the clients of the harness talk to a program instead of a server in this process. */
export const at = ({ url }: Program) =>
  Effect.provideService(HttpServer.HttpServer, {
    address: NetAddress.inetAddressFromStringUnsafe(new URL(url).host),
    serve: () => Effect.void
  })
