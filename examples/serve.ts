/** A program that answers at a public address of its own, without a second process and without a port. */
import { serve } from "@catenet/agent/promise"
import { once } from "node:events"

const { CONTROL_PLANE = "", STATE_DIR, TOKEN } = process.env
await using tunnel = await serve(() => new Response("hello from this program\n"), {
  controlPlane: CONTROL_PLANE,
  credentials: { token: TOKEN },
  name: "hello",
  stateDir: STATE_DIR
})
console.log(tunnel.url)
await once(process, "SIGTERM")
