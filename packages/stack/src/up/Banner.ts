/** What a person sees when the stack is ready: one screen, with commands that can be copied. */
import { relative } from "node:path"
import { demoUser } from "./DemoUser.ts"
import { address, portalUrl, url } from "./Environments.ts"
import type { Secrets } from "./Secrets.ts"
import type { UpSettings } from "./Settings.ts"
import type { StackFolder } from "./StackFolder.ts"

export interface Facts {
  readonly settings: UpSettings
  readonly folder: StackFolder
  readonly secrets: Secrets
  /** Whether the edge listens on UDP as well. */
  readonly quic: boolean
  readonly demo: { readonly demoHostname: string } | undefined
}

const near = (path: string) => {
  const short = relative(process.cwd(), path)
  return short.startsWith("..") ? path : short
}

const visit = ({ settings }: Facts, hostname: string) => {
  const { port } = settings.frontDoor
  return `https://${hostname}${port === 443 ? "" : `:${port}`}/`
}

const demoLines = (facts: Facts): ReadonlyArray<string> => {
  const { demo, folder, settings } = facts
  if (demo === undefined) return []
  const page = visit(facts, demo.demoHostname)
  const resolve = `--resolve ${demo.demoHostname}:${settings.frontDoor.port}:${settings.frontDoor.host}`
  return [
    `  A tunnel to a page on this machine   ${page}`,
    "  The tunnel starts edge-terminated (gelb) and becomes end-to-end (gruen) automatically; this terminal shows progress.",
    "",
    "  Try it:",
    `    curl --cacert ${near(folder.developmentRoot)} ${resolve} ${page}`,
    "",
    "  Give your own port a public address (here 3000):",
    `    npx ct-agent http 3000 --config ${near(folder.accountFile)}`,
    "",
    "  Call another agent over a channel that the edge cannot read:",
    `    echo "a haiku" | npx ct-agent channel --config ${near(folder.demoCaller)}`,
    ""
  ]
}

export const banner = (facts: Facts): string => {
  const { folder, quic, secrets, settings } = facts
  const base = url(settings.controlPlane)
  return [
    "",
    "  Catenet is up. Ctrl-C stops it; the next start continues with the same data.",
    "",
    ...demoLines(facts),
    `  The portal      ${portalUrl(settings)}/`,
    `  Sign in as      ${demoUser.email}   password ${secrets.demoPassword}`,
    `  Control plane   ${base}/status   ${base}/docs`,
    `  Edge            ${address(settings.frontDoor)} for visitors, ${address(settings.mesh)} for agents`,
    `                  (TCP${quic ? `, and QUIC on UDP ${settings.mesh.port}` : ""})`,
    "",
    "  To make browsers on this machine trust these names, import the development root",
    `    ${near(folder.developmentRoot)}`,
    "  as a certificate authority (Chrome: chrome://certificate-manager, Firefox: Settings > Certificates > Authorities,",
    "  macOS: security add-trusted-cert, Debian: copy it to /usr/local/share/ca-certificates as .crt and run",
    "  update-ca-certificates). Its key is in the same folder; delete the folder to remove both.",
    "",
    `  Data and logs   ${near(folder.root)}`,
    ""
  ].join("\n")
}
