/**
 * One update against hosts that are honest, hostile or broken: what does not verify is refused and nothing is written.
 * One file, since all cases are one attempt of the same update by another host.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Logger } from "effect"
import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import * as UpdateState from "../../src/observe/UpdateState.ts"
import * as ExecutableFile from "../../src/update/ExecutableFile.ts"
import * as Update from "../../src/update/Update.ts"
import { temporaryFolders } from "../harness/TemporaryFolders.ts"
import { asset, keyOf, programOf, release, ReleaseServer, sha256, sign } from "./ReleaseServer.ts"

const newFolder = temporaryFolders("catenet-update-")

const bounds = { connect: 500, whole: 700 }

const machine = (version = "1.0.0") => {
  const folder = newFolder()
  const path = join(folder, "ct-agent")
  writeFileSync(path, programOf(version), { mode: 0o755 })
  const left = () =>
    readdirSync(folder)
      .filter((name) => !name.endsWith(".lock"))
      .sort()
  return {
    folder,
    path,
    program: Effect.runSync(Effect.provide(ExecutableFile.make(path), NodeFileSystem.layer)),
    left,
    runs: () => readFileSync(path, "utf8")
  }
}

const update = async (
  host: { readonly url: string },
  { path, program }: Pick<ReturnType<typeof machine>, "path" | "program">,
  more: {
    readonly keys?: ReadonlyArray<string>
    readonly skipChecksum?: boolean
    readonly running?: string
    readonly byHand?: boolean
    readonly asset?: string
  } = {}
) => {
  assert.isNotEmpty(path)
  const state = UpdateState.initial()
  const source = { url: host.url, keys: [keyOf(7)], skipChecksum: false, asset, bounds, ...more }
  const run = Update.run({
    source,
    program,
    running: more.running ?? "1.0.0",
    state,
    byHand: more.byHand ?? false,
    trialSeconds: 120
  })
  const logged: Array<string> = []
  const logger = Logger.make(({ message }) => void logged.push(String(message)))
  const said = await Effect.runPromise(
    Effect.match(run, { onFailure: ({ reason, step }) => `${step}: ${reason}`, onSuccess: (version) => version }).pipe(
      Effect.provide([NodeFileSystem.layer, Logger.layer([logger])])
    )
  )
  return { said, words: UpdateState.describe(state, 0), logged: logged.filter((line) => line.includes("SKIP_VERIFY")) }
}

describe.skipIf(process.platform === "win32")("an update", () => {
  it("puts a newer release beside the program, where it is tried, and fetches it once for all agents of the machine", async () => {
    await using host = await ReleaseServer.start()
    const here = machine()
    host.offer("1.1.0")
    const { said, words } = await update(host, here)
    assert.deepStrictEqual([said, words], ["1.1.0", "applied 1.1.0, restarting"])
    assert.deepStrictEqual(here.left(), [".ct-agent.next", ".ct-agent.trial", "ct-agent"])
    assert.strictEqual(here.runs(), String(programOf("1.0.0")))
    assert.strictEqual(readFileSync(here.program.places.next, "utf8"), String(programOf("1.1.0")))
    assert.deepStrictEqual(host.asked.slice(2), [
      `1.1.0/${asset}.sha256`,
      "1.1.0/release-manifest.json",
      "1.1.0/release-manifest.sig",
      `1.1.0/${asset}`
    ])
    host.asked.length = 0
    // Another agent that runs the same file waits until the trial is over, and finds it in place then.
    const waits = "apply: version 1.1.0 is on trial in another agent of this machine"
    assert.strictEqual((await update(host, here)).said, waits)
    const trial = await Effect.runPromise(here.program.readTrial)
    if (trial !== undefined) await Effect.runPromise(here.program.confirm(trial))
    assert.strictEqual((await update(host, here)).said, "1.1.0")
    assert.notInclude(host.asked, `1.1.0/${asset}`)
    assert.deepStrictEqual([here.left(), here.runs()], [["ct-agent"], String(programOf("1.1.0"))])
  })

  it("fetches again what was on trial for longer than a trial lasts", async () => {
    await using host = await ReleaseServer.start()
    const here = machine()
    host.offer("1.1.0")
    await update(host, here)
    const { mtimeMs } = statSync(here.program.places.trial)
    const before = mtimeMs / 1000 - 181
    utimesSync(here.program.places.trial, before, before)
    assert.strictEqual((await update(host, here)).said, "1.1.0")
  })

  it("puts it in the place of the program at once when a person asks, and keeps the old one", async () => {
    await using host = await ReleaseServer.start()
    const here = machine()
    host.offer("1.1.0")
    assert.strictEqual((await update(host, here, { byHand: true })).said, "1.1.0")
    assert.strictEqual(here.runs(), String(programOf("1.1.0")))
    assert.deepStrictEqual(here.left(), [".ct-agent.old", ".ct-agent.trial", "ct-agent"])
    assert.strictEqual(readFileSync(here.program.places.old, "utf8"), String(programOf("1.0.0")))
  })

  it("takes no release that is the same or older, and says that it is up to date", async () => {
    for (const version of ["1.0.0", "0.9.9", "1.0", "v1.0.0"]) {
      await using host = await ReleaseServer.start()
      const here = machine()
      host.offer(version.replace("v", ""), release(version.replace("v", "")))
      const { said, words } = await update(host, here)
      assert.deepStrictEqual([said, words], [undefined, "up-to-date (1.0.0)"], version)
      assert.deepStrictEqual(here.left(), ["ct-agent"])
      assert.strictEqual(host.asked.length, 2, "nothing but the list is fetched")
    }
  })

  const other = Buffer.from("#!/bin/sh\necho evil\n")
  const hang = () => undefined
  /** Writes until the other side has gone: what is written after that calls back at once, for ever. */
  const endless = (bytes: Buffer | string) => (response: ServerResponse) => {
    const more = () => void (response.destroyed || response.write(bytes, () => setImmediate(more)))
    more()
  }
  const cases: ReadonlyArray<
    readonly [name: string, why: RegExp, arrange: (host: ReleaseServer) => void, more?: Parameters<typeof update>[2]]
  > = [
    ["no release", /^check: \S+ has no signed release$/u, () => undefined],
    ["no key", /^check: this build has no release key/u, (host) => host.offer("1.1.0"), { keys: [] }],
    ["a key that is none", /^check: .*none of the pinned keys$/u, (host) => host.offer("1.1.0"), { keys: ["zz"] }],
    ["another key", /signed by none of the pinned keys$/u, (host) => host.offer("1.1.0", release("1.1.0", { by: 8 }))],
    [
      "no signature",
      /no signed manifest$/u,
      (host) => {
        host.offer("1.1.0")
        host.files.delete("latest/release-manifest.sig")
      }
    ],
    [
      "no signature of the version",
      /no signed manifest$/u,
      (host) => {
        host.offer("1.1.0")
        host.files.delete("1.1.0/release-manifest.sig")
      }
    ],
    [
      "a manifest of another release",
      /that of another release$/u,
      (host) => {
        host.offer("1.1.0")
        for (const [name, file] of Object.entries(release("1.2.0"))) host.files.set(`1.1.0/${name}`, file)
      }
    ],
    [
      "an older program under the newer version",
      /not agree with the manifest$/u,
      (host) => {
        host.offer("1.1.0")
        host.files.set(`1.1.0/${asset}.sha256`, sha256(programOf("1.0.1")))
      }
    ],
    [
      "another program",
      /^apply: the program is not the one that the manifest lists$/u,
      (host) => {
        host.offer("1.1.0")
        host.files.set(`1.1.0/${asset}`, other)
      }
    ],
    [
      "another program with its own checksum",
      /not agree with the manifest$/u,
      (host) => {
        host.offer("1.1.0")
        host.files.set(`1.1.0/${asset}`, other)
        host.files.set(`1.1.0/${asset}.sha256`, sha256(other))
      }
    ],
    [
      "another program without the checksum file",
      /^apply: .*not the one that the manifest lists$/u,
      (host) => {
        host.offer("1.1.0")
        host.files.set(`1.1.0/${asset}`, other)
      },
      { skipChecksum: true }
    ],
    [
      "no checksum file",
      /missing, or does not agree/u,
      (host) => {
        host.offer("1.1.0")
        host.files.delete(`1.1.0/${asset}.sha256`)
      }
    ],
    [
      "a checksum file without a digest",
      /missing, or does not agree/u,
      (host) => {
        host.offer("1.1.0")
        host.files.set(`1.1.0/${asset}.sha256`, "<html>")
      }
    ],
    [
      "the program of another system",
      /no program for this system$/u,
      (host) => host.offer("1.1.0", release("1.1.0", { assets: { "ct-agent-darwin-aarch64": "00".repeat(32) } }))
    ],
    [
      "a system without releases",
      /^check: there are no releases for/u,
      (host) => host.offer("1.1.0"),
      { asset: undefined as never }
    ],
    [
      "a program that is not there",
      /^apply: .*does not have it$/u,
      (host) => {
        host.offer("1.1.0")
        host.files.delete(`1.1.0/${asset}`)
      }
    ],
    [
      "a program that does not run",
      /^apply: version 1\.1\.0 does not run on this machine$/u,
      (host) => host.offer("1.1.0", release("1.1.0", { content: Buffer.from("#!/bin/sh\nexit 1\n") }))
    ],
    [
      "a program of another version",
      /^apply: version 1\.1\.0 does not run on this machine$/u,
      (host) => host.offer("1.1.0", release("1.1.0", { content: programOf("1.0.9") }))
    ],
    [
      "a tag that is no version",
      /no version of numbers$/u,
      (host) => host.offer("../../x", release("1.1.0", { tag: "../../x" }))
    ],
    [
      "a manifest that is no JSON",
      /cannot be read$/u,
      (host) => host.offer("1.1.0", release("1.1.0", { manifest: Buffer.from("{") }))
    ],
    [
      "a manifest that is too long",
      /is longer than 262144 bytes$/u,
      (host) => {
        host.offer("1.1.0")
        host.files.set("latest/release-manifest.json", Buffer.alloc(262_145))
      }
    ],
    [
      "a manifest without an end",
      /is longer than 262144 bytes$/u,
      (host) => host.files.set("latest/release-manifest.json", endless(Buffer.alloc(65_536)))
    ],
    [
      "a checksum file that is too long",
      /is longer than 65536 bytes$/u,
      (host) => {
        host.offer("1.1.0")
        host.files.set(`1.1.0/${asset}.sha256`, Buffer.alloc(65_537))
      }
    ],
    [
      "a program that is said to be too long",
      /is longer than 268435456 bytes$/u,
      (host) => {
        host.offer("1.1.0")
        host.files.set(`1.1.0/${asset}`, (response) => {
          response.writeHead(200, { "content-length": "268435457" }).write("x")
        })
      }
    ],
    [
      "a program that is cut off",
      /ended before it was whole$/u,
      (host) => {
        host.offer("1.1.0")
        host.files.set(`1.1.0/${asset}`, (response) => {
          response.writeHead(200, { "content-length": "1000" }).write("x")
          setImmediate(() => response.destroy())
        })
      }
    ],
    [
      "a host that never answers",
      /not received within 0\.7 s: the host or the line is too slow/u,
      (host) => {
        host.offer("1.1.0")
        host.files.set(`1.1.0/${asset}`, hang)
      }
    ],
    [
      "a host that drips",
      /not received within 0\.7 s/u,
      (host) => {
        host.offer("1.1.0")
        host.files.set(`1.1.0/${asset}`, endless("x"))
      }
    ],
    [
      "a host that leads elsewhere",
      /answered 302$/u,
      (host) => {
        host.files.set("latest/release-manifest.json", (response) => {
          response.writeHead(302, { location: "/releases/1.1.0/release-manifest.json" }).end()
        })
      }
    ],
    [
      "a host that fails",
      /answered 500$/u,
      (host) => {
        host.files.set("latest/release-manifest.json", (response) => void response.writeHead(500).end())
      }
    ]
  ]
  for (const [name, why, arrange, more] of cases)
    it.concurrent(`refuses ${name}, and writes nothing`, async () => {
      await using host = await ReleaseServer.start()
      const here = machine()
      arrange(host)
      const { said, words } = await update(host, here, more)
      assert.match(String(said), why)
      assert.strictEqual(words, String(said).replace(/^(check|apply): /u, "$1 failed: "))
      assert.deepStrictEqual([here.left(), here.runs()], [["ct-agent"], String(programOf("1.0.0"))])
    })

  it("says so when nothing listens there", async () => {
    const here = machine()
    const { said } = await update({ url: "http://127.0.0.1:9/releases" }, here)
    assert.match(String(said), /^check: http:\S+ is not received: .*ECONNREFUSED/u)
  })

  it("is signed by a key of two while the key is rotated", async () => {
    await using host = await ReleaseServer.start()
    host.offer("1.1.0", release("1.1.0", { by: 8 }))
    const here = machine()
    assert.strictEqual((await update(host, here, { keys: [keyOf(7), keyOf(8)] })).said, "1.1.0")
  })

  it("leaves out the checksum file, and only that, when it is said to, and says so each time", async () => {
    await using host = await ReleaseServer.start()
    host.offer("1.1.0")
    host.files.delete(`1.1.0/${asset}.sha256`)
    for (const here of [machine(), machine()]) {
      const { logged, said } = await update(host, here, { skipChecksum: true })
      assert.strictEqual(said, "1.1.0")
      assert.lengthOf(logged, 1)
    }
    host.offer("1.1.0")
    assert.deepStrictEqual((await update(host, machine())).logged, [])
    host.files.delete(`1.1.0/${asset}.sha256`)
    const manifest = Buffer.from("{}")
    host.files.set("latest/release-manifest.json", manifest)
    const unsigned = await update(host, machine(), { skipChecksum: true })
    assert.match(String(unsigned.said), /none of the pinned keys$/u)
    host.files.set("latest/release-manifest.sig", sign(7, manifest))
    assert.match(String((await update(host, machine(), { skipChecksum: true })).said), /cannot be read$/u)
  })

  it("does not try a version again that did not register, unless a person asks", async () => {
    await using host = await ReleaseServer.start()
    host.offer("1.1.0")
    const here = machine()
    await update(host, here)
    const trial = await Effect.runPromise(here.program.readTrial)
    assert.isDefined(trial)
    if (trial !== undefined) await Effect.runPromise(here.program.rollBack(trial, "ended"))
    assert.strictEqual(here.runs(), String(programOf("1.0.0")))
    assert.match(
      String((await update(host, here)).said),
      /^apply: version 1\.1\.0 did not register on this machine before/u
    )
    assert.strictEqual(here.runs(), String(programOf("1.0.0")))
    host.offer("1.1.1")
    assert.strictEqual((await update(host, here)).said, "1.1.1")
    const again = machine()
    await update(host, again)
    const second = await Effect.runPromise(again.program.readTrial)
    if (second !== undefined) await Effect.runPromise(again.program.rollBack(second, "ended"))
    assert.strictEqual((await update(host, again, { byHand: true })).said, "1.1.1")
  })

  it("is done by one process of a machine at a time", async () => {
    await using host = await ReleaseServer.start()
    host.offer("1.1.0")
    const here = machine()
    const answers = await Promise.all(Array.from({ length: 4 }, () => update(host, here)))
    const said = answers.map((each) => String(each.said))
    assert.include(said, "1.1.0")
    for (const each of said)
      assert.match(
        each,
        /^1\.1\.0$|another process of this machine updates the program now$|is on trial in another agent/u
      )
    assert.strictEqual(here.runs(), String(programOf("1.0.0")))
    assert.strictEqual(readFileSync(here.program.places.next, "utf8"), String(programOf("1.1.0")))
  })
})
