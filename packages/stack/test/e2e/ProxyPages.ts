/** Every page that an edge shows in its own name, as people and as programs get them. */
import { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { codeRefused, noSignIn, unauthorized, unavailable } from "@catenet/proxy/internal/gate/GatePages"
import {
  closedPage,
  type ProxyResponse,
  offlinePage,
  readBy,
  silentPage,
  unknownName
} from "@catenet/proxy/internal/ProxyPages"

const closed = new AccessPolicy({ expires_at: UnixSeconds.make(5), schedule: null })

const answers: Readonly<Record<string, ProxyResponse>> = {
  unknown: unknownName("a-name-that-nothing-serves.example"),
  offline: offlinePage(),
  silent: silentPage(),
  closed: closedPage(closed, 10),
  "code-refused": codeRefused(),
  unauthorized: unauthorized(),
  "no-sign-in": noSignIn(),
  unavailable: unavailable()
}

const shown = (language: "en" | "de") =>
  Object.entries(answers).map(
    ([name, answer]) => [`edge-${name}-${language}`, readBy(answer, language).body.toString()] as const
  )

export const proxyPages: ReadonlyArray<readonly [name: string, html: string]> = [
  ...shown("en"),
  ...shown("de"),
  ...Object.entries(answers)
    .filter(([, { fields }]) => fields["Content-Type"]?.startsWith("text/html") === true)
    .map(([name, { body }]) => [`edge-${name}-program`, body.toString()] as const)
]
