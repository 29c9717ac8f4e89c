/** What is read from the archive of a bundle, and what refuses it. */
import { makeHome } from "@catenet/testing/agent/Agent"
import { type TarEntry, tarOf } from "@catenet/testing/agent/Bundles"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import * as BundleArchive from "../../src/channel/install/BundleArchive.ts"
import * as ServiceBundle from "../../src/channel/install/ServiceBundle.ts"

const refusal = (bytes: Uint8Array) => {
  const read = BundleArchive.read(bytes)
  return Result.isFailure(read) ? read.failure : undefined
}
const pax = (path: string) => {
  const record = ` path=${path}\n`
  const length = record.length + String(record.length + 2).length
  return `${length}${record}`
}

describe("a bundle's archive", () => {
  it("is read as it is packed by the programs that people have", async () => {
    await using home = await makeHome()
    const long = "d".repeat(90)
    const folder = join(home.path, "b")
    mkdirSync(join(folder, long, long), { recursive: true })
    writeFileSync(join(folder, "run.sh"), "#!/bin/sh\n", { mode: 0o755 })
    writeFileSync(join(folder, long, long, "é.txt"), "x".repeat(1000))
    for (const format of ["ustar", "gnu", "pax"]) {
      const packed = join(home.path, `${format}.tar.gz`)
      execFileSync("tar", ["-C", folder, `--format=${format}`, "-czf", packed, "."])
      const { files } = Result.getOrThrow(BundleArchive.read(gunzipSync(readFileSync(packed))))
      assert.deepStrictEqual(
        files
          .map(({ bytes, isExecutable, path }) => [path, bytes.length, isExecutable] as const)
          .sort(([a], [b]) => (a < b ? -1 : 1)),
        [
          [`${long}/${long}/é.txt`, 1000, false],
          ["run.sh", 10, true]
        ],
        format
      )
    }
  })

  const hostile: Readonly<Record<string, readonly [ReadonlyArray<TarEntry>, string]>> = {
    "a path upwards": [[{ path: "a/../../x" }], "leads out"],
    "a path upwards in a long name": [[{ path: "l", flag: "L", text: "../x\0" }, { path: "y" }], "leads out"],
    "a path upwards in a pax header": [[{ path: "p", flag: "x", text: pax("../../x") }, { path: "y" }], "leads out"],
    "an absolute path": [[{ path: "/etc/cron.d/x" }], "absolute"],
    "a backslash": [[{ path: "..\\x" }], "backslash"],
    "a line end in a name": [[{ path: "a\nb" }], "control character"],
    "a link out": [[{ path: "l", flag: "2", link: "/etc" }, { path: "l/x" }], "holds a link"],
    "a hard link": [[{ path: "l", flag: "1", link: "../x" }], "holds a link"],
    "a device": [[{ path: "d", flag: "3" }], "neither a file nor a folder"],
    "a pipe": [[{ path: "d", flag: "6" }], "neither a file nor a folder"],
    "the agent's own file": [[{ path: "./.ct-agent-activation.json" }], "agent's own"],
    "a file twice": [[{ path: "a" }, { path: "./a" }], "twice"],
    "a file without a name": [[{ path: "./" }], "without a name"],
    "a name that is too long": [[{ path: "p", flag: "x", text: pax("n".repeat(256)) }, { path: "y" }], "too long"],
    "a path that is too long": [[{ path: "p", flag: "x", text: pax("n/".repeat(257)) }, { path: "y" }], "too long"],
    "a size beyond its end": [[{ path: "a", claims: 1_000_000 }], "ends in the middle"],
    "a damaged pax header": [[{ path: "p", flag: "x", text: "9999 path=x\n" }, { path: "y" }], "damaged pax"],
    "a pax header that never ends": [[{ path: "p", flag: "x", text: "0 a=b\n" }, { path: "y" }], "damaged pax"]
  }
  for (const [what, [entries, why]] of Object.entries(hostile))
    it(`is refused for ${what}`, () => assert.include(refusal(tarOf(entries)), why))

  it("has 4,096 entries and names of 255 bytes at most", () => {
    const many = (count: number) => tarOf(Array.from({ length: count }, (_, n) => ({ path: `f${n}` })))
    assert.isUndefined(refusal(many(BundleArchive.maxEntries)))
    assert.include(refusal(many(BundleArchive.maxEntries + 1)), "more than 4096 entries")
    const named = (path: string) => refusal(tarOf([{ path: "p", flag: "x", text: pax(path) }, { path: "y" }]))
    assert.isUndefined(named("n".repeat(255)))
    assert.isUndefined(named("n/".repeat(255) + "ab"))
  })

  it("is whole: a prefix is none, and a changed byte of a header neither", () => {
    const whole = tarOf([{ path: "a", text: "x".repeat(700) }, { path: "b" }])
    assert.isUndefined(refusal(whole))
    for (let length = 0; length < whole.length - 1024 + 512; length += 37)
      assert.isString(refusal(whole.subarray(0, length)), `${length} bytes`)
    for (let at = 0; at < 512; at++) {
      const changed = Buffer.from(whole)
      changed[at] = (changed[at] ?? 0) ^ 0x41
      const read = BundleArchive.read(changed)
      if (Result.isSuccess(read)) assert.isTrue(at >= 148 && at < 156, `byte ${at}`)
    }
  })
})

describe("a program", () => {
  const linux = { platform: "linux", arch: "x64" }
  const elf = (machine: number, big = false) => {
    const bytes = Buffer.alloc(64)
    bytes.write("\x7fELF", "latin1")
    bytes[5] = big ? 2 : 1
    if (big) bytes.writeUInt16BE(machine, 18)
    else bytes.writeUInt16LE(machine, 18)
    return bytes
  }
  const macho = Buffer.from("cffaedfe0c000001".padEnd(128, "0"), "hex")
  it("runs here when it is a script, or built for this system and processor", () => {
    assert.isUndefined(ServiceBundle.refusalOf(Buffer.from("#!/bin/sh\n"), linux))
    assert.isUndefined(ServiceBundle.refusalOf(elf(62), linux))
    assert.isUndefined(ServiceBundle.refusalOf(elf(22, true), { platform: "linux", arch: "s390x" }))
    assert.isUndefined(ServiceBundle.refusalOf(macho, { platform: "darwin", arch: "arm64" }))
    assert.isUndefined(ServiceBundle.refusalOf(Buffer.from("MZ"), { platform: "win32", arch: "x64" }))
    assert.isUndefined(ServiceBundle.refusalOf(readFileSync(process.execPath).subarray(0, 64), process))
    for (const [bytes, machine] of [
      [elf(183), linux],
      [elf(62), { platform: "darwin", arch: "x64" }],
      [macho, linux],
      [macho, { platform: "darwin", arch: "x64" }],
      [Buffer.from("MZ"), linux],
      [Buffer.from("cafebabe".padEnd(64, "0"), "hex"), linux],
      [Buffer.from("#!/bin/sh\n"), { platform: "win32", arch: "x64" }]
    ] as const)
      assert.include(ServiceBundle.refusalOf(bytes, machine), `this machine is ${machine.platform} on ${machine.arch}`)
    for (const none of ["", "text", "PK\x03\x04".padEnd(64)])
      assert.include(ServiceBundle.refusalOf(Buffer.from(none), linux), "neither a program nor a script")
  })
})
