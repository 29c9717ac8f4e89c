/** The agent as a formula of Homebrew, which fetches the programs from the control plane that serves the release. */

const systems = [
  ["macos", "arm", "ct-agent-darwin-aarch64"],
  ["macos", "intel", "ct-agent-darwin-x86_64"],
  ["linux", "arm", "ct-agent-linux-aarch64"],
  ["linux", "intel", "ct-agent-linux-x86_64"]
]

const block = (head, lines) => [`${head} do`, ...lines.map((line) => `  ${line}`), "end"]

/** `digests` are those of the programs in hex, by their names; what is not among them is left out. */
export const formula = ({ digests, origin, version }) => {
  const on = (system) =>
    systems.flatMap(([name, processor, asset]) => {
      const digest = digests.get(asset)
      if (name !== system || digest === undefined) return []
      return block(`on_${processor}`, [`url "${origin}/releases/${version}/${asset}"`, `sha256 "${digest}"`])
    })
  const downloads = ["macos", "linux"].flatMap((system) => {
    const lines = on(system)
    return lines.length === 0 ? [] : [""].concat(block(`on_${system}`, lines))
  })
  const lines = [
    'desc "Brings visitors of a public host name to a local service"',
    `homepage "${origin}"`,
    `version "${version}"`,
    'license "Apache-2.0"',
    ...downloads,
    "",
    "def install",
    '  bin.install Dir["ct-agent-*"].first => "ct-agent"',
    '  generate_completions_from_executable(bin/"ct-agent", "--completions")',
    "end",
    "",
    "def post_install",
    '  (var/"lib/ct-agent").mkpath',
    "end",
    "",
    ...block("service", [
      'run [opt_bin/"ct-agent", "--config", etc/"ct-agent.env"]',
      "keep_alive true",
      'working_dir var/"lib/ct-agent"',
      'error_log_path var/"log/ct-agent.log"'
    ]),
    "",
    ...block("test", ['assert_equal "ct-agent #{version}", shell_output("#{bin}/ct-agent --version").chomp'])
  ]
  const body = lines.map((line) => (line === "" ? "" : `  ${line}`))
  return `class CtAgent < Formula\n${body.join("\n")}\nend\n`
}
