/**
 * The tunnel of `expose`: found by its name or made, with a folder of its own on this machine that keeps what its agent needs, so
 * that the next `expose` serves the same address and redeems nothing again. Whatever step is interrupted, the next run finds the
 * tunnel by its name and gets what is missing.
 */
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { Effect, Redacted } from "effect"
import { join } from "node:path"
import { Refused } from "../Failure.ts"
import * as BootstrapSecret from "../onboard/BootstrapSecret.ts"
import * as PrivateFile from "../state/PrivateFile.ts"
import type { Account } from "./AccountClient.ts"
import * as TunnelClient from "./TunnelClient.ts"

export interface Exposed {
  readonly tunnel: Tunnel
  readonly hostname: string
  /** Where visitors reach it. */
  readonly url: string
  readonly stateDir: string
  /** Whether what its agent serves with is of an earlier run. */
  readonly isKept: boolean
}

const urlFile = (stateDir: string) => `${stateDir}/url`
const utf8 = new TextEncoder()

const found = Effect.fnUntraced(function* (account: Account, name: string) {
  const known = (yield* TunnelClient.list(account)).find((tunnel) => tunnel.owned && tunnel.name === name)
  if (known !== undefined) return known
  const made = yield* TunnelClient.create(account, name)
  yield* Effect.logInfo(`made the tunnel ${name}`)
  return made
})

/** Gets tokens and stores them as onboarding reads them: the one for this machine's key is redeemed there. */
const install = Effect.fnUntraced(function* (account: Account, tunnel: Tunnel, stateDir: string) {
  const { join_token, public_url, routing_token } = yield* TunnelClient.install(account, tunnel)
  const url = public_url ?? `https://${tunnel.hostname ?? ""}/`
  yield* PrivateFile.folder(stateDir)
  yield* PrivateFile.replaceAll([{ path: urlFile(stateDir), bytes: utf8.encode(url) }])
  yield* BootstrapSecret.keep(stateDir, { joinToken: Redacted.value(join_token), token: Redacted.value(routing_token) })
  return url
})

const keptUrl = Effect.fnUntraced(function* (stateDir: string) {
  const secret = yield* Effect.orElseSucceed(BootstrapSecret.restore(stateDir), () => undefined)
  const bytes = yield* Effect.orElseSucceed(PrivateFile.read(urlFile(stateDir)), () => undefined)
  return secret === undefined || bytes === undefined ? undefined : new TextDecoder().decode(bytes)
})

/** `base` is the folder of all of them; `isFresh` gets new tokens also where there are some. */
export const of = Effect.fn("ExposedTunnel.of")(function* (
  account: Account,
  name: string,
  base: string,
  isFresh: boolean
) {
  const tunnel = yield* found(account, name)
  const { hostname } = tunnel
  if (hostname === null)
    return yield* new Refused({
      detail: `The control plane gave the tunnel ${name} no host name. Name one that has: ct-agent expose --name NAME.`
    })
  const stateDir = join(base, tunnel.id)
  const kept = isFresh ? undefined : yield* keptUrl(stateDir)
  const url = kept ?? (yield* install(account, tunnel, stateDir))
  const exposed: Exposed = { tunnel, hostname, url, stateDir, isKept: kept !== undefined }
  return exposed
})
