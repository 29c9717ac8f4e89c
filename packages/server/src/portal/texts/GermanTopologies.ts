/** Topologies, their editor and their public page, in German. */
import type { TopologiesTexts } from "./EnglishTopologies.ts"
import { numerals } from "./Numerals.ts"

const figure = numerals.de.count
const some = (count: number, one: string, many: string) => `${figure(count)} ${count === 1 ? one : many}`

export const topologiesTexts: TopologiesTexts = {
  topology: "Topologie",
  topologiesText:
    "Eine Topologie sagt, welche Agenten verbunden sind. Jede Verbindung lässt ihre beiden Enden in einen eigenen Kanal.",
  topologiesNoneText: "Aus Kanälen, von Hand oder vorgeschlagen: eine Topologie hält es in einem Bild fest.",
  topologyName: "Name der Topologie",
  topologyNameHint: "Den Namen sieht, mit wem sie geteilt ist; die öffentliche Seite zeigt ihn nicht.",
  topologySince: "Angelegt",
  topologiesFound: (count: number) => `${figure(count)} ${count === 1 ? "Topologie" : "Topologien"}`,
  overlayModes: {
    baseline: "Grundform",
    "smart-route": "Kluge Wege",
    shortcut: "Abkürzungen",
    "random-mesh": "Zufallsnetz"
  },
  overlayTitle: "Überlagerung und Vorschläge",
  notBound: "nicht gebunden",
  inspector: "Einzelheiten",
  howTo: "So wird gezeichnet",
  linkTool: "Verbindung zeichnen",
  arrange: "Anordnen",
  shareTopology: "Teilen",
  addAgent: "Agent hinzufügen",
  editorEmpty: "Agenten hinzufügen, dann verbinden. Jede Verbindung lässt beide Enden in einen eigenen Kanal.",
  topologyCreate: "Neue Topologie",
  topologiesNone: "Zeichnen, wer mit wem spricht",
  topologiesSharedNone: "Andere teilen Topologien mit einer bestätigten E-Mail-Adresse; Ihre Sitzung hat keine.",
  publicPage: "Öffentliche Seite",
  ownTopology: "Eigene",
  network: "Netz",
  drawingTitle: "Zeichnung",
  drawingLabel: (agents: number, edges: number) =>
    `${some(agents, "Agent", "Agenten")}, ${some(edges, "Verbindung", "Verbindungen")}.`,
  drawingHint:
    "Einen Agenten ziehen verschiebt ihn, den Grund ziehen die Ansicht. Ein Klick öffnet einen Agenten. Zum Verbinden erst Verbindung zeichnen drücken und beide anklicken, oder beide mit der Eingabetaste wählen; Entf löst ihre Verbindung. Pfeiltasten verschieben.",
  kinds: { peer: "Peer", "super-peer": "Super-Peer" },
  kindOutside: "nicht in der Topologie",
  zoomIn: "Näher",
  zoomOut: "Weiter weg",
  saveSvg: "Als SVG speichern",
  chosen: "Wählen Sie nun den anderen Agenten.",
  chooseFirst: "Wählen Sie zuerst einen Agenten mit der Eingabetaste; Entf löst beim anderen ihre Verbindung.",
  changedElsewhere: "Die Topologie wurde gerade anderswo geändert. Sie sehen sie, wie sie jetzt ist.",
  topologyGone: "Die Topologie wurde gelöscht oder ist nicht mehr mit Ihnen geteilt.",
  linksTitle: "Verbindungen",
  linksNone: "Es gibt keine Verbindung.",
  linkFrom: "Ein Agent",
  linkTo: "Anderer Agent",
  connectDo: "Verbinden",
  removeDo: "Entfernen",
  edgeRefused: {
    duplicate: "Diese beiden Agenten sind schon verbunden. Sie sehen die Topologie, wie sie jetzt ist.",
    "self-loop": "Ein Agent kann nicht mit sich selbst verbunden werden.",
    "no-access": "Sie dürfen diese Topologie nicht mehr ändern."
  },
  noteDo: "Kanal vermerken",
  noteNone: "kein Vermerk",
  membersOf: (count) => `Mitglieder: ${count}`,
  noteHint: "64 Hexziffern; ohne Angabe verschwindet der Vermerk.",
  importText: "Verbindungen für Ihre Kanäle, die zwei Mitglieder haben.",
  importDo: "Verbindungen aus Kanälen übernehmen",
  agentsTitle: "Agenten",
  takeOut: "Aus der Topologie nehmen",
  agentLabel: (key) => `Name von ${key}`,
  labelDo: "Benennen",
  superPeer: "Super-Peer",
  addDo: "Agent hinzufügen",
  overlayMode: "Art der Überlagerung",
  modeDo: "Art setzen",
  budget: (most) => `Abkürzungen, 0 bis ${most}`,
  costs: "Kosten (freiwillig)",
  costsHint: "Je Zeile eine Verbindung: Schlüssel, Schlüssel, Kosten. Ohne Angabe kostet jedes Paar gleich viel.",
  suggestDo: "Verbindungen vorschlagen",
  suggested: (links, cost, isConnected) =>
    `${links} Verbindungen sind vorgeschlagen, für Kosten von ${cost}. ${isConnected ? "Sie erreichen jeden Agenten." : "Sie erreichen nicht jeden Agenten."} Noch ist nichts geschrieben.`,
  applyDo: "Vorschlag übernehmen",
  shareWith: "Geteilt mit",
  shareDo: "Topologie teilen",
  operatorTitle: "Operator (Schlüssel)",
  operatorText: "Mit gebundenem Operator lässt jede Verbindung beide Enden in den Kanal, der für sie abgeleitet ist.",
  proof: "Nachweis",
  hex128Proof: "128 Hexziffern; die Zeile oben gibt beides aus.",
  bindDo: "Operator binden",
  unbindDo: "Operator lösen",
  linkedTunnels: "Verknüpfte Tunnel",
  linkedTunnelsText: "Die Brücken dieser Tunnel sind in einem Kanal dieser Topologie.",
  linkedTunnelsNone: "Keine Brücke Ihrer Tunnel ist in einem Kanal dieser Topologie.",
  topologyDelete: "Topologie löschen",
  topologyDeleteText: "Ihre Agenten werden frei, und was ihre Verbindungen erlaubten, endet.",
  topologyDeleteConfirm: "Diese Topologie löschen",
  setupTitle: "Einrichtung",
  setupText: "Womit ein Agent dieser Topologie gestartet wird.",
  setupLinks:
    "Die Agenten einer Verbindung führen diese Zeilen aus, jeder mit seiner Erlaubnis für den Kanal, seinem Halter- und seinem Noise-Schlüssel. Das Zertifikat des Edge wird geprüft gegen",
  setupNoChannel: "Eine Verbindung hat einen Kanal, wenn ein Operator gebunden oder einer vermerkt ist.",
  setupMore: (count) =>
    count === 1
      ? "Eine weitere Verbindung führt die gleichen Zeilen aus."
      : `${figure(count)} weitere Verbindungen führen die gleichen Zeilen aus.`
}
