/**
 * How long each program takes to stop while a thousand clients keep their connections busy, and how many of them are cut off:
 * median and longest of ten. `CATENET_BENCH_CLIENTS` and `CATENET_BENCH_ROUNDS` set others.
 */
import { eventually } from "@catenet/testing/Eventually"
import { catenet, endsWithUs, freePorts, type Spawned } from "@catenet/testing/stack/e2e/Stack"
import * as IdentityProvider from "../test/service/IdentityProvider.ts"
import * as Surroundings from "./api/Surroundings.ts"
import * as BusyClients from "./BusyClients.ts"
import { Relay } from "./data/Relay.ts"
import type { Aim } from "./Load.ts"
import { median, type Row } from "./Report.ts"

const clients = Number(process.env["CATENET_BENCH_CLIENTS"] ?? 1000)
const rounds = Number(process.env["CATENET_BENCH_ROUNDS"] ?? 10)

interface Started {
  readonly program: Spawned
  readonly aim: Aim
  readonly path: string
  readonly dispose: () => Promise<void> | void
}

const identityProvider = async (): Promise<Started> => {
  const provider = await IdentityProvider.start()
  return {
    program: provider.program,
    aim: { port: provider.port },
    path: provider.path,
    dispose: async () => provider[Symbol.asyncDispose]()
  }
}

const controlPlane =
  ({ keyPath }: Surroundings.Surroundings, database: string) =>
  async (): Promise<Started> => {
    const { controlPlane: port } = await freePorts()
    const program = catenet(["serve"], {
      ...endsWithUs,
      CT_CONTROL_PLANE_LISTEN: `127.0.0.1:${port}`,
      CT_CP_DATABASE_URL: database,
      CT_CP_SEAL_KEY: "5e".repeat(32),
      CT_CP_EDGE_ADMIN_TOKEN: Surroundings.adminToken,
      CT_CP_REQUESTS_PER_MIN: "1000000",
      CT_OIDC_ISSUER: Surroundings.issuer,
      CT_OIDC_ACCESS_AUD: Surroundings.audience,
      CT_OIDC_PUBKEY_PATH: keyPath
    })
    const isUp = () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false
      )
    await eventually(isUp, "the control plane", 60_000)
    return { program, aim: { port }, path: "/status", dispose: () => {} }
  }

const edge = async (): Promise<Started> => {
  const relay = await Relay.make({ ...endsWithUs, CT_EDGE_SHUTDOWN_GRACE_SECS: "30" })
  const tunnel = await relay.tunnel("drain", "gelb")
  await relay.agent(tunnel, relay.ports.frontDoor, { CT_AGENT_ORIGIN: `127.0.0.1:${relay.origin.said.plain}` })
  return { program: relay.edge, aim: tunnel.aim, path: "/", dispose: () => relay.dispose() }
}

const measured = async (name: string, start: () => Promise<Started>): Promise<ReadonlyArray<Row>> => {
  const millis: Array<number> = []
  let cut = 0
  for (let round = 0; round < rounds; round++) {
    const { aim, dispose, path, program } = await start()
    try {
      const { ended, ends } = await BusyClients.busy(aim, path, clients)
      const before = performance.now()
      await program.stop()
      millis.push(performance.now() - before)
      await ended
      for (const [how, count] of ends) if (how !== "asked to close") cut += count
    } finally {
      await program.stop("SIGKILL")
      await dispose()
    }
    process.stderr.write(`${name}: ${round + 1} of ${rounds}\r`)
  }
  return [
    { name: `${name}: stop, median`, value: median(millis), unit: "ms" },
    { name: `${name}: stop, longest`, value: Math.max(...millis), unit: "ms" },
    { name: `${name}: clients cut off`, value: cut, unit: `of ${clients * rounds}` }
  ]
}

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const surroundings = await Surroundings.make()
  try {
    const database = await surroundings.database("drain")
    return [
      ...(await measured("control plane", controlPlane(surroundings, database))),
      ...(await measured("identity provider", identityProvider)),
      ...(await measured("edge", edge))
    ]
  } finally {
    await surroundings.dispose()
  }
}
