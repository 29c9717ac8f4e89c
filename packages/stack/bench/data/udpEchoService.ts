/** Sends each datagram back to its sender. */
import { createSocket } from "node:dgram"
import { ready } from "./Service.ts"

const socket = createSocket({ type: "udp4", recvBufferSize: 4_194_304 })
socket.on("message", (datagram, { address, port }) => socket.send(datagram, port, address))
socket.bind(0, "127.0.0.1", () => ready({ port: socket.address().port }))
