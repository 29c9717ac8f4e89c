/**
 * The part of `/install.sh` that makes the agent a service, where root runs it on Linux. The service has a user of its own and a copy
 * of the program that this user may replace, for updates; root's own copy is root's alone.
 */

/** Functions of the script. `service` is the one that it calls, with `dir`, `os`, `origin` and `work` set. */
export const functions = `# The service: a user, a configuration, a copy of the program that the user may update, a unit.
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
