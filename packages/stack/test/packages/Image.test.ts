/** The OCI image of the agent: a layout by the letter of the specification, and a root in which the program runs. */
import { eventually } from "@catenet/testing/Eventually"
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { BuiltRelease, time } from "./BuiltRelease.ts"

const has = (program: string) => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0
const isRoot = process.platform === "linux" && process.getuid?.() === 0
/** Of `npm run campaign`, since Debian's packages come over the network. */
const inFull = process.env["CATENET_PACKAGES"] === "1"
const isPossible = inFull && isRoot && ["apt-get", "dpkg-deb", "unshare"].every(has)
if (inFull && !isPossible)
  process.stderr.write("\nSKIPPED: the image is not built, for want of root, apt-get or dpkg-deb.\n\n")

const hasUmoci = has("umoci")
if (isPossible && !hasUmoci) process.stderr.write("\nSKIPPED: no umoci is here to unpack the image.\n\n")

interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
  readonly annotations?: Readonly<Record<string, string>>
  readonly platform?: { readonly architecture: string; readonly os: string }
}

interface Manifest {
  readonly schemaVersion: number
  readonly mediaType: string
  readonly config: Descriptor
  readonly layers: ReadonlyArray<Descriptor>
}

interface Config {
  readonly architecture: string
  readonly os: string
  readonly created: string
  readonly config: {
    readonly User: string
    readonly Entrypoint: ReadonlyArray<string>
    readonly Env: ReadonlyArray<string>
  }
  readonly rootfs: { readonly type: string; readonly diff_ids: ReadonlyArray<string> }
  readonly history: ReadonlyArray<unknown>
}

const sha256 = (content: Uint8Array) => createHash("sha256").update(content).digest("hex")
const architecture = process.arch === "arm64" ? "arm64" : "amd64"
const name = `ct-agent-0.1.0-${architecture}.oci.tar`
/** Debian's packages are fetched once for a checkout; what a release takes is the newest. */
const base = join(import.meta.dirname, "../../../../node_modules/.cache/catenet/debian")

describe.skipIf(!isPossible)("the image", () => {
  const work = mkdtempSync(join(tmpdir(), "catenet-image-"))
  const layout = join(work, "layout")
  const root = join(work, "root")
  let release: BuiltRelease

  const json = (path: string) => JSON.parse(readFileSync(join(layout, path), "utf8")) as unknown
  const blob = ({ digest }: Descriptor) => `blobs/${digest.replace(":", "/")}`
  const manifest = () => {
    const index = json("index.json") as { manifests: ReadonlyArray<Descriptor> }
    return json(blob(index.manifests[0]!)) as Manifest
  }

  beforeAll(async () => {
    release = await BuiltRelease.in(join(work, "one"))
    const { said, status } = await release.package("--only", "image", "--base", base)
    assert.strictEqual(status, 0, said)
    mkdirSync(layout)
    mkdirSync(root)
    execFileSync("tar", ["-xf", release.path(name), "-C", layout])
    for (const layer of manifest().layers) execFileSync("tar", ["-xzf", join(layout, blob(layer)), "-C", root])
  })
  afterAll(() => rmSync(work, { recursive: true, force: true }))

  it("is a layout whose index, manifest, configuration and layers name each other by digest and size", () => {
    assert.deepStrictEqual(json("oci-layout"), { imageLayoutVersion: "1.0.0" })
    const index = json("index.json") as {
      schemaVersion: number
      mediaType: string
      manifests: ReadonlyArray<Descriptor>
    }
    assert.strictEqual(index.schemaVersion, 2)
    assert.strictEqual(index.mediaType, "application/vnd.oci.image.index.v1+json")
    const [first, ...more] = index.manifests
    assert.lengthOf(more, 0)
    assert.deepStrictEqual(first?.platform, { architecture, os: "linux" })
    assert.deepStrictEqual(first?.annotations, { "org.opencontainers.image.ref.name": "0.1.0" })
    const { config, layers, mediaType } = manifest()
    assert.strictEqual(mediaType, first?.mediaType)
    assert.strictEqual(config.mediaType, "application/vnd.oci.image.config.v1+json")
    const named = [first!, config, ...layers]
    for (const descriptor of named) {
      const content = readFileSync(join(layout, blob(descriptor)))
      assert.strictEqual(descriptor.digest, `sha256:${sha256(content)}`)
      assert.strictEqual(descriptor.size, content.length)
    }
    assert.sameMembers(
      readdirSync(join(layout, "blobs", "sha256")),
      named.map(({ digest }) => digest.slice("sha256:".length))
    )
    const image = json(blob(config)) as Config
    assert.deepStrictEqual([image.architecture, image.os], [architecture, "linux"])
    assert.strictEqual(image.created, new Date(time * 1000).toISOString())
    assert.strictEqual(image.config.User, "65532:65532")
    assert.lengthOf(image.history, layers.length)
    assert.deepStrictEqual(
      image.rootfs.diff_ids,
      layers.map((layer) => `sha256:${sha256(gunzipSync(readFileSync(join(layout, blob(layer)))))}`)
    )
  })

  it("runs its entry point as its user in its own files alone, as the first process, and ends by SIGTERM", async () => {
    const { config } = json(blob(manifest().config)) as Config
    const [program = ""] = config.Entrypoint
    const user = config.User
    const env = Object.fromEntries(config.Env.map((line) => line.split(/=(.*)/su)))
    const inside = ["-m", "-p", "-f", "-n", "--kill-child", "/usr/sbin/chroot", `--userspec=${user}`, root, program]
    const run = (...args: ReadonlyArray<string>) =>
      spawnSync("unshare", [...inside, ...args], { env, encoding: "utf8" })
    assert.strictEqual(run("--version").stdout, "ct-agent 0.1.0\n")
    const unset = run()
    assert.strictEqual(unset.status, 3, unset.stderr)
    assert.include(unset.stderr, "CT_AGENT_CP_URL")
    assert.deepStrictEqual(
      [statSync(join(root, env["HOME"] ?? "")).uid, statSync(join(root, program)).uid],
      [Number(user.split(":")[0]), 0]
    )
    const child = spawn("unshare", inside, {
      env: {
        ...env,
        CT_AGENT_CP_URL: "http://127.0.0.1:8090",
        CT_AGENT_TOKEN: "ab".repeat(32),
        CT_AGENT_HOSTNAME: "a.example",
        CT_AGENT_MODE: "browser"
      },
      stdio: ["ignore", "ignore", "pipe"]
    })
    let said = ""
    child.stderr.on("data", (text: Buffer) => (said += String(text)))
    await eventually(
      () => said.includes("waiting for the edge's root certificate"),
      () => said
    )
    const ended = new Promise((resolve) => child.once("exit", resolve))
    const [first] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").split(" ")
    process.kill(Number(first), "SIGTERM")
    assert.strictEqual(await ended, 0, said)
  })

  it.skipIf(!hasUmoci)("is unpacked by umoci to the same files", () => {
    execFileSync("umoci", ["unpack", "--image", `${layout}:0.1.0`, join(work, "bundle")], { stdio: "ignore" })
    const list = (folder: string) =>
      execFileSync("sh", ["-c", "find . | LC_ALL=C sort"], { cwd: folder, encoding: "utf8" })
    assert.strictEqual(list(join(work, "bundle", "rootfs")), list(root))
  })

  it("has the same bytes when it is built in another folder of the same packages of Debian", async () => {
    const again = await BuiltRelease.in(join(work, "two"))
    const { said, status } = await again.package("--only", "image", "--base", base)
    assert.strictEqual(status, 0, said)
    assert.strictEqual(again.sha256(name), release.sha256(name))
  })
})
