import { useEffect, useState } from "react";
import { useServices } from "../app/services.ts";
import type { SettingsSection } from "./settings-section.ts";
import { settingsSections } from "./settings-sections.ts";

/** The sections that this server has something for. Those that need a path of it appear when it has answered. */
export function useOfferedSections(): readonly SettingsSection[] {
  const { client } = useServices();
  const [paths, setPaths] = useState<readonly string[]>([]);
  useEffect(() => {
    const gone = new AbortController();
    // A server that does not answer has none of them; the rest of the settings needs no server.
    client.paths({ signal: gone.signal }).then(setPaths, () => undefined);
    return () => gone.abort();
  }, [client]);
  return settingsSections.filter(({ needs }) => needs === undefined || paths.includes(needs));
}
