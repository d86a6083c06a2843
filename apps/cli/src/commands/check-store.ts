import { complaintOf } from "../complaint.ts";
import { localScope, openExistingStore } from "../compose/kept-sessions.ts";
import type { Settings } from "../settings/settings.ts";
import { storeText } from "../settings/store-place.ts";
import type { Finding } from "./finding.ts";

/** What a store that checks itself says. */
interface StoreReport {
  readonly sessionCount: number;
  readonly factCount: number;
  readonly damaged: readonly string[];
  readonly problems?: readonly string[];
  readonly sizeBytes?: number;
}

/** Whether the store can be read, and what is wrong with it. Makes none. */
export async function checkStore(
  settings: Pick<Settings, "store" | "environment">,
  { acceptsRestored = false }: { readonly acceptsRestored?: boolean } = {},
): Promise<Finding> {
  const where = storeText(settings.store);
  try {
    const store = await openExistingStore(settings);
    if (!store) return { what: "store", state: "note", text: `${where} (not made yet; the first message makes it)` };
    try {
      const isAccepted = acceptsRestored && ((await store.acceptRestored?.()) ?? false);
      await store.probe?.();
      await store.index.list(localScope, { limit: 1 });
      const report = "check" in store && typeof store.check === "function" ? ((await store.check()) as StoreReport) : undefined;
      const finding: Finding = report ? findingOf(where, report) : { what: "store", state: "ok", text: `${where} answers` };
      return isAccepted ? { ...finding, text: `${finding.text}\nwent back to an older state, and is used as it is from now on` } : finding;
    } finally {
      await store.close();
    }
  } catch (error) {
    return { what: "store", state: "bad", text: [where, ...complaintOf(error)].join("\n") };
  }
}

function findingOf(where: string, { sessionCount, factCount, sizeBytes, problems = [], damaged }: StoreReport): Finding {
  const size = sizeBytes === undefined ? "" : `, ${Math.ceil(sizeBytes / 1024)} KiB`;
  const broken = [...problems, ...damaged.map((session) => `session ${session} is damaged and read-only`)];
  const text = [`${where}: ${sessionCount} sessions, ${factCount} facts${size}`, ...broken.slice(0, 10)].join("\n");
  return { what: "store", state: broken.length > 0 ? "bad" : "ok", text };
}
