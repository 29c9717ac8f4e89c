/** ClientHellos as bytes. */
import { Duplex } from "node:stream"
import { connect } from "node:tls"

/** The bytes of a ClientHello for `servername`, as a client sends them before any answer. */
export const helloFor = (servername: string, alpn: ReadonlyArray<string> = []) =>
  new Promise<Buffer>((resolve) => {
    const wire = new Duplex({
      read() {},
      write(chunk: Buffer) {
        resolve(chunk)
      }
    })
    const protocols = alpn.length === 0 ? {} : { ALPNProtocols: [...alpn] }
    connect({ socket: wire, servername, ...protocols }).on("error", () => undefined)
  })

/** The same hello with one more, empty extension at its end. */
export const withExtension = (hello: Buffer, type: number): Buffer => {
  const longer = Buffer.concat([hello, Buffer.of(type >> 8, type & 0xff, 0, 0)])
  const session = 5 + 4 + 2 + 32
  const suites = session + 1 + hello.readUInt8(session)
  const compressions = suites + 2 + hello.readUInt16BE(suites)
  const extensions = compressions + 1 + hello.readUInt8(compressions)
  for (const [at, size] of [
    [3, 2],
    [6, 3],
    [extensions, 2]
  ] as const) {
    longer.writeUIntBE(hello.readUIntBE(at, size) + 4, at, size)
  }
  return longer
}
