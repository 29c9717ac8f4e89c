/** Variables of updates, and where releases are found. */
import * as Asset from "@catenet/crypto/release/Asset"
import * as Parser from "@catenet/platform/Parser"
import { defaulted, optional } from "@catenet/platform/Variable"
import type * as VariableReader from "@catenet/platform/VariableReader"
import { baseUrl } from "./HostPort.ts"

// Release keys, 64 hex digits each: every release that this program installs is signed by one of them.

/** Inserted by `scripts/build.mjs`, separated by commas; empty in the sources. */
declare const CATENET_RELEASE_KEYS: string | undefined

const compiledIn: ReadonlyArray<string> =
  typeof CATENET_RELEASE_KEYS === "string" ? CATENET_RELEASE_KEYS.split(",").filter((key) => key !== "") : []

/** `1` and `true` in any case; every other text is a no, as other agents read it. */
const switched = Parser.make("1 or true", (text) => /^(?:1|true)$/iu.test(text))

const publicKey = Parser.make(
  "a public key of 64 hex digits",
  (text) => (/^[0-9a-f]{64}$/iu.test(text) ? text.toLowerCase() : undefined),
  { remedy: "copy all of it, or unset it to use the keys of this build" }
)

/** Seconds; polling more often has no benefit. */
const shortestInterval = 300

export const source = {
  releaseUrl: optional("CT_AGENT_RELEASE_URL", baseUrl, "Base URL of the releases.", {
    standard: "/releases of CT_AGENT_CP_URL"
  }),
  releaseKey: optional("CT_AGENT_RELEASE_PUBKEY", publicKey, "Public key with which releases must be signed.", {
    standard: "the keys built into the program"
  }),
  skipVerify: defaulted(
    "CT_AGENT_UPDATE_SKIP_VERIFY",
    switched,
    "0",
    "Skip the checksum file of an update; the signature and the digest in the manifest are still verified."
  ),
  trialSeconds: defaulted(
    "CT_AGENT_UPDATE_TRIAL_SECS",
    Parser.whole(1, 3600),
    "120",
    "Seconds that a new version has to register before the old one is restored."
  )
} as const

export const variables = {
  ...source,
  autoUpdate: defaulted("CT_AGENT_AUTO_UPDATE", switched, "0", "Update this program while it serves."),
  updateInterval: defaulted(
    "CT_AGENT_AUTO_UPDATE_INTERVAL_SECS",
    Parser.whole(0, 31_536_000),
    "86400",
    "Seconds between checks for an update, at least 300.",
    { isLenient: true }
  )
} as const

/** The source of releases, and the keys that verify them. */
export interface Source {
  /** Base address of the releases. */
  readonly url: string
  /** 64 hex digits each. */
  readonly keys: ReadonlyArray<string>
  readonly skipChecksum: boolean
  /** The file for this system and machine; undefined if releases have none. */
  readonly asset: string | undefined
  /** Time limits in milliseconds; by default the contract's. */
  readonly bounds?: { readonly connect: number; readonly whole: number }
}

/** The release source of these variables; undefined without an address. */
export const sourceOf = (
  {
    releaseKey,
    releaseUrl,
    skipVerify
  }: Pick<VariableReader.Values<typeof source>, "releaseKey" | "releaseUrl" | "skipVerify">,
  controlPlane: string | undefined
): Source | undefined => {
  const url = releaseUrl ?? (controlPlane === undefined ? undefined : `${controlPlane}/releases`)
  return url === undefined
    ? undefined
    : {
        url,
        keys: releaseKey === undefined ? compiledIn : [releaseKey],
        skipChecksum: skipVerify,
        asset: Asset.nameFor(process.platform, process.arch)
      }
}

/** A serving agent's update settings. */
export const autoUpdateOf = (values: VariableReader.Values<typeof variables>, controlPlane: string) => {
  const source = values.autoUpdate ? sourceOf(values, controlPlane) : undefined
  return (
    source && {
      source,
      intervalSecs: Math.max(shortestInterval, values.updateInterval),
      trialSeconds: values.trialSeconds
    }
  )
}
export type AutoUpdate = NonNullable<ReturnType<typeof autoUpdateOf>>
