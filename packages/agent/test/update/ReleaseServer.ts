/** A host of releases, honest but for what a test has it do. */
import { native } from "@catenet/crypto/native"
import * as ReleaseManifest from "@catenet/crypto/release/ReleaseManifest"
import { Redacted } from "effect"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"

export const asset = "ct-agent-linux-x86_64"
const seedOf = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))
export const keyOf = (byte: number) =>
  Buffer.from(native.ed25519.publicKey(Redacted.value(seedOf(byte)))).toString("hex")
export const sign = (byte: number, file: Uint8Array) => ReleaseManifest.sign(native, seedOf(byte), file)
export const sha256 = (content: string | Uint8Array) => createHash("sha256").update(content).digest("hex")

/** A program that a shell runs, in place of a real one. */
export const programOf = (version: string) => Buffer.from(`#!/bin/sh\necho "ct-agent ${version}"\n`)

type Served = Buffer | string | ((response: ServerResponse) => void)
type Files = Record<string, Served>

/** The files of a release, signed by a key, with what is wrong with it in place of what is right. */
export const release = (
  version: string,
  {
    by = 7,
    content = programOf(version),
    tag = `v${version}`,
    ...wrong
  }: {
    readonly by?: number
    readonly content?: Buffer
    readonly tag?: string
    readonly assets?: Readonly<Record<string, string>>
    readonly manifest?: Buffer
  } = {}
): Files => {
  const assets = wrong.assets ?? { [asset]: sha256(content) }
  const manifest = wrong.manifest ?? Buffer.from(JSON.stringify({ assets, created_at: 1, schema: 1, tag }))
  return {
    "release-manifest.json": manifest,
    "release-manifest.sig": `${sign(by, manifest)}\n`,
    [`${asset}.sha256`]: `${sha256(content)}  ${asset}\n`,
    [asset]: content
  }
}

export class ReleaseServer implements AsyncDisposable {
  readonly asked: Array<string> = []
  readonly files = new Map<string, Served>()
  readonly #server = createServer((request, response) => {
    const path = (request.url ?? "").replace("/releases/", "")
    this.asked.push(path)
    const served = this.files.get(path)
    if (served === undefined) response.writeHead(404).end()
    else if (typeof served === "function") served(response)
    else response.end(served)
  })

  static async start() {
    const self = new ReleaseServer()
    self.#server.listen(0, "127.0.0.1")
    await once(self.#server, "listening")
    return self
  }

  /** Offers a release under its version and as the latest. */
  offer(version: string, files: Files = release(version)) {
    for (const [name, content] of Object.entries(files))
      for (const place of [version, "latest"]) this.files.set(`${place}/${name}`, content)
  }

  get url() {
    const address = this.#server.address()
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/releases`
  }

  async [Symbol.asyncDispose]() {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, "close")
  }
}
