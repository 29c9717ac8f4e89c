/** Topologies, their editor and their public page, in German. */
import type { TopologiesTexts } from "./EnglishTopologies.ts"
import { numerals } from "./Numerals.ts"

const figure = numerals.de.count

export const topologiesTexts: TopologiesTexts = {
  topology: "Topologie",
  topologiesText:
    "Eine Topologie zeichnet, welche Agenten verbunden sind. Mit gebundenem Operator lässt jede Verbindung beide Enden in ihren Kanal.",
  topologyCreate: "Neue Topologie",
  topologiesOwn: "Ihre Topologien",
  topologiesNone: "Sie haben keine Topologie.",
  topologiesShared: "Mit Ihnen geteilt",
  topologiesSharedNone: "Mit Ihrer bestätigten E-Mail-Adresse ist keine Topologie geteilt.",
  publicPage: "Öffentliche Seite",
  ownTopology: "Sie gehört Ihnen.",
  network: "Netz",
  drawingTitle: "Zeichnung",
  drawingLabel: (agents, edges) => `${agents} Agenten, ${edges} Verbindungen.`,
  drawingHint:
    "Wählen Sie mit der Eingabetaste einen Agenten, dann einen anderen: Eingabe verbindet sie, Entf löst ihre Verbindung. Pfeiltasten bewegen einen Agenten. In der freien Ansicht bewegt der Zeiger Agenten, und auf dem Grund die Ansicht.",
  kinds: { peer: "Peer", "super-peer": "Super-Peer" },
  kindOutside: "nicht in der Topologie",
  viewEasy: "Einfache Ansicht",
  viewFlexible: "Freie Ansicht: Agenten bewegen",
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
  connectDo: "verbinden",
  removeDo: "lösen",
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
  importDo: "übernehmen",
  agentsTitle: "Agenten",
  agentsNone: "Es gibt keinen Agenten.",
  takeOut: "herausnehmen",
  agentLabel: (key) => `Name von ${key}`,
  labelDo: "Benennen",
  superPeer: "Super-Peer",
  addDo: "hinzufügen",
  overlayMode: "Art der Überlagerung",
  modeDo: "Art setzen",
  budget: (most) => `Abkürzungen, 0 bis ${most}`,
  costs: "Kosten (freiwillig)",
  costsHint: "Je Zeile eine Verbindung: Schlüssel, Schlüssel, Kosten. Ohne Angabe kostet jedes Paar gleich viel.",
  suggestDo: "vorschlagen",
  suggested: (links, cost, isConnected) =>
    `${links} Verbindungen sind vorgeschlagen, für Kosten von ${cost}. ${isConnected ? "Sie erreichen jeden Agenten." : "Sie erreichen nicht jeden Agenten."} Noch ist nichts geschrieben.`,
  applyDo: "Vorschlag übernehmen",
  shareWith: "Geteilt mit",
  shareDo: "teilen",
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
