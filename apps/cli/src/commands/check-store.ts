import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import type { SessionStore } from "@loopwright/core/ports";
import { complaintOf } from "../complaint.ts";
import { localScope, openExistingStore } from "../compose/kept-sessions.ts";
import { type StorePlace, storeText } from "../config/store-place.ts";
import type { Settings } from "../settings/settings.ts";
import type { Finding } from "./finding.ts";

/** The findings of a store that checks itself. */
interface StoreReport {
  readonly sessionCount: number;
  readonly factCount: number;
  readonly damaged: readonly string[];
  readonly problems?: readonly string[];
  readonly sizeBytes?: number;
}

/** A scope that no user has: the probe writes an object there and removes it. */
const probeScope = "doctor";

/** Whether the store can be read and written, and what is wrong with it. Makes none. */
export async function checkStore(
  settings: Pick<Settings, "store" | "environment">,
  { acceptsRestored = false }: { readonly acceptsRestored?: boolean } = {},
): Promise<Finding> {
  const where = storeText(settings.store);
  try {
    const store = await openExistingStore(settings);
    if (!store) return missingFinding(where, settings.store);
    try {
      const isAccepted = acceptsRestored && ((await store.acceptRestored?.()) ?? false);
      await store.probe?.();
      await store.index.list(localScope, { limit: 1 });
      const report = "check" in store && typeof store.check === "function" ? ((await store.check()) as StoreReport) : undefined;
      const read: Finding = report ? findingOf(where, report) : { what: "store", state: "ok", text: `${where} answers` };
      const refusal = await refusedWrite(store);
      const finding: Finding = refusal === undefined ? read : { ...read, state: "bad", text: [read.text, ...refusal].join("\n") };
      return isAccepted ? { ...finding, text: `${finding.text}\nwent back to an older state, and is used as it is from now on` } : finding;
    } finally {
      await store.close();
    }
  } catch (error) {
    return { what: "store", state: "bad", text: [where, ...complaintOf(error)].join("\n") };
  }
}

/** A store that the first message makes, and whether it can. */
function missingFinding(where: string, place: StorePlace): Finding {
  let folder = dirname(place.kind === "files" ? place.folder : place.kind === "sqlite" ? place.file : where);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    return {
      what: "store",
      state: "bad",
      text: [`${where} (not made yet, and ${folder} cannot be written)`, ...complaintOf(error)].join("\n"),
    };
  }
  return { what: "store", state: "note", text: `${where} (not made yet; the first message makes it)` };
}

/** Writes a byte and removes it again; what refused that, where something did. */
async function refusedWrite({ blobs }: SessionStore): Promise<readonly string[] | undefined> {
  const key = crypto.randomUUID();
  try {
    await blobs.put(probeScope, key, { bytes: new Uint8Array(1) });
    await blobs.remove(probeScope, key);
    return undefined;
  } catch (error) {
    return complaintOf(error);
  }
}

function findingOf(where: string, { sessionCount, factCount, sizeBytes, problems = [], damaged }: StoreReport): Finding {
  const size = sizeBytes === undefined ? "" : `, ${Math.ceil(sizeBytes / 1024)} KiB`;
  const broken = [...problems, ...damaged.map((session) => `session ${session} is damaged and read-only`)];
  const text = [`${where}: ${sessionCount} sessions, ${factCount} facts${size}`, ...broken.slice(0, 10)].join("\n");
  return { what: "store", state: broken.length > 0 ? "bad" : "ok", text };
}
