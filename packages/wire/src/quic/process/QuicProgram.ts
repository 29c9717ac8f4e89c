/** Where the runtime and the program of the QUIC process are. Without the runtime there is no QUIC, which is no fault. */
import { Files } from "@catenet/platform/Files"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** The runtime's packages by platform and architecture; the one that `package.json` names is installed, others by hand. */
const packages: ReadonlyMap<string, string> = new Map([
  ["darwin-arm64", "@deno/darwin-arm64"],
  ["darwin-x64", "@deno/darwin-x64"],
  ["linux-arm64", "@deno/linux-arm64-glibc"],
  ["linux-x64", "@deno/linux-x64-glibc"],
  ["win32-arm64", "@deno/win32-arm64"],
  ["win32-x64", "@deno/win32-x64"]
])

export interface QuicProgram {
  readonly runtime: string
  readonly main: string
  /** Where the runtime finds the packages that a program in sources imports. */
  readonly folder: string
}

/** In a published program the file stands beside the bundle. */
const mainFile = import.meta.url.endsWith(".ts") ? "../side/main.ts" : "./quic.js"

export const find = (): QuicProgram | undefined => {
  const name = packages.get(`${process.platform}-${process.arch}`)
  if (name === undefined) return undefined
  try {
    const main = fileURLToPath(new URL(mainFile, import.meta.url))
    const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
    const runtime = join(folder, process.platform === "win32" ? "deno.exe" : "deno")
    return Files.existsSync(runtime) && Files.existsSync(main) ? { runtime, main, folder: dirname(main) } : undefined
  } catch {
    return undefined
  }
}
