/** What OpenSSL says of keys, requests and servers, where it is installed. */
import { spawn, spawnSync } from "node:child_process"
import { text } from "node:stream/consumers"

export const isInstalled = spawnSync("openssl", ["version"]).status === 0
if (!isInstalled)
  process.stderr.write("\nSKIPPED: there is no `openssl` on PATH, so keys and requests are not checked.\n\n")

/** What it prints, on both of its outputs. */
export const openssl = async (args: ReadonlyArray<string>, input: string | Buffer = ""): Promise<string> => {
  const child = spawn("openssl", args, { stdio: ["pipe", "pipe", "pipe"] })
  child.stdin.on("error", () => undefined).end(input)
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  return `${out}\n${err}`
}
