/**
 * `/install.sh`: installs the agent of the newest release on a machine that has neither Node nor npm. It needs `curl` or `wget`
 * and a program for SHA-256. It checks the digest always, and the signature of the manifest where this control plane names the
 * keys and there is an `openssl` that can.
 */

// The part of `/install.sh` that makes the agent a service, where root runs it on Linux. The service has a user of its own and a copy
// of the program that this user may replace, for updates; root's own copy is root's alone.

/** Functions of the script. `service` is the one that it calls, with `dir`, `os`, `origin` and `work` set. */
const functions = `# The service: a user, a configuration, a copy of the program that the user may update, a unit.
home=/var/lib/ct-agent
config=/etc/catenet/ct-agent.env
unit=/etc/systemd/system/ct-agent.service

service() {
  case "\${CT_INSTALL_SERVICE:-}" in
    1) ;;
    "") [ "$(id -u)" = 0 ] && [ "$os" = linux ] && [ -z "\${CT_INSTALL_DIR:-}" ] || return 0 ;;
    *) return 0 ;;
  esac
  if has dpkg && dpkg -s ct-agent >/dev/null 2>&1; then
    say "The Debian package ct-agent has a service of its own, which stays as it is."
    return 0
  fi
  if [ ! -e "$config" ] && [ -z "\${CT_AGENT_TOKEN:-}\${CT_AGENT_TOKEN_FILE:-}\${CT_BOOTSTRAP:-}\${CT_BOOTSTRAP_FILE:-}" ]; then
    say "For a service, give the variables of a tunnel to this script, or write them to $config, and run it again."
    return 0
  fi
  [ "$(id -u)" = 0 ] || fail_service "only root can make one."
  [ "$os" = linux ] || fail_service "write ct-agent service for what launchd needs."
  PATH="$PATH:/usr/sbin:/sbin"
  add_user
  configure
  if ! "$dir/ct-agent" --config "$config" service --for systemd >"$work/unit" 2>"$work/said"; then
    cat "$work/said" >&2
    fail_service "complete $config, and run this script again."
  fi
  # Root's folder, in which the service can put no link: what is made below is where it seems to be.
  mkdir -p "$home" && chown root "$home" && chmod 755 "$home"
  own_folder bin
  own_folder state
  sed "s|^ExecStart=\\"[^\\"]*\\"|ExecStart=\\"$home/bin/ct-agent\\"|" "$work/unit" >"$work/ct-agent.service"
  if same "$dir/ct-agent" "$home/bin/ct-agent" && same "$work/ct-agent.service" "$unit"; then
    say "The service ct-agent is as it should be, and goes on."
    return 0
  fi
  if ! same "$dir/ct-agent" "$home/bin/ct-agent"; then
    copy="$home/.ct-agent.$$"
    trap 'rm -rf "$work" "$copy"' EXIT
    { cp "$dir/ct-agent" "$copy" && chown ct-agent "$copy" && mv -f "$copy" "$home/bin/ct-agent"; } ||
      fail_service "$home cannot be written."
  fi
  start
}

fail_service() { say "No service is installed: $*"; exit 1; }
same() { [ -e "$2" ] && [ "$(digest "$1")" = "$(digest "$2")" ]; }
own_folder() { mkdir -p "$home/$1" && chown -h ct-agent "$home/$1" && chmod 750 "$home/$1"; }

add_user() {
  id ct-agent >/dev/null 2>&1 && return 0
  if has useradd; then useradd --system --home-dir "$home" --shell /usr/sbin/nologin ct-agent
  elif has adduser; then adduser -S -D -H -h "$home" ct-agent
  else fail_service "neither useradd nor adduser is here. Add the user ct-agent, and run this script again."
  fi
}

# The variables that were given to this script, in a file that only the service reads. One that is there stays.
configure() {
  if [ -e "$config" ]; then
    say "$config is kept."
    return 0
  fi
  mkdir -p "\${config%/*}"
  (
    umask 077
    : >"$config.new"
    set_variable CT_AGENT_CP_URL "\${CT_AGENT_CP_URL:-$origin}"
    set_variable CT_AGENT_STATE_DIR "$home/state"
    set_variable CT_AGENT_EDGE_CERT "$home/state/edge-cert.der"
    for name in $(env | sed -n 's/^\\(CT_[A-Z0-9_]*\\)=.*/\\1/p'); do
      case "$name" in
        CT_INSTALL_* | CT_AGENT_CP_URL | CT_AGENT_STATE_DIR | CT_AGENT_EDGE_CERT) ;;
        *) eval "[ -z \\"\\\${$name+set}\\" ] || set_variable $name \\"\\$$name\\"" ;;
      esac
    done
  ) || exit 1
  { chown ct-agent "$config.new" && mv -f "$config.new" "$config"; } || fail_service "$config cannot be written."
  say "$config has what the service is set to."
}

set_variable() {
  case "$2" in
    *"'"* | *"$newline"*) fail_service "the value of $1 cannot stand in $config: write that file by hand." ;;
  esac
  printf "%s='%s'\\n" "$1" "$2" >>"$config.new"
}
newline='
'

start() {
  if ! has systemctl; then
    say "No systemd is here. Whatever starts programs has to run this, and again when it ends:"
    say "  su -s /bin/sh ct-agent -c 'exec $home/bin/ct-agent --config $config'"
    return 0
  fi
  mkdir -p "\${unit%/*}"
  cat "$work/ct-agent.service" >"$unit" || fail_service "$unit cannot be written."
  if [ -d /run/systemd/system ]; then
    { systemctl daemon-reload && systemctl enable --quiet ct-agent && systemctl restart ct-agent; } ||
      fail_service "systemctl failed: journalctl -u ct-agent says more."
    say "The service ct-agent runs: systemctl status ct-agent says how."
  else
    systemctl enable --quiet ct-agent || fail_service "systemctl enable failed."
    say "systemd does not run here: the service ct-agent starts with the machine. Until then:"
    say "  su -s /bin/sh ct-agent -c 'exec $home/bin/ct-agent --config $config'"
  fi
}
`

interface Facts {
  /** Where the machine reaches this control plane. */
  readonly origin: string
  /** Public keys, 64 hex digits each. */
  readonly keys: ReadonlyArray<string>
}

/** A word of a shell, whatever is in it. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** An Ed25519 public key as `openssl` reads it (RFC 8410), without its head and foot. */
const pemBody = (key: string) => Buffer.from(`302a300506032b6570032100${key}`, "hex").toString("base64")

export const render = ({ keys, origin }: Facts): string => `#!/bin/sh
# Installs ct-agent, the agent of Catenet:
#   curl -fsSL ${origin}/install.sh | sh
# CT_INSTALL_DIR is where to, by default /usr/local/bin for root and ~/.local/bin for others.
# CT_INSTALL_VERSION is which version, by default the newest.
# Where root runs it on Linux the agent becomes a service, unless CT_INSTALL_DIR is set or CT_INSTALL_SERVICE=0;
# the variables of the agent that are given to this script are its configuration.
set -eu

origin=${quoted(origin)}
keys=${quoted(keys.map(pemBody).join(" "))}

say() { printf '%s\\n' "$*" >&2; }
fail() { say "ct-agent is not installed: $*"; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

download() {
  if has curl; then curl -fsSL --connect-timeout 20 --max-time 900 -o "$2" "$1"
  elif has wget; then wget -q -T 60 -O "$2" "$1"
  else fail "it needs curl or wget."
  fi
}

digest() {
  if has sha256sum; then sha256sum "$1" | cut -c1-64
  elif has shasum; then shasum -a 256 "$1" | cut -c1-64
  elif has openssl; then openssl dgst -sha256 -r "$1" | cut -c1-64
  else fail "it needs sha256sum, shasum or openssl, to check what it fetches."
  fi
}

# The system and the machine, as releases name them.
platform() {
  case "$(uname -s)" in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) fail "there is no build for $(uname -s)." ;;
  esac
  case "$(uname -m)" in
    x86_64 | amd64) arch=x86_64 ;;
    aarch64 | arm64) arch=aarch64 ;;
    *) fail "there is no build for $(uname -m)." ;;
  esac
}

check_signature() {
  [ -n "$keys" ] || return 0
  if ! has openssl || ! openssl pkeyutl -help 2>&1 | grep -q -e -rawin; then
    say "No openssl 3 is here: the digest is checked, the signature is not."
    return 0
  fi
  download "$release/release-manifest.sig" "$work/sig" || fail "the release has no signature."
  tr -d ' \\t\\r\\n' <"$work/sig" | openssl base64 -d -A >"$work/sig.bin" || fail "the signature cannot be read."
  for key in $keys; do
    printf -- '-----BEGIN PUBLIC KEY-----\\n%s\\n-----END PUBLIC KEY-----\\n' "$key" >"$work/key.pem"
    openssl pkeyutl -verify -pubin -inkey "$work/key.pem" -rawin -in "$work/manifest" -sigfile "$work/sig.bin" \\
      >/dev/null 2>&1 && return 0
  done
  fail "the signature of the release is by none of the keys of $origin."
}

${functions}
# Node needs a library of GCC that small systems leave out.
lacks_library() { "$new" --version 2>&1 | grep -qF 'libatomic.so.1: cannot open'; }

add_library() {
  if [ "$(id -u)" = 0 ] && has apt-get; then
    say "It needs libatomic.so.1, which is not here: apt-get install libatomic1"
    { apt-get update && apt-get install -y --no-install-recommends libatomic1; } >"$work/said" 2>&1 || cat "$work/said" >&2
  elif [ "$(id -u)" = 0 ] && has dnf; then
    say "It needs libatomic.so.1, which is not here: dnf install libatomic"
    dnf install -y -q libatomic >"$work/said" 2>&1 || cat "$work/said" >&2
  fi
  ! lacks_library ||
    fail "it needs libatomic.so.1: apt-get install libatomic1 on Debian and Ubuntu, dnf install libatomic on Fedora."
}

main() {
  platform
  asset="ct-agent-$os-$arch"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM

  download "$origin/releases/\${CT_INSTALL_VERSION:-latest}/release-manifest.json" "$work/manifest" ||
    fail "$origin has no such release. With Node 26 and npm: npx --yes $origin/agent.tgz"
  tag=$(sed -n 's/.*"tag":"v\\{0,1\\}\\([0-9.]\\{1,40\\}\\)".*/\\1/p' "$work/manifest")
  [ -n "$tag" ] || fail "the list of the release cannot be read."
  # From here on every file is of this version, also when a newer one is published meanwhile.
  release="$origin/releases/$tag"
  check_signature
  listed=$(sed -n 's/.*"'"$asset"'":"\\([0-9a-f]\\{64\\}\\)".*/\\1/p' "$work/manifest")
  [ -n "$listed" ] || fail "version $tag has no $asset."
  download "$release/$asset.sha256" "$work/sha256" || fail "$release/$asset.sha256 cannot be fetched."
  download "$release/$asset" "$work/ct-agent" || fail "$release/$asset cannot be fetched whole."
  got=$(digest "$work/ct-agent")
  [ "$got" = "$listed" ] || fail "$asset does not have the digest that the release names."
  [ "$got" = "$(cut -c1-64 <"$work/sha256" | head -n 1)" ] || fail "$asset does not have the digest of $asset.sha256."

  if [ "$(id -u)" = 0 ]; then dir=/usr/local/bin; else dir="\${HOME:?}/.local/bin"; fi
  dir=\${CT_INSTALL_DIR:-$dir}
  mkdir -p "$dir" || fail "$dir cannot be made."
  # Beside its place first, where it is tried: a rename puts it there whole, also over one that runs.
  new="$dir/.ct-agent.$$"
  trap 'rm -rf "$work" "$new"' EXIT
  { cp "$work/ct-agent" "$new" && chmod 755 "$new"; } || fail "$dir cannot be written."
  if lacks_library; then add_library; fi
  version=$("$new" --version) || fail "version $tag does not run on this machine."
  mv -f "$new" "$dir/ct-agent" || fail "$dir cannot be written."
  say "$version is installed as $dir/ct-agent."
  case ":$PATH:" in *":$dir:"*) ;; *) say "$dir is not in PATH: write $dir/ct-agent, or add it." ;; esac
  service
}

# The last line runs all of it, so that a script that was cut does nothing.
main
`
