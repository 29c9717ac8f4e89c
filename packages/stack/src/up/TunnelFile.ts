/**
 * A tunnel of this stack as a file in the form of `ct-agent.env`: what an agent needs to onboard once and to serve for
 * ever. The join token in it is spent by the first start; the agent's state folder takes over from there.
 */
import { Files } from "@catenet/platform/Files"
import * as PrivateFile from "@catenet/platform/PrivateFile"

export type Variables = Readonly<Record<string, string>>

export const write = (path: string, variables: Variables): void =>
  PrivateFile.replaceNow(
    path,
    Object.entries(variables)
      .map(([name, value]) => `${name}=${value}\n`)
      .join("")
  )

/** `undefined` when there is no such file. */
export const read = (path: string): Variables | undefined =>
  Files.existsSync(path)
    ? Object.fromEntries(
        Files.readFileSync(path, "utf8")
          .split("\n")
          .filter((line) => line.includes("="))
          .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)])
      )
    : undefined
