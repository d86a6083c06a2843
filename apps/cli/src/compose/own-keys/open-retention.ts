import { type ScopeRetention, type ScopeRule, scopeRetention, type UserRecords } from "@loopwright/user-settings";
import type { Settings } from "../../settings/settings.ts";
import { openRecords } from "./own-keys-places.ts";

/** How long the sessions of scopes are kept. */
export interface OpenRetention {
  readonly retention: ScopeRetention;
  close(): Promise<void>;
}

/** The place of the rules is opened by the first request or sweep that needs it: most processes end before. */
export function openRetention(
  settings: Pick<Settings, "filesDirectory" | "environment" | "store">,
  deployment: readonly ScopeRule[] = [],
): OpenRetention {
  let opened: ReturnType<typeof openRecords> | undefined;
  const place = async (): Promise<UserRecords> => {
    opened ??= openRecords(settings).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return (await opened).records;
  };
  const records: UserRecords = {
    get: async (...asked) => (await place()).get(...asked),
    list: async (...asked) => (await place()).list(...asked),
    put: async (...asked) => (await place()).put(...asked),
    remove: async (...asked) => (await place()).remove(...asked),
  };
  return {
    retention: scopeRetention({ records, deployment }),
    async close() {
      await (await opened?.catch(() => undefined))?.close();
    },
  };
}
