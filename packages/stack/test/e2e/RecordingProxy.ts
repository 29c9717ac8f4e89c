/** Stands between a program and a server, and keeps every byte that goes from one to the other. */
import { netOrigin, type Origin } from "@catenet/testing/stack/e2e/Origins"
import { connect, type Socket } from "node:net"

export interface RecordingProxy extends Origin {
  readonly bytes: () => Buffer
}

export const recordingProxy = async (port: number): Promise<RecordingProxy> => {
  const chunks: Array<Buffer> = []
  const copy = (from: Socket, to: Socket) => {
    from.on("data", (chunk: Buffer) => {
      chunks.push(chunk)
      if (!to.write(chunk)) from.pause()
    })
    to.on("drain", () => from.resume())
    from.once("end", () => to.end())
    from.once("error", () => to.destroy())
    from.once("close", () => to.destroySoon())
  }
  const origin = await netOrigin((socket) => {
    const server = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true })
    copy(socket, server)
    copy(server, socket)
  })
  return { ...origin, bytes: () => Buffer.concat(chunks) }
}
