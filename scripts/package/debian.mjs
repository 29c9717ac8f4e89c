/** The agent as a Debian package, written without Debian's tools. */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { constants, gzipSync, zstdCompressSync } from "node:zlib"
import { root } from "../node.mjs"
import { ar, file, folder, tar } from "./archive.mjs"
import { unit } from "./unit.mjs"

/** Debian's names of the machines that releases have programs for. */
export const machines = [
  { architecture: "amd64", asset: "ct-agent-linux-x86_64" },
  { architecture: "arm64", asset: "ct-agent-linux-aarch64" }
]

export const nameOf = ({ architecture, revision, version }) => `ct-agent_${version}-${revision}_${architecture}.deb`

const text = (...path) => readFileSync(join(root, ...path), "utf8")
const script = (name) => file(name, text("scripts", "package", "debian", name), 0o755)

/** What the Node in the program is linked to, in the lowest versions that have the symbols it names. */
const depends = [
  "adduser",
  "init-system-helpers (>= 1.54~)",
  "libatomic1 (>= 4.8)",
  "libc6 (>= 2.28)",
  "libgcc-s1 (>= 4.2)",
  "libstdc++6 (>= 5.2)"
]

const copyright = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Catenet
Comment: The program brings Node along, and libraries; the bill of materials beside the package names each with its licence.

Files: *
Copyright: 2026 the authors of Catenet
License: Apache-2.0

License: Apache-2.0
 On Debian systems the text of this licence is in /usr/share/common-licenses/Apache-2.0.
`

const changelog = ({
  maintainer,
  revision,
  time,
  version
}) => `ct-agent (${version}-${revision}) unstable; urgency=medium

  * Version ${version} of the agent.

 -- ${maintainer}  ${new Date(time * 1000).toUTCString().replace("GMT", "+0000")}
`

const readme = `# ct-agent

Write /etc/ct-agent/ct-agent.env, then:

    systemctl start ct-agent
    journalctl -u ct-agent

The service runs as the user ct-agent and writes below /var/lib/ct-agent alone. A newer version comes as a newer package: the
service cannot replace its program, so CT_AGENT_AUTO_UPDATE has no use here.
`

const gzip = (content) => gzipSync(content, { level: 9 })

/** The files of the package, by their paths on the machine. */
const files = (facts) => [
  file("usr/bin/ct-agent", facts.program, 0o755),
  file("usr/lib/systemd/system/ct-agent.service", unit),
  file("etc/ct-agent/ct-agent.env", text("scripts", "package", "debian", "ct-agent.env"), 0o640),
  file("usr/share/bash-completion/completions/ct-agent", facts.completions.bash),
  file("usr/share/zsh/vendor-completions/_ct-agent", facts.completions.zsh),
  file("usr/share/fish/vendor_completions.d/ct-agent.fish", facts.completions.fish),
  file("usr/share/doc/ct-agent/README.md", readme),
  file("usr/share/doc/ct-agent/copyright", copyright),
  file("usr/share/doc/ct-agent/changelog.Debian.gz", gzip(changelog(facts)))
]

const control = ({ architecture, maintainer, revision, version }, kibibytes) => `Package: ct-agent
Version: ${version}-${revision}
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${kibibytes}
Depends: ${depends.join(", ")}
Section: net
Priority: optional
Description: agent of Catenet, beside the service that visitors shall reach
 Connects to the edge of a Catenet platform from inside, so that no port has
 to be open, and brings visitors of a public host name to a local service.
`

/** The package; `level` is that of Zstandard. */
export const build = (facts, level) => {
  const installed = files(facts)
  const bytes = installed.reduce((sum, { content }) => sum + content.length, 0)
  const sums = installed
    .filter(({ path }) => !path.startsWith("etc/"))
    .map(({ content, path }) => `${createHash("md5").update(content).digest("hex")}  ${path}\n`)
  const meta = [
    file("control", control(facts, Math.ceil(bytes / 1024))),
    file("conffiles", "/etc/ct-agent/ct-agent.env\n"),
    file("md5sums", sums.sort().join("")),
    ...["postinst", "postrm", "prerm"].map(script)
  ]
  const data = tar([...installed, folder("etc/ct-agent")], facts.time, "./")
  return ar(
    [
      ["debian-binary", Buffer.from("2.0\n")],
      ["control.tar.gz", gzip(tar(meta, facts.time, "./"))],
      [
        "data.tar.zst",
        zstdCompressSync(data, {
          params: { [constants.ZSTD_c_compressionLevel]: level, [constants.ZSTD_c_checksumFlag]: 1 }
        })
      ]
    ],
    facts.time
  )
}
