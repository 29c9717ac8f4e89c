/**
 * This machine's Debian once more, with a systemd of its own: the same files, and whatever is changed there is gone afterwards.
 * It has namespaces of its own for everything but users, a network with nothing but loopback, and read-only kernel settings.
 */
import { eventually } from "@catenet/testing/Eventually"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** Units of a real machine that would change the kernel, or wait for devices. */
const masked = [
  ..."dev-hugepages sys-fs-fuse-connections sys-kernel-config sys-kernel-debug sys-kernel-tracing tmp"
    .split(" ")
    .map((name) => `${name}.mount`),
  ..."modules-load remount-fs sysctl tmpfiles-setup-dev udev-trigger udevd update-utmp"
    .split(" ")
    .map((name) => `systemd-${name}.service`)
]

const devices = "full null ptmx random tty urandom zero"

/** Becomes the first process of the machine. Its arguments: a folder for it, the one at /mnt there, and its control group. */
const boot = `set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$0"
mkdir "$0/upper" "$0/work" "$0/root" "$0/groups"
root=$0/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$0/upper,workdir=$0/work" "$root"
mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,ro,bind "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
for folder in run tmp; do mount -t tmpfs tmpfs "$root/$folder"; done
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/pts" "$root/dev/shm" "$root/dev/mqueue"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
for device in ${devices}; do touch "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done
mount --bind "$1" "$root/mnt"
# An image for containers forbids packages to start services; a machine does not.
rm -f "$root/usr/sbin/policy-rc.d"
mkdir -p "$root/run/systemd/system" "$root/run/before"
for unit in ${masked.join(" ")}; do ln -s /dev/null "$root/run/systemd/system/$unit"; done
ip link set lo up
cd "$root"
pivot_root . run/before
umount -l /run/before
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --unit=basic.target`

/** Runs the rest in a control group of its own, which then is the only one that it sees. */
const grouped = `set -e
mount --make-rprivate /
mkdir -p "$0/all"
mount -t cgroup2 cgroup2 "$0/all"
mkdir "$0/all/$2"
echo $$ >"$0/all/$2/cgroup.procs"
umount "$0/all"
exec unshare --kill-child -m -p -f -C -u -i -n sh -c "$3" "$0" "$1"`

const ungrouped = `mount -t cgroup2 cgroup2 "$0" && find "$0/$1" -depth -type d -exec rmdir {} +`

interface Said {
  readonly status: number | null
  readonly text: string
}

export class DebianMachine {
  readonly #folder: string
  readonly #group = `catenet-test-${randomUUID()}`
  #unshare: ChildProcess | undefined
  #first = 0

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** The reason why there can be none here; empty where it can. */
  static get missing(): string {
    if (process.platform !== "linux" || process.getuid?.() !== 0) return "root on Linux"
    for (const program of ["dpkg", "ip", "nsenter", "pivot_root", "systemctl", "unshare"])
      if (spawnSync("sh", ["-c", `command -v ${program}`]).status !== 0) return program
    for (const name of ["adduser", "libatomic1", "systemd", "systemd-sysv"])
      if (!String(spawnSync("dpkg-query", ["-Wf", "${Status}", name]).stdout).endsWith("ok installed")) return name
    return spawnSync("unshare", ["-m", "-p", "-f", "-C", "-n", "true"]).status === 0 ? "" : "namespaces"
  }

  /** Starts one in an empty folder; what `shared` holds is at /mnt there. */
  static async start(folder: string, shared: string): Promise<DebianMachine> {
    const machine = new DebianMachine(folder)
    mkdirSync(folder, { recursive: true })
    const child = spawn("unshare", ["-m", "sh", "-c", grouped, folder, shared, machine.#group, boot], {
      stdio: ["ignore", "ignore", "pipe"]
    })
    machine.#unshare = child
    let printed = ""
    child.stderr.on("data", (text: Buffer) => (printed += String(text)))
    await eventually(
      () => {
        if (child.exitCode !== null) throw new Error(`the machine did not start: ${printed}`)
        machine.#first = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim())
        return machine.#first > 0 && readFileSync(`/proc/${machine.#first}/comm`, "utf8").startsWith("systemd\n")
      },
      () => `the machine starts: ${printed}`
    )
    await eventually(
      () => ["running", "degraded"].includes(machine.run("systemctl is-system-running").text.trim()),
      () => `the machine has started: ${printed}`
    )
    return machine
  }

  /** Runs a line of the shell there, with what it says on both streams. */
  run(line: string): Said {
    const { status, stderr, stdout } = spawnSync(
      "nsenter",
      ["-t", String(this.#first), "-a", "-r", "-w", "sh", "-c", line],
      {
        env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" },
        encoding: "utf8"
      }
    )
    return { status, text: stdout + stderr }
  }

  /** The same for what must succeed. */
  do(line: string): string {
    const { status, text } = this.run(line)
    if (status !== 0) throw new Error(`${line}: ${text}`)
    return text.trim()
  }

  async end() {
    const child = this.#unshare
    if (child === undefined) return
    const over = new Promise((resolve) => child.once("exit", resolve))
    if (child.exitCode === null && child.kill("SIGKILL")) await over
    // Its processes end with the first of them, a moment later.
    await eventually(() => this.#first === 0 || !readdirSync("/proc").includes(String(this.#first)), "the machine ends")
    const groups = join(this.#folder, "groups")
    mkdirSync(groups, { recursive: true })
    await eventually(
      () => spawnSync("unshare", ["-m", "sh", "-c", ungrouped, groups, this.#group]).status === 0,
      "its control groups are removed"
    )
  }
}
