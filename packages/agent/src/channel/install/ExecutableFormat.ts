/** Whether a file is a program that this machine runs, by the first bytes of it. Pure. */

export interface Machine {
  readonly platform: string
  readonly arch: string
}

/** Numbers of ELF for the processors that Node names. */
const elf: ReadonlyMap<string, number> = new Map([
  ["x64", 62],
  ["ia32", 3],
  ["arm64", 183],
  ["arm", 40],
  ["riscv64", 243],
  ["ppc64", 21],
  ["s390x", 22],
  ["loong64", 258]
])
/** Those of Mach-O. */
const mach: ReadonlyMap<string, number> = new Map([
  ["x64", 0x0100_0007],
  ["arm64", 0x0100_000c]
])

const other = (what: string, { arch, platform }: Machine) => `is ${what}, and this machine is ${platform} on ${arch}`

/** Why it is none, as the end of a sentence; undefined for one that may be run. */
export const refusalOf = (bytes: Uint8Array, machine: Machine): string | undefined => {
  const { arch, platform } = machine
  const head = Buffer.from(bytes.subarray(0, 64))
  const isWindows = platform === "win32"
  if (head.subarray(0, 2).toString("latin1") === "#!")
    return isWindows ? other("a script for a shell", machine) : undefined
  if (head.subarray(0, 2).toString("latin1") === "MZ")
    return isWindows ? undefined : other("a program for Windows", machine)
  if (head.length < 20) return "is neither a program nor a script that begins with #!"
  if (head.subarray(0, 4).toString("latin1") === "\x7fELF") {
    const number = head[5] === 2 ? head.readUInt16BE(18) : head.readUInt16LE(18)
    const isOwn = platform !== "darwin" && !isWindows && elf.get(arch) === number
    return isOwn ? undefined : other(`a program in ELF for another system or processor (${number})`, machine)
  }
  const magic = head.readUInt32BE(0)
  // A file for several processors says so itself.
  if (magic === 0xcafe_babe || magic === 0xcafe_babf)
    return platform === "darwin" ? undefined : other("a program for macOS", machine)
  if (magic === 0xcffa_edfe)
    return platform === "darwin" && mach.get(arch) === head.readUInt32LE(4)
      ? undefined
      : other("a program for macOS or another processor of it", machine)
  return "is neither a program nor a script that begins with #!"
}
