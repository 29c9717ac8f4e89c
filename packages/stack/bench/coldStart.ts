/** From the start of the command to the first 200: of the whole platform, and of the programs as one file each. */
import { Stack } from "@catenet/testing/stack/e2e/Stack"
import { serves } from "@catenet/testing/stack/e2e/Visitor"
import { existsSync } from "node:fs"
import type { Row } from "./Report.ts"

const within = 60_000

const untilServed = async (stack: Stack) => {
  const from = performance.now()
  const up = stack.up()
  while (!existsSync(stack.path("development-root.pem"))) await new Promise((resolve) => setTimeout(resolve, 10))
  await serves({ host: "hello.localhost", port: stack.ports.frontDoor, ca: stack.root }, within)
  const served = performance.now() - from
  await up
  return served / 1000
}

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const stack = await Stack.make()
  try {
    const first = await untilServed(stack)
    await stack.down()
    const second = await untilServed(stack)
    return [
      { name: "first start to the first 200 through the tunnel", value: first, unit: "s" },
      { name: "second start", value: second, unit: "s", ratio: second / first, against: "the first" }
    ]
  } finally {
    await stack.dispose()
  }
}
