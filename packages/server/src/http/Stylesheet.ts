/**
 * The one style sheet of all pages, served under a name that holds its hash, so that browsers keep it for good. A page
 * allows no inline style and no picture of another origin.
 */
import { colours } from "@catenet/platform/PageStyles"
import { createHash } from "node:crypto"
import { controlStyles } from "./styles/ControlStyles.ts"
import { pageLayouts } from "./styles/PageLayouts.ts"
import { panelStyles } from "./styles/PanelStyles.ts"
import { shellStyles } from "./styles/ShellStyles.ts"

const css = `${colours}${shellStyles}${controlStyles}${panelStyles}${pageLayouts}`
  .replaceAll(/\s*\n\s*/gu, "\n")
  .replaceAll(/; \}/gu, "}")
  .replaceAll(/([:;{,]) /gu, "$1")
  .trim()

const hash = createHash("sha256").update(css).digest("hex").slice(0, 16)

export const path = `/portal/static/portal-${hash}.css` as const
export const text = css
/** By which the policy of a page that holds the sheet allows it. */
export const sha256 = createHash("sha256").update(css).digest("base64")
