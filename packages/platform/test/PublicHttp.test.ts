import { assert, describe, it } from "@effect/vitest"
import { isPublic } from "../src/PublicHttp.ts"

describe("addresses that may be called", () => {
  it("are those of the public internet", () => {
    for (const address of ["1.1.1.1", "9.9.9.9", "172.15.255.255", "172.32.0.0", "2606:4700::1111", "2a00:1450::1"]) {
      assert.isTrue(isPublic(address), address)
    }
  })

  it("are not local, private, shared, link-local, metadata, multicast, reserved, translated or none", () => {
    for (const address of [
      "0.0.0.0",
      "10.0.0.1",
      "100.64.0.1",
      "127.0.0.1",
      "127.255.255.254",
      "169.254.169.254",
      "172.16.0.1",
      "172.31.255.255",
      "192.0.0.192",
      "192.168.1.1",
      "198.18.0.1",
      "203.0.113.9",
      "224.0.0.1",
      "255.255.255.255",
      "::",
      "::1",
      "::ffff:8.8.8.8",
      "::ffff:127.0.0.1",
      "64:ff9b::7f00:1",
      "fc00::1",
      "fd00:ec2::254",
      "fe80::1",
      "fe80::1%eth0",
      "ff02::1",
      "2001::1",
      "2001:db8::1",
      "2002:7f00:1::",
      "3fff::1",
      "100::1",
      "",
      "localhost",
      "1.1.1",
      "0x7f.1",
      "2606:4700::1111%1"
    ]) {
      assert.isFalse(isPublic(address), address)
    }
  })
})
