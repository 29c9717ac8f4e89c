/**
 * Keeps the certificate of the edge up with the tunnels of the stack: clients accept no wildcard of one label, so every
 * name below `localhost` stands in it. The edge follows the file, and serves a new name within a few seconds.
 */
import * as OutgoingHttp from "@catenet/server/internal/http/OutgoingHttp"
import { Effect, Schedule, Schema } from "effect"
import * as Demo from "./Demo.ts"
import * as DevelopmentCertificates from "./DevelopmentCertificates.ts"
import * as Environments from "./Environments.ts"
import type { Secrets } from "./Secrets.ts"
import type { UpSettings } from "./Settings.ts"
import type { StackFolder } from "./StackFolder.ts"

const base = ["localhost", Environments.portalHost, Demo.demoHostname, Demo.ownHostname, `*.${Demo.zone}`]

/** More names would make a certificate that handshakes notice. */
const most = 500

const ask = OutgoingHttp.fetchOf(OutgoingHttp.longestAnswer)

const readTunnels = Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ hostname: Schema.NullOr(Schema.String) })))

/** Root and certificate as they are at the start; true where people have to import the root again. */
export const ensure = (folder: StackFolder) => DevelopmentCertificates.ensure(folder, base)

const namesOf = (settings: UpSettings, { edgeAdminToken }: Secrets) =>
  Effect.tryPromise(async (signal) => {
    const response = await ask(`${Environments.url(settings.controlPlane)}/admin/provision-tunnel?limit=${most}`, {
      headers: { "x-ct-admin-token": edgeAdminToken },
      signal
    })
    return readTunnels(await response.json()).flatMap(({ hostname }) =>
      hostname?.endsWith(".localhost") === true ? [hostname] : []
    )
  }).pipe(Effect.timeout("5 seconds"))

/** Asks for the tunnels every second, for as long as the scope lives; a control plane that is away is asked again. */
export const follow = (settings: UpSettings, folder: StackFolder, secrets: Secrets) =>
  namesOf(settings, secrets).pipe(
    Effect.flatMap((names) => DevelopmentCertificates.ensure(folder, [...new Set([...base, ...names])])),
    Effect.ignore,
    Effect.repeat(Schedule.spaced("1 second")),
    Effect.forkScoped
  )
