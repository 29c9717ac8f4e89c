/** The old version waits for the new one in a process of its own, and takes its place again whatever the new one fails at. */
import { eventually } from "@catenet/testing/Eventually"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { assert, describe, it } from "vitest"
import { placesOf, type Trial } from "../../src/update/TrialFiles.ts"
import { temporaryFolders } from "../harness/TemporaryFolders.ts"
import { programOf } from "./ReleaseServer.ts"

const newFolder = temporaryFolders("catenet-parent-")

const parent = pathToFileURL(join(import.meta.dirname, "../../src/update/TrialParent.ts")).href

/** What a version does that has registered: it takes the place of the program, and serves until it is stopped. */
const registers = `mv .ct-agent.next ct-agent; rm .ct-agent.trial; echo registered; trap 'echo drained; exit 5' TERM; while :; do sleep 0.05; done`

class Machine implements AsyncDisposable {
  readonly folder = newFolder()
  readonly path = join(this.folder, "ct-agent")
  readonly places = placesOf(this.path)
  printed = ""
  #child: ChildProcess | undefined

  constructor(content: string | Uint8Array, layout: "next" | "old" = "next", seconds = 20) {
    writeFileSync(layout === "next" ? this.path : this.places.old, programOf("1.0.0"), { mode: 0o755 })
    writeFileSync(layout === "next" ? this.places.next : this.path, content, { mode: 0o755 })
    this.note({ seconds })
  }

  note(more: Partial<Trial>) {
    const trial = { from: "1.0.0", to: "1.1.0", digest: "aa", seconds: 20, starts: 1, said: false, ...more }
    writeFileSync(this.places.trial, JSON.stringify(trial))
  }

  get failed(): string {
    return JSON.parse(readFileSync(this.places.trial, "utf8")).failed
  }

  left = () => readdirSync(this.folder).sort()

  start() {
    const line = `import(${JSON.stringify(parent)}).then(({ supervise }) => supervise(${JSON.stringify(this.path)}, ["--config", "a b"]))`
    const child = spawn(process.execPath, ["-e", line], { cwd: this.folder, stdio: ["ignore", "pipe", "ignore"] })
    this.#child = child
    child.stdout.on("data", (text: Buffer) => (this.printed += String(text)))
    return child
  }

  async run() {
    const [code] = (await once(this.start(), "close")) as [number | null]
    return { code, printed: this.printed }
  }

  async [Symbol.asyncDispose]() {
    if (this.#child?.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill("SIGTERM")
      await once(this.#child, "close")
    }
  }
}

/** The old version says its version, which is all that it does here. */
const old = { code: 0, printed: "ct-agent 1.0.0\n" }

describe.skipIf(process.platform === "win32")("the parent of a version on trial", () => {
  const failures: ReadonlyArray<readonly [string, string | Uint8Array, RegExp]> = [
    ["throws while it loads", "#!/bin/sh\nexit 1\n", /^ended with 1 before it had registered$/u],
    ["ends with a code that keeps a manager from starting it", "#!/bin/sh\nexit 3\n", /^ended with 3 before/u],
    ["ends at once, as if all were well", "#!/bin/sh\nexit 0\n", /^ended with 0 before/u],
    ["is killed", "#!/bin/sh\nkill -SEGV $$\n", /^ended with SIGSEGV before/u],
    ["is no program", new Uint8Array(4096).fill(0x81), /^(?:ended with \d+ before|does not start)/u],
    [
      "is a program of which a part is there",
      readFileSync(process.execPath).subarray(0, 500_000),
      /^(?:ended|does not)/u
    ]
  ]
  for (const layout of ["next", "old"] as const)
    for (const [name, content, how] of failures)
      it.concurrent(`is the old version again when the new one ${name}, which waits as ${layout}`, async () => {
        await using machine = new Machine(content, layout)
        assert.deepStrictEqual(await machine.run(), old)
        assert.match(machine.failed, how)
        assert.deepStrictEqual(machine.left(), [".ct-agent.trial", "ct-agent"])
        assert.strictEqual(readFileSync(machine.path, "utf8"), String(programOf("1.0.0")))
      })

  it.skipIf(process.platform !== "linux")(
    "is the old version again when the system does not run a file that is being written",
    async () => {
      await using machine = new Machine(programOf("1.1.0"))
      await using _written = await open(machine.places.next, "r+")
      assert.deepStrictEqual(await machine.run(), old)
      assert.match(machine.failed, /^does not start: .*ETXTBSY/u)
    }
  )

  it.concurrent(
    "is the old version again when the new one hangs, even if it does not end when it is asked to",
    async () => {
      await using machine = new Machine("#!/bin/sh\necho hangs; exec sleep 60\n", "next", 1)
      const { code, printed } = await machine.run()
      assert.deepStrictEqual([code, printed], [0, "hangs\nct-agent 1.0.0\n"])
      assert.strictEqual(machine.failed, "did not register within 1 s")
    }
  )

  it.concurrent("waits for a version that has registered, passes a signal on, and ends as it does", async () => {
    await using machine = new Machine(`#!/bin/sh\necho "$@"; ${registers}\n`)
    const child = machine.start()
    await eventually(
      () => machine.printed === "--config a b\nregistered\n",
      () => machine.printed
    )
    assert.deepStrictEqual(machine.left(), ["ct-agent"])
    child.kill("SIGTERM")
    assert.deepStrictEqual(await once(child, "close"), [5, null])
    assert.include(machine.printed, "drained")
  })

  it.concurrent("keeps a hang-up for a version that does not listen yet until it has registered", async () => {
    const waits = `echo up; while [ ! -e go ]; do sleep 0.05; done; trap 'echo looks' HUP`
    await using machine = new Machine(`#!/bin/sh\n${waits}; ${registers}\n`)
    const child = machine.start()
    await eventually(() => machine.printed === "up\n", "it is up")
    child.kill("SIGHUP")
    child.kill("SIGHUP")
    writeFileSync(join(machine.folder, "go"), "")
    await eventually(
      () => machine.printed === "up\nregistered\nlooks\n",
      () => machine.printed
    )
    child.kill("SIGHUP")
    await eventually(
      () => machine.printed.endsWith("looks\nlooks\n"),
      () => machine.printed
    )
    assert.isNull(child.exitCode)
  })

  it.concurrent("counts a stop that is asked for as no failure", async () => {
    await using machine = new Machine("#!/bin/sh\ntrap 'exit 143' TERM; echo up; while :; do sleep 0.05; done\n")
    const child = machine.start()
    await eventually(() => machine.printed === "up\n", "it is up")
    child.kill("SIGTERM")
    assert.deepStrictEqual(await once(child, "close"), [143, null])
    assert.isUndefined(machine.failed)
    assert.isTrue(existsSync(machine.places.next))
  })

  it.concurrent("gives up what failed in another process of the machine", async () => {
    await using machine = new Machine("#!/bin/sh\necho up; exec sleep 60\n")
    const child = machine.start()
    await eventually(() => machine.printed === "up\n", "it is up")
    machine.note({ failed: "ended with 1 before it had registered" })
    assert.deepStrictEqual(await once(child, "close"), [0, null])
    assert.strictEqual(machine.printed, "up\nct-agent 1.0.0\n")
  })

  it.concurrent("is the program at once where nothing is on trial", async () => {
    await using failed = new Machine(programOf("1.1.0"))
    failed.note({ failed: "ended" })
    assert.deepStrictEqual(await failed.run(), old)
    await using broken = new Machine(programOf("1.1.0"))
    writeFileSync(broken.places.trial, "{")
    assert.deepStrictEqual(await broken.run(), old)
  })
})
