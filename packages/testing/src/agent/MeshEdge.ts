/** Lets mesh clients in at an edge for tests: the rendezvous with its proof of work, then a raw pipe to the agent. */
import { native } from "@catenet/crypto/native"
import * as ProofOfWork from "@catenet/crypto/ProofOfWork"
import { challengeClient } from "@catenet/wire/transport/MeshRendezvous"
import { splice } from "@catenet/wire/transport/Splice"
import { Result } from "effect"
import { randomBytes } from "node:crypto"
import type { Duplex } from "node:stream"

const difficulty = 8

/** Serves one client whose role byte has been read. */
export const serveClient = async (socket: Duplex, open: (token: string) => Promise<Duplex | undefined>) => {
  const challenge = { nonce: randomBytes(16), difficulty }
  const answer = Result.getOrUndefined(await challengeClient(socket, challenge))
  const routingToken = answer?.token
  const holds =
    answer !== undefined &&
    routingToken !== undefined &&
    ProofOfWork.solves(native, challenge, { solution: answer.solution, routingToken })
  const agent = holds ? await open(Buffer.from(routingToken).toString("hex")) : undefined
  if (agent === undefined) return void socket.destroy()
  await splice(socket, agent)
}
