/** A mail server on this machine, by TLS under a root of the test or without, that answers as a test wants. */
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { Effect } from "effect"
import type { AddressInfo } from "node:net"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"

export const user = "mailer"
export const password = "p@ss:w/rd"

const authority = makeAuthority("root of the mail server")
export const roots = authority.pem

export interface Arrived {
  readonly to: ReadonlyArray<string>
  readonly text: string
}

/**
 * What the server does instead of taking mail: a reply to RCPT, an end of the connection once the mail is there, or nothing,
 * once it is there or before it says anything.
 */
export type Mood = "takes" | "hangs up" | "stalls" | "greets no one" | number

export const mailServer = (kind: "smtps" | "starttls" | "plain", options: SMTPServerOptions = {}) =>
  Effect.gen(function* () {
    const arrived: Array<Arrived> = []
    const state: { mood: Mood } = { mood: "takes" }
    const waiting: Array<(error?: Error) => void> = []
    const leaf = authority.leaf("localhost")
    const server = new SMTPServer({
      ...(kind === "plain" ? { disabledCommands: ["STARTTLS"], allowInsecureAuth: true } : leaf),
      secure: kind === "smtps",
      authMethods: ["PLAIN", "LOGIN"],
      onConnect: (_session, done) => void (state.mood === "greets no one" ? waiting.push(done) : done()),
      onAuth: (auth, _session, done) =>
        auth.username === user && auth.password === password
          ? done(null, { user: auth.username })
          : done(Object.assign(new Error("Invalid login"), { responseCode: 535 })),
      onRcptTo: (_address, _session, done) =>
        typeof state.mood === "number"
          ? done(Object.assign(new Error("not now"), { responseCode: state.mood }))
          : done(),
      onData: (stream, session, done) => {
        const parts: Array<Buffer> = []
        stream.on("data", (part: Buffer) => parts.push(part))
        stream.on("end", () => {
          arrived.push({
            to: session.envelope.rcptTo.map(({ address }) => address),
            text: Buffer.concat(parts).toString("utf8")
          })
          if (state.mood === "hangs up") for (const each of server.connections) each.close()
          else if (state.mood !== "stalls") done()
        })
      },
      closeTimeout: 100,
      logger: false,
      ...options
    })
    server.on("error", () => undefined)
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))
    )
    const { port } = server.server.address() as AddressInfo
    const credentials = `${user}:${encodeURIComponent(password)}`
    const url = (host = "localhost", login = credentials) =>
      `${kind === "smtps" ? "smtps" : "smtp"}://${login === "" ? "" : `${login}@`}${host}:${port}`
    return { arrived, state, waiting, url }
  })
