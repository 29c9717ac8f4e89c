/** The agent as a service of systemd, as the package installs it: a user of its own, one folder to write to, no rights. */
import { hardening, render } from "../../packages/platform/src/SystemdUnit.ts"

export const unit = render({
  description: "Catenet agent",
  documentation: "file:/usr/share/doc/ct-agent/README.md",
  start: "/usr/bin/ct-agent --config /etc/ct-agent/ct-agent.env",
  runs: [
    "User=ct-agent",
    "Group=ct-agent",
    "StateDirectory=ct-agent",
    "StateDirectoryMode=0700",
    "WorkingDirectory=/var/lib/ct-agent",
    "UMask=0077"
  ],
  // Usage, configuration, refused: a person has to change something first.
  final: [2, 3, 4],
  stopSeconds: 20,
  may: [
    ...hardening({ lowPort: false }),
    "PrivateUsers=yes",
    "ProtectSystem=strict",
    "ProtectHome=yes",
    "ProtectProc=invisible",
    "ProcSubset=pid",
    "RemoveIPC=yes"
  ]
})
