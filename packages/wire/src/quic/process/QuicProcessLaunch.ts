/**
 * One life of the QUIC process: it is started, connects back with a token that it reads from its standard input, and ends with the scope.
 * @internal
 */
import * as ChildProcesses from "@catenet/platform/ChildProcesses"
import { Entropy } from "@catenet/platform/Entropy"
import { isIPv6 } from "@catenet/platform/IpAddress"
import { Processes } from "@catenet/platform/Processes"
import { Sockets } from "@catenet/platform/Sockets"
import { Data, Effect } from "effect"
import type { ChildProcess } from "node:child_process"
import { timingSafeEqual } from "node:crypto"
import type { AddressInfo, Socket } from "node:net"
import { createInterface } from "node:readline"
import { QuicProcessLink } from "./QuicProcessLink.ts"
import type { QuicProgram } from "./QuicProgram.ts"

export class LaunchFailed extends Data.TaggedError("LaunchFailed")<{ readonly why: string }> {
  override get message() {
    return `the QUIC process did not start: ${this.why}`
  }
}

const tokenBytes = 32
const startMillis = 10_000

/** What the process may do: use the network. It reads and writes no file, starts nothing and sees no variable. */
const flags = ["run", "--quiet", "--unstable-net", "--no-prompt", "--no-remote", "--no-lock"]

/**
 * What the process is for. `dial`: everything, with certificates checked. `unverified`: the same, and it takes any certificate, as its
 * runtime knows that for the whole process only. `listen`: these hosts and no other network.
 */
export type Purpose = "dial" | "unverified" | { readonly listen: ReadonlyArray<string> }

const literal = (host: string) => (isIPv6(host) ? `[${host}]` : host)

const permissions = (purpose: Purpose, linkPort: number) => {
  if (purpose === "dial") return ["--allow-net"]
  if (purpose === "unverified") return ["--allow-net", "--unsafely-ignore-certificate-errors"]
  return [`--allow-net=${[`127.0.0.1:${linkPort}`, ...new Set(purpose.listen.map(literal))].join()}`]
}

/** The runtime warns of the flag. */
const isExpected = (line: string) => line.includes("TLS certificate validation is disabled")

/** Only what the runtime itself needs: where it keeps what it has compiled. */
const environment = () => {
  const { DENO_DIR, HOME, LOCALAPPDATA, SYSTEMROOT, XDG_CACHE_HOME } = process.env
  return { DENO_DIR, HOME, LOCALAPPDATA, SYSTEMROOT, XDG_CACHE_HOME, DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" }
}

const tokenOf = (socket: Socket, take: (token: Buffer) => void) => {
  const read = () => {
    const token = socket.read(tokenBytes) as Buffer | null
    if (token === null) return
    socket.off("readable", read)
    take(token)
  }
  socket.on("readable", read)
}

const end = (child: ChildProcess) =>
  ChildProcesses.end(child, { ask: () => void child.stdin?.end(), within: "2 seconds" })

/** The link, once it can be used. `said` takes each line that the process writes, `report` what a callback threw. */
export const launch = Effect.fn("QuicProcessLaunch.launch")(function* (
  program: QuicProgram,
  purpose: Purpose,
  onLine: (line: string) => void,
  report: (error: unknown) => void
) {
  const token = Entropy.randomBytes(tokenBytes)
  const { child, failed, link } = yield* Effect.acquireRelease(
    Effect.callback<{ child: ChildProcess; link: Promise<QuicProcessLink>; failed: Promise<string> }, LaunchFailed>(
      (resume) => {
        const linked = Promise.withResolvers<QuicProcessLink>()
        const server = Sockets.tcpServer({ noDelay: true }, (socket) => {
          socket.on("error", () => undefined)
          tokenOf(socket, (given) => {
            if (!timingSafeEqual(given, token)) return void socket.destroy()
            server.close()
            linked.resolve(new QuicProcessLink(socket, report))
          })
        })
        server.once("error", (error) => resume(Effect.fail(new LaunchFailed({ why: error.message }))))
        server.listen(0, "127.0.0.1", () => {
          const { port } = server.address() as AddressInfo
          const child = Processes.spawn(program.runtime, [...flags, ...permissions(purpose, port), program.main], {
            cwd: program.folder,
            env: environment(),
            stdio: ["pipe", "ignore", "pipe"]
          })
          const failed = new Promise<string>((resolve) => {
            child.once("error", (error) => resolve(error.message))
            child.once("exit", (code, signal) => resolve(`it ended with ${signal ?? code}`))
          })
          void failed.then(() => server.close())
          child.stdin.on("error", () => undefined)
          child.stdin.write(`${JSON.stringify({ port, token: token.toString("hex") })}\n`)
          createInterface({ input: child.stderr }).on("line", (line) => {
            if (!isExpected(line)) onLine(line)
          })
          resume(Effect.succeed({ child, link: linked.promise, failed }))
        })
      }
    ),
    ({ child }) => end(child)
  )
  const started = yield* Effect.promise(() => Promise.race([link, failed])).pipe(
    Effect.timeoutOrElse({
      duration: startMillis,
      orElse: () => Effect.succeed("it did not connect")
    })
  )
  if (typeof started === "string") return yield* new LaunchFailed({ why: started })
  if (!(yield* Effect.promise(() => started.ready()))) return yield* new LaunchFailed({ why: "it speaks otherwise" })
  return { link: started, pid: child.pid ?? 0, ended: failed }
})
