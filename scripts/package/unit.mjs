/** The agent as a service of systemd, as the package installs it: a user of its own, one folder to write to, no rights. */
import { hardening } from "../../packages/agent/src/service/SystemdHardening.ts"

export const unit = `[Unit]
Description=Catenet agent
Documentation=file:/usr/share/doc/ct-agent/README.md
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
ExecStart=/usr/bin/ct-agent --config /etc/ct-agent/ct-agent.env
User=ct-agent
Group=ct-agent
StateDirectory=ct-agent
StateDirectoryMode=0700
WorkingDirectory=/var/lib/ct-agent
UMask=0077
Restart=always
RestartSec=5
# Usage, configuration, refused: a person has to change something first.
RestartPreventExitStatus=2 3 4
TimeoutStopSec=20
${hardening({ lowPort: false }).join("\n")}
PrivateUsers=yes
ProtectSystem=strict
ProtectHome=yes
ProtectProc=invisible
ProcSubset=pid
RemoveIPC=yes

[Install]
WantedBy=multi-user.target
`
