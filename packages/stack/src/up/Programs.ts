/** The programs of a stack, in the order in which they start, each with the question that tells whether it serves. */
import { Files } from "@catenet/platform/Files"
import { Http } from "@catenet/platform/Http"
import { Sockets } from "@catenet/platform/Sockets"
import { closedTitle } from "@catenet/proxy/internal/ProxyPages"
import * as OutgoingHttp from "@catenet/server/internal/http/OutgoingHttp"
import { Data, Effect, type Redacted } from "effect"
import type { Program } from "../supervisor/Program.ts"
import * as Environments from "./Environments.ts"
import type { Secrets } from "./Secrets.ts"
import type { Listen, UpSettings } from "./Settings.ts"
import type { StackFolder } from "./StackFolder.ts"

class NotReady extends Data.TaggedError("NotReady")<{ readonly cause: unknown }> {}

const ask = OutgoingHttp.fetchOf(OutgoingHttp.longestEdgeAnswer)

/** Fails unless the address answers with a 2xx. */
const answers = (address: string) =>
  Effect.tryPromise({
    try: (signal) => ask(address, { signal }),
    catch: (cause) => new NotReady({ cause })
  }).pipe(Effect.flatMap(({ ok, status }) => (ok ? Effect.void : Effect.fail(new NotReady({ cause: status })))))

const listens = ({ host, port }: Listen) =>
  Effect.callback<void, NotReady>((resume) => {
    const socket = Sockets.dialTcp({ host, port })
    socket.once("connect", () => {
      socket.destroy()
      resume(Effect.void)
    })
    socket.once("error", (cause) => resume(Effect.fail(new NotReady({ cause }))))
    return Effect.sync(() => socket.destroy())
  })

export const identityProvider = (settings: UpSettings, folder: StackFolder, secrets: Secrets): Program => ({
  name: "idp",
  args: ["idp", "--log-format", "json"],
  env: Environments.ofIdentityProvider(settings, folder, secrets),
  ready: answers(
    `${Environments.url(settings.identityProvider)}/realms/${Environments.realm}/.well-known/openid-configuration`
  )
})

export const controlPlane = (
  settings: UpSettings,
  folder: StackFolder,
  secrets: Secrets,
  databaseUrl: Redacted.Redacted
): Program => ({
  name: "control-plane",
  args: ["serve", "--log-format", "json"],
  env: Environments.ofControlPlane(settings, folder, secrets, databaseUrl),
  ready: answers(`${Environments.url(settings.controlPlane)}/readyz`)
})

export const edge = (settings: UpSettings, folder: StackFolder, secrets: Secrets): Program => ({
  name: "edge",
  args: ["edge", "--log-format", "json"],
  env: Environments.ofEdge(settings, folder, secrets),
  ready: Effect.all([
    listens(settings.mesh),
    listens(settings.frontDoor),
    answers(`${Environments.url(settings.controlPlane)}/pki/ca`)
  ])
})

export const acme = (settings: UpSettings, folder: StackFolder, secrets: Secrets): Program => ({
  name: "acme",
  args: ["acme", "--log-format", "json"],
  env: Environments.ofAcme(settings, folder, secrets),
  ready: listens(settings.acme)
})

export const demoOrigin = (settings: UpSettings): Program => ({
  name: "origin",
  args: ["origin", "--log-format", "json"],
  env: { CT_DEMO_ORIGIN_LISTEN: Environments.address(settings.demoOrigin) },
  ready: listens(settings.demoOrigin)
})

/**
 * Fails unless a visitor who trusts the development root gets the page behind a tunnel, is led to sign in for it, or hears that
 * its owner has closed it at this time.
 */
export const visits = ({ frontDoor }: UpSettings, folder: StackFolder, hostname: string) =>
  Effect.callback<void, NotReady>((resume) => {
    const request = Http.secureRequest(
      {
        host: frontDoor.host,
        port: frontDoor.port,
        servername: hostname,
        headers: { host: hostname },
        ca: Files.readFileSync(folder.developmentRoot),
        agent: false
      },
      (response) => {
        let page = ""
        response.setEncoding("utf8").on("data", (text: string) => (page += text))
        response.once("error", (cause) => resume(Effect.fail(new NotReady({ cause }))))
        response.once("end", () => {
          const { statusCode: status } = response
          // The edge says 503 too where it could not ask whether the visitor may pass.
          const ok = status === 200 || status === 302 || (status === 503 && page.includes(closedTitle))
          resume(ok ? Effect.void : Effect.fail(new NotReady({ cause: status })))
        })
      }
    )
    request.once("error", (cause) => resume(Effect.fail(new NotReady({ cause }))))
    request.end()
    return Effect.sync(() => request.destroy())
  })

/** The agent of the demo tunnel; it serves when a visitor gets the page. */
export const demoAgent = (env: Program["env"], ready: Program["ready"]): Program => ({
  name: "agent",
  args: ["agent"],
  env,
  ready
})

/** The serving member of the demo channel. A call waits for it, so a start does not. */
export const demoMember = (env: Program["env"]): Program => ({
  name: "channel",
  args: ["agent", "channel"],
  env,
  ready: Effect.void
})
