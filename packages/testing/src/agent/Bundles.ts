/** Bundles and manifests as a publisher makes them, and as one with other plans does. */
import * as ServiceManifest from "@catenet/crypto/manifest/ServiceManifest"
import { native } from "@catenet/crypto/native"
import { Redacted } from "effect"
import { createHash } from "node:crypto"
import { gzipSync } from "node:zlib"

/** One entry of a tar archive; `flag` says what it is, a file without it. */
export interface TarEntry {
  readonly path: string
  readonly text?: string | Uint8Array
  readonly flag?: string
  readonly link?: string
  readonly mode?: number
  /** The size that the header claims, when it is another than that of the content. */
  readonly claims?: number
}

const field = (value: number, length: number) => `${value.toString(8).padStart(length - 1, "0")}\0`

const headerOf = ({ claims, flag = "0", link = "", mode = 0o644, path, text = "" }: TarEntry) => {
  const header = Buffer.alloc(512)
  header.write(path, 0, 100, "utf8")
  header.write(field(mode, 8), 100)
  header.write(field(0, 8), 108)
  header.write(field(0, 8), 116)
  header.write(field(claims ?? Buffer.byteLength(text), 12), 124)
  header.write(field(0, 12), 136)
  header.write(" ".repeat(8), 148)
  header.write(flag, 156, "latin1")
  header.write(link, 157, 100, "utf8")
  header.write("ustar\x0000", 257, "latin1")
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148)
  return header
}

export const tarOf = (entries: ReadonlyArray<TarEntry>): Buffer =>
  Buffer.concat([
    ...entries.flatMap((entry) => {
      const content = Buffer.from(entry.text ?? "")
      return [headerOf(entry), content, Buffer.alloc((512 - (content.length % 512)) % 512)]
    }),
    Buffer.alloc(1024)
  ])

export const bundleOf = (entries: ReadonlyArray<TarEntry>): Buffer => gzipSync(tarOf(entries))

type Unsigned = Parameters<typeof ServiceManifest.sign>[2]

/** A manifest of this publisher for a bundle, as text. */
export const manifestOf = (
  publisherSeed: Uint8Array,
  bundle: { readonly url: string; readonly bytes: Uint8Array },
  more: Partial<Unsigned> = {}
): string => {
  const signed = ServiceManifest.sign(native, Redacted.make(publisherSeed), {
    manifestId: new Uint8Array(32).fill(9),
    name: "echo",
    version: "1.0.0",
    installerKind: "binary",
    bundle: {
      url: bundle.url,
      sha256: new Uint8Array(createHash("sha256").update(bundle.bytes).digest()),
      composeFile: "bin/run.sh"
    },
    envTemplate: [],
    verify: { script: "", timeoutSecs: 5n },
    issuedAt: 0n,
    expiresAt: 4_102_444_800n,
    ...more
  })
  return ServiceManifest.json.write(signed)
}
