/** Every page that is looked at, by who opens it; some come after a form: an answer with a secret, or a form that was refused. */
import { keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import type { As } from "@catenet/testing/server/Contract"
import type { Page } from "playwright-core"
import { newcomer, operator, owner } from "./Furnished.ts"

export interface Look {
  readonly name: string
  readonly path: string
  /** What is done on the page before it is looked at. */
  readonly then?: (page: Page) => Promise<void>
  /** Run once: what it does cannot be done again. */
  readonly isOnce?: boolean
}

interface Facts {
  readonly photos: string
  readonly camera: string
  readonly fresh: string
  readonly channel: string
  readonly claimed: string
  readonly theirs: string
  readonly invite: string
  readonly topology: string
  readonly net: string
  readonly shared: string
  readonly unsubscribe: string
}

const look = (name: string, path: string, then?: Look["then"], isOnce = false): Look => ({
  name,
  path,
  isOnce,
  ...(then === undefined ? {} : { then })
})

/** Fills fields of the form with this action and sends it as it is: neither the browser nor a script looks at it before. */
const sending =
  (action: string, fields: Readonly<Record<string, string>>) =>
  async (page: Page): Promise<void> => {
    const form = `form[action$='${action}']`
    const sent = page.waitForNavigation()
    await page.evaluate(
      `(() => {
        const form = document.querySelector(${JSON.stringify(form)})
        for (const [name, value] of Object.entries(${JSON.stringify(fields)})) form.elements.namedItem(name).value = value
        HTMLFormElement.prototype.submit.call(form)
      })()`
    )
    await sent
  }

/** The browser makes keys and saves them. */
const makingKeys = async (page: Page): Promise<void> => {
  await page.locator("form[data-keys] button[type=button]").click()
  await page.getByRole("status").filter({ hasText: /./u }).waitFor()
}

/** The browser makes an operator key and saves it. */
const makingOperator = async (page: Page): Promise<void> => {
  await page.locator("form[action='/portal/channels'] button[type=button]").click()
  await page.getByRole("status").filter({ hasText: /./u }).waitFor()
}

const opening = async (page: Page): Promise<void> => {
  await page.evaluate(`for (const closed of document.querySelectorAll("main details")) closed.open = true`)
}

const pressing = async (page: Page): Promise<void> => {
  await Promise.all([page.waitForNavigation(), page.locator("button.primary").click()])
}

const suggesting = async (page: Page): Promise<void> => {
  await page.locator("#overlay summary").click()
  await page.locator("form[action$='/suggest'] button").click()
  await page.locator("[data-suggestion] button").waitFor()
}

export const looked = (facts: Facts): ReadonlyArray<readonly [as: As, looks: ReadonlyArray<Look>]> => {
  const { camera, channel, claimed, fresh, invite, net, photos, shared, theirs, topology, unsubscribe } = facts
  const tunnel = `/portal/tunnels/${photos}`
  const other = `/portal/tunnels/${camera}`
  return [
    [
      "anonymous",
      [
        look("front", "/"),
        look("entrance", "/portal"),
        look("docs", "/docs"),
        look("verify-receipts", "/portal/receipts"),
        look("join", "/join"),
        look("impressum", "/impressum"),
        look("datenschutz", "/datenschutz"),
        look("terms", "/nutzungsbedingungen"),
        look("network", `/net/${net}`),
        look("gate-request", "/gate/request-access?host=camera.zone.example"),
        look("gate-share", new URL(shared).pathname + new URL(shared).search),
        look("gate-share-refused", `/gate/share?host=camera.zone.example&token=${"x".repeat(43)}`),
        look("unsubscribe", unsubscribe),
        look("unsubscribed", unsubscribe, pressing, true),
        look("nothing", "/nothing")
      ]
    ],
    [
      newcomer,
      [
        look("overview-new", "/portal/home"),
        look("empty-tunnels", "/portal/tunnels"),
        look("empty-channels", "/portal/channels"),
        look("empty-topologies", "/portal/topologies"),
        look("empty-fleet", "/portal/fleet"),
        look("empty-usage", "/portal/usage"),
        look("empty-notices", "/portal/notices"),
        look("empty-account", "/portal/account"),
        look("empty-bridges", "/portal/agent-bridges"),
        look("tunnels-refused", "/portal/tunnels", sending("/portal/tunnels", { name: "n".repeat(61) }))
      ]
    ],
    [
      operator,
      [
        look("operators", "/operators"),
        look("operators-refused", "/operators", sending("/operators/limits", { subject: "ada", max: "-1" })),
        look("granted-tunnel", tunnel),
        look("shared-editor", `/me/topologies/${topology}/editor`)
      ]
    ],
    [
      owner,
      [
        look("overview", "/portal/home"),
        look("search", "/portal/search?q=o"),
        look(
          "search-typed",
          "/portal/home",
          async (page) => {
            await page.locator("h1").press("/")
            await page.locator("#find").pressSequentially("ware")
            await page.locator(".found a").first().waitFor()
          },
          true
        ),
        look("keyboard-map", "/portal/home", async (page) => {
          await page.locator("body").press("?")
          await page.locator("dialog").waitFor()
        }),
        look("tunnels", "/portal/tunnels"),
        look("tunnels-ticked", "/portal/tunnels", async (page) => {
          for (const box of await page.locator(".tick input").all()) await box.check()
          await page.locator("#bulk").waitFor()
        }),
        look("tunnel", tunnel),
        look("tunnel-login", other),
        look("tunnel-access", `${other}?tab=access`),
        look("tunnel-open", `${other}?tab=access`, opening),
        look("tunnel-agents", `${other}?tab=agents`),
        look("tunnel-certificate", `${other}?tab=certificate`, opening),
        look("tunnel-settings", `${tunnel}?tab=settings`, opening),
        look("tunnel-fresh", `/portal/tunnels/${fresh}`),
        look(
          "tunnel-refused",
          `${other}?tab=access`,
          sending("/access", { expiry_mode: "in", expires_in_hours: "0", start: "25:00" })
        ),
        look("uptime", `${tunnel}/uptime`),
        look("uptime-open", `${tunnel}/uptime`, opening),
        look("uptime-none", `/portal/tunnels/${fresh}/uptime`),
        look("grants", `${tunnel}/grants`),
        look("install", `${tunnel}/install`),
        look("install-line", `${tunnel}/install`, sending("/install", { port: "3000" })),
        look("install-refused", `${tunnel}/install`, sending("/install", { port: "0" })),
        look("share-address", `${other}?tab=access`, sending("/share-links", {})),
        look(
          "alert-secret",
          `/portal/tunnels/${fresh}?tab=settings`,
          sending("/alert", { webhook_url: "https://hooks.example/b" })
        ),
        look("rotate-token", `${tunnel}/rotate-token`),
        look("delete", `${tunnel}/delete`),
        look("channels", "/portal/channels"),
        look("channel-new", "/portal/channels?new=channel"),
        look("channel-new-made", "/portal/channels?new=channel", makingOperator),
        look("room-new", "/portal/channels?new=room", opening),
        look(
          "channels-refused",
          "/portal/channels?new=channel",
          sending("/portal/channels", { operator_pubkey: "abc" })
        ),
        look("channel", `/portal/channels/${channel}`),
        look("channel-invitations", `/portal/channels/${channel}?tab=invitations`, opening),
        look("channel-settings", `/portal/channels/${channel}?tab=settings`, opening),
        look(
          "invite-address",
          `/portal/channels/${channel}?tab=invitations`,
          sending("/claim-invites", materialOf(channel, "looked at")),
          true
        ),
        look("claim", `/portal/channels/${theirs}/claim`),
        look("claim-keys", `/portal/channels/${theirs}/claim`, makingKeys),
        look("claim-refused", `/portal/channels/${theirs}/claim`, sending("/claim-form", { holder: keyOf("short") })),
        look("grant-pickup", `/portal/channels/${claimed}/grants`),
        look("invite", `/portal/claim?invite=${invite}`),
        look("invite-unknown", "/portal/claim?invite=x"),
        look("agent-bridges", "/portal/agent-bridges"),
        look("agent-bridges-open", "/portal/agent-bridges", opening),
        look("topologies", "/portal/topologies"),
        look("editor", `/me/topologies/${topology}/editor`),
        look("editor-open", `/me/topologies/${topology}/editor`, opening),
        look("editor-suggested", `/me/topologies/${topology}/editor`, suggesting),
        look("editor-refused", `/me/topologies/${topology}/editor`, sending("/bind", { operator_pubkey: "no" })),
        look("fleet", "/portal/fleet"),
        look("events", "/portal/fleet?tab=events"),
        look("usage", "/portal/usage"),
        look("notices", "/portal/notices"),
        look("account", "/portal/account"),
        look("account-programs", "/portal/account?tab=service-accounts", opening),
        look("account-credits", "/portal/account?tab=credits"),
        look("account-log", "/portal/account?tab=log"),
        look("account-refused", "/portal/account", sending("/account/delete", { confirm: "yes" })),
        look("sign-out", "/portal/logout"),
        look("nothing-signed-in", "/portal/nothing")
      ]
    ]
  ]
}
