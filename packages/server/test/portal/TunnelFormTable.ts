/** The forms of tunnels with their fields, as `FormTable.ts` has the others. */
import { grantBy } from "@catenet/testing/server/channels/ChannelsKeys"
import type { Place, Table } from "./FormTable.ts"
import { button, emails, hex, hex64, longestEmail, names, numbers, toggle } from "./FormValues.ts"

export const tunnelForms = ({ channel }: Place) => {
  const hook = "https://a.example/hook"
  const alert = { webhook_url: hook, threshold_minutes: "5" }
  const week = { expiry_mode: "none", schedule: "1", day0: "1", start: "08:00", end: "18:00", tz_offset: "0" }
  const manifest = { manifest_location: "https://a.example/m", project_name: "shop" }
  const addresses = (longest: number) => [
    "",
    "x",
    "http://a.example/",
    "ftp://a.example/",
    `https://a.example/${"x".repeat(longest)}`
  ]
  return {
    "/portal/tunnels": {
      ways: [
        { given: { name: "one" }, refuses: { name: names(60) }, accepts: { name: ["n", "ü".repeat(60)] } },
        { given: { name: "of a kind" }, refuses: {}, accepts: { kind: ["tls"] } }
      ],
      free: ["kind"]
    },
    // What it acts on is ticked in the list.
    "/portal/tunnels/bulk": { ways: [], free: ["action", "confirm"] },
    "/portal/tunnels/:id/rename": {
      ways: [{ given: { name: "new" }, refuses: { name: names(60) }, accepts: { name: ["n", "x".repeat(60)] } }]
    },
    "/portal/tunnels/:id/delete": button,
    "/portal/tunnels/:id/install": {
      ways: [{ given: { port: "80" }, refuses: { port: numbers(1, 65_535) }, accepts: { port: ["1", "65535"] } }]
    },
    "/portal/tunnels/:id/require-login": toggle,
    "/portal/tunnels/:id/allow-any-login": toggle,
    "/portal/tunnels/:id/unproved-agents": toggle,
    "/portal/tunnels/:id/options/:option": toggle,
    "/portal/tunnels/:id/login-allowlist": {
      ways: [{ given: { email: "a@b.example" }, refuses: { email: emails }, accepts: { email: [longestEmail] } }]
    },
    "/portal/tunnels/:id/login-allowlist/:email/remove": button,
    "/portal/tunnels/:id/access-requests/:email/dismiss": button,
    "/portal/tunnels/:id/grants": {
      ways: [
        {
          given: { grantee: "somebody" },
          refuses: { grantee: ["", " ", "x".repeat(256), "a\u0007b"] },
          accepts: { grantee: ["x", "x".repeat(255)] }
        }
      ]
    },
    "/portal/tunnels/:id/grants/:grantee/delete": button,
    "/portal/tunnels/:id/reclaim-cert-slot": button,
    "/portal/tunnels/:id/cert-claim-opt-out": toggle,
    "/portal/tunnels/:id/hostname": {
      ways: [
        {
          given: { hostname: "www.form.example" },
          refuses: { hostname: ["", " ", "a..b", "-a.example", `${"a".repeat(64)}.example`] },
          accepts: { hostname: ["a.example", `${"a".repeat(63)}.example`] }
        }
      ]
    },
    "/portal/tunnels/:id/hostname/remove": button,
    "/portal/tunnels/:id/verify-hostname": button,
    "/portal/tunnels/:id/rotate-token": button,
    "/portal/tunnels/:id/badge/enable": button,
    "/portal/tunnels/:id/badge/disable": button,
    "/portal/tunnels/:id/alert": {
      ways: [
        {
          given: { ...alert, threshold_minutes: "6" },
          refuses: {
            webhook_url: [...addresses(2048), "https://u:p@a.example/"],
            threshold_minutes: numbers(1, 10_080)
          },
          accepts: {
            webhook_url: [`https://a.example/${"x".repeat(2048 - 18)}`],
            threshold_minutes: ["1", "10080"]
          }
        }
      ]
    },
    "/portal/tunnels/:id/alert/test": button,
    "/portal/tunnels/:id/alert/delete": button,
    "/portal/tunnels/:id/access": {
      free: ["schedule", "day1", "day2", "day3", "day4", "day5", "day6"],
      ways: [
        {
          given: { expiry_mode: "in", expires_in_hours: "5" },
          refuses: { expiry_mode: ["never"], expires_in_hours: numbers(1, 8760) },
          accepts: { expires_in_hours: ["1", "8760"] }
        },
        {
          given: { expiry_mode: "at", expires_at: "2099-01-31T18:00" },
          refuses: { expires_at: ["", "soon", "2099-02-30T18:00", "2001-01-01T00:00", "2099-01-31T24:01"] },
          accepts: { expires_at: ["2099-02-28T23:59"] }
        },
        {
          given: week,
          refuses: {
            start: ["", "8", "24:00", "08:60", "-1:00"],
            end: ["", "24:01", "25:00", "08:00", "07:59"],
            time_zone: ["Mars/Base", "x", "+01:00"],
            tz_offset: ["", "x", "-721", "841"]
          },
          accepts: {
            start: ["00:00"],
            end: ["08:01", "24:00"],
            time_zone: ["", "Europe/Berlin", "UTC"],
            tz_offset: ["-720", "840"]
          }
        },
        { given: { ...week, day0: "" }, refuses: { day0: [] } }
      ]
    },
    "/portal/tunnels/:id/access/clear": button,
    "/portal/tunnels/:id/share-links": {
      free: ["single_use"],
      ways: [
        {
          given: { ttl: "1h", label: "" },
          refuses: { ttl: ["", "2h", "8d"], label: ["  ", "x".repeat(61), "a\u0007b"] },
          accepts: { ttl: ["24h", "7d"], label: ["x", "x".repeat(60)] }
        }
      ]
    },
    "/portal/tunnels/:id/share-links/:link_id/revoke": button,
    "/portal/tunnels/:id/agent-bridge": {
      ways: [{ given: { mode: "off" }, refuses: { mode: ["", "on"] }, accepts: { mode: ["ephemeral", "permanent"] } }]
    },
    "/portal/tunnels/:id/agent-bridge/grant": {
      ways: [
        {
          given: { channel_id: channel, grant_hex: grantBy("op", channel, "bridge") },
          refuses: { channel_id: hex64, grant_hex: hex(278) }
        }
      ]
    },
    "/portal/tunnels/:id/agent-bridge/call": {
      ways: [
        {
          given: { tool: "bridge/status", arguments: "" },
          refuses: { tool: ["", "Bridge", "x".repeat(129)], arguments: ["{", "undefined", "{a:1}"] }
        }
      ]
    },
    "/portal/tunnels/:id/agent-bridge/manifest/install": {
      ways: [{ given: manifest, refuses: { manifest_location: addresses(2048), project_name: ["", "x".repeat(65)] } }]
    }
  } satisfies Partial<Table>
}
