/** `catenet acme`: the development certificate authorities alone. */
import * as Documentation from "@catenet/platform/Documentation"
import { address } from "@catenet/platform/NetworkParser"
import { formatAddress } from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"
import { secret } from "@catenet/platform/SecretParser"
import { optional, required } from "@catenet/platform/Variable"
import * as VariableReader from "@catenet/platform/VariableReader"
import { Clock, Effect } from "effect"
import { Command } from "effect/cli"
import * as Logs from "../Logs.ts"
import { startListening } from "../StartFailed.ts"
import { certificateLifetime } from "../up/Settings.ts"
import { root } from "./root.ts"

const variables = {
  listen: required("CT_ACME_SERVER_LISTEN", address, "Address of the HTTPS service."),
  root: required("CT_ACME_SERVER_ROOT", Parser.path, "Root certificate that signs certificates, PEM."),
  rootKey: required("CT_ACME_SERVER_ROOT_KEY", Parser.path, "Key of that root, PEM."),
  frontDoor: required(
    "CT_ACME_SERVER_FRONT_DOOR",
    address,
    "Address at which every host name is validated with TLS-ALPN-01."
  ),
  bindingKey: required(
    "CT_ACME_SERVER_EAB_HMAC",
    secret,
    "HMAC key of the external account that /bound requires, base64url."
  ),
  nameServer: optional("CT_ACME_SERVER_DNS", address, "Name server for DNS-01 validation.", {
    standard: "the system's resolvers"
  }),
  lifetime: certificateLifetime
} as const

const serve = Effect.gen(function* () {
  const { bindingKey, frontDoor, lifetime, listen, nameServer, root, rootKey } = yield* VariableReader.read(variables)
  const [{ serve }, DevelopmentRoot] = yield* Effect.promise(() =>
    Promise.all([import("../acme/DevelopmentAcme.ts"), import("../acme/DevelopmentRoot.ts")])
  )
  const issuer = yield* DevelopmentRoot.read(root, rootKey)
  const clock = yield* Clock.Clock
  yield* Effect.acquireRelease(
    startListening("CT_ACME_SERVER_LISTEN", listen, () =>
      serve({
        ...frontDoor,
        bindingKey,
        listen,
        root: issuer,
        lifetimeMillis: lifetime * 1000,
        nameServer: nameServer === undefined ? undefined : formatAddress(nameServer),
        now: () => clock.currentTimeMillisUnsafe()
      })
    ),
    ({ close }) => Effect.promise(close)
  )
  yield* Effect.logInfo("certificate authorities ready")
  return yield* Effect.never
}).pipe(Effect.scoped)

export const acme = Command.make(
  "acme",
  {},
  Effect.fn(function* () {
    const { logFormat } = yield* root
    return yield* serve.pipe(Effect.provide(Logs.layer(logFormat, "catenet-acme")))
  })
).pipe(
  Command.withDescription(
    "Runs two certificate authorities (RFC 8555) that sign with the development root. For development and tests; " +
      `\`up\` starts them.\n\nEverything is configured by variables:\n${Documentation.help(variables)}`
  ),
  Command.withShortDescription("Run the development certificate authorities")
)
