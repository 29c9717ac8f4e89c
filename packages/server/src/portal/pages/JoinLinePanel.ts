/**
 * Invites another machine to an own channel by one line. The page's script makes the line with the operator key in a file
 * that is sent nowhere; without the script the page names the command that does the same.
 */
import { type Markup, markup } from "@catenet/domain/values/Markup"
import * as InviteScript from "../invite/InviteScript.ts"
import { choice, field, panel } from "../shell/Field.ts"
import type { Texts } from "../texts/English.ts"

/** What the one who joins needs to know of this platform. */
export interface JoinPlace {
  /** Starts the agent on the other machine. */
  readonly command: string
  /** Base address of the control plane, for agents. */
  readonly origin: string
  /** `host:port` of the edge's front door, as far as it is known. */
  readonly frontDoor: string
  readonly broker: number | undefined
  readonly relay: number | undefined
}

export const render = (
  texts: Texts,
  { channel, operator_pubkey }: { readonly channel: string; readonly operator_pubkey: string },
  { broker, command, frontDoor, origin, relay }: JoinPlace
): Markup =>
  panel(
    texts.lineTitle,
    markup`<p class="hint">${texts.lineText}</p>
    <noscript><p class="panel notice">${texts.lineNoScript} <code class="mono">ct-agent channel invite --mcp</code></p></noscript>
    <form hidden method="post" action="/portal/channels/${channel}/join-links" data-inviter="${InviteScript.workerPath}"
      data-channel="${channel}" data-operator="${operator_pubkey}" data-origin="${origin}" data-command="${command} channel join"
      data-place="${JSON.stringify({ broker, relay })}" data-copylabel="${texts.copy}" data-copied="${texts.copied}"
      data-busy="${texts.lineBusy}" data-made="${texts.lineMade}" data-failed="${texts.lineFailed}" data-nofile="${texts.lineNoFile}"
      data-otherkey="${texts.lineOtherKey}" data-nodays="${texts.lineNoDays}" data-nodoor="${texts.lineNoDoor}" data-noroot="${texts.lineNoRoot}">
      <div data-part>
      <div class="field"><label for="operator-file">${texts.lineFile}</label>
        <span class="hint" id="operator-file-hint">${texts.lineFileHint}</span>
        <input id="operator-file" name="operator_file" type="file" aria-describedby="operator-file-hint"></div>
      ${choice({
        name: "use",
        label: texts.lineUse,
        options: [
          ["mcp initiate", texts.lineUses.mcp],
          ["variables initiate", texts.lineUses.initiate],
          ["variables accept", texts.lineUses.accept]
        ]
      })}
      ${field({ name: "days", type: "number", value: "90", label: texts.lineDays })}
      ${field({ name: "front_door", value: frontDoor, label: texts.lineDoor, hint: texts.lineDoorHint })}
      <button>${texts.lineMake}</button></div>
      <p role="status"></p><pre tabindex="0" hidden></pre></form>`,
    "join-line"
  )
