/** The agent as an OCI image, in the image layout that engines and registries' tools read, as one tar archive. */
import { createHash } from "node:crypto"
import { gzipSync } from "node:zlib"
import { file, folder, tar } from "./archive.mjs"

export const nameOf = ({ architecture, version }) => `ct-agent-${version}-${architecture}.oci.tar`

/** A user without a name in other images, as images that run without root use. */
const user = 65_532
const home = "/var/lib/ct-agent"

const sha256 = (content) => createHash("sha256").update(content).digest("hex")
const json = (value) => Buffer.from(JSON.stringify(value))

/** `base` are the files of the system around the program; `level` is that of gzip. */
export const build = ({ architecture, base, program, time, version }, level) => {
  const blobs = new Map()
  const put = (content, mediaType, more = {}) => {
    const digest = sha256(content)
    blobs.set(digest, content)
    return { mediaType, digest: `sha256:${digest}`, size: content.length, ...more }
  }
  const own = [file("usr/bin/ct-agent", program, 0o755), folder(home.slice(1), 0o700, user)]
  const layers = [base, own].map((entries) => {
    const content = tar(entries, time)
    const packed = put(gzipSync(content, { level }), "application/vnd.oci.image.layer.v1.tar+gzip")
    return { packed, diff: `sha256:${sha256(content)}` }
  })
  const created = new Date(time * 1000).toISOString()
  const labels = {
    "org.opencontainers.image.created": created,
    "org.opencontainers.image.licenses": "Apache-2.0",
    "org.opencontainers.image.title": "ct-agent",
    "org.opencontainers.image.version": version
  }
  const config = put(
    json({
      created,
      architecture,
      os: "linux",
      config: {
        User: `${user}:${user}`,
        Env: ["PATH=/usr/bin", `HOME=${home}`, `CT_AGENT_STATE_DIR=${home}/state`],
        Entrypoint: ["/usr/bin/ct-agent"],
        Volumes: { [home]: {} },
        WorkingDir: home,
        Labels: labels
      },
      rootfs: { type: "layers", diff_ids: layers.map(({ diff }) => diff) },
      history: [
        { created, created_by: "packages of Debian" },
        { created, created_by: "ct-agent" }
      ]
    }),
    "application/vnd.oci.image.config.v1+json"
  )
  const mediaType = "application/vnd.oci.image.manifest.v1+json"
  const manifest = put(
    json({ schemaVersion: 2, mediaType, config, layers: layers.map(({ packed }) => packed), annotations: labels }),
    mediaType,
    { platform: { architecture, os: "linux" }, annotations: { "org.opencontainers.image.ref.name": version } }
  )
  const index = { schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests: [manifest] }
  return tar(
    [
      file("oci-layout", json({ imageLayoutVersion: "1.0.0" })),
      file("index.json", json(index)),
      ...[...blobs].map(([digest, content]) => file(`blobs/sha256/${digest}`, content))
    ],
    time
  )
}
