/** Looks at every port before anything is started, so that a taken one is named together with the variable that moves it. */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Effect } from "effect"
import { isFree } from "../Ports.ts"
import type { Listen } from "./Settings.ts"

const check = Effect.fnUntraced(function* ({ host, port, variable }: Listen) {
  if (yield* isFree(host, port)) return
  return yield* ConfigurationInvalid.of(
    variable,
    `wants port ${port} on ${host}, which another program uses`,
    `stop that program, or set ${variable}=${host}:<another port>`
  )
})

const collision = (listeners: ReadonlyArray<Listen>) => {
  const seen = new Map<string, string>()
  for (const { host, port, variable } of listeners) {
    const other = seen.get(`${host}:${port}`)
    if (other !== undefined) return { variable, other, host, port }
    seen.set(`${host}:${port}`, variable)
  }
  return undefined
}

export const checkPorts = Effect.fn("PortCheck.checkPorts")(function* (listeners: ReadonlyArray<Listen>) {
  const twice = collision(listeners)
  if (twice !== undefined)
    return yield* ConfigurationInvalid.of(
      twice.variable,
      `and ${twice.other} both want port ${twice.port} on ${twice.host}`,
      "give one of them another port"
    )
  yield* Effect.forEach(listeners, check, { discard: true })
})
