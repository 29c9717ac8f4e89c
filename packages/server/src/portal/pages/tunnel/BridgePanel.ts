/** Whether and how the operator's bridge may reach the agent behind a tunnel. */
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { markup } from "@catenet/platform/Markup"
import { choice, panel, type Sent, valuesOf } from "../../shell/Field.ts"
import type { Texts } from "../../texts/English.ts"

export const render = (texts: Texts, { bridge_mode, id }: Tunnel, sent: Sent | undefined) =>
  panel(
    texts.bridgeTitle,
    markup`<p class="hint">${texts.bridgeText}</p>
    <form method="post" action="/portal/tunnels/${id}/agent-bridge">
      ${choice({
        ...valuesOf(texts, sent, "bridge")("mode", bridge_mode),
        label: texts.bridgeMode,
        options: [
          ["off", texts.bridgeModes.off],
          ["ephemeral", texts.bridgeModes.ephemeral],
          ["permanent", texts.bridgeModes.permanent]
        ]
      })}
      <button>${texts.bridgeSave}</button></form>`,
    "bridge"
  )
