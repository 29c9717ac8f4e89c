/** Loaded into a program before it: appends everything that it writes to any socket, within TLS too, to the file RECORD_SOCKETS. */
import { openSync, writeSync } from "node:fs"
import { Socket } from "node:net"

const file = openSync(process.env.RECORD_SOCKETS, "a")
const record = (chunk, encoding) =>
  void writeSync(file, typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk)
const { _write, _writev } = Socket.prototype

Socket.prototype._write = function (chunk, encoding, done) {
  record(chunk, encoding)
  return _write.call(this, chunk, encoding, done)
}
Socket.prototype._writev = function (chunks, done) {
  for (const { chunk, encoding } of chunks) record(chunk, encoding)
  return _writev.call(this, chunks, done)
}
