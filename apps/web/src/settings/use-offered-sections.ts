import { useServices } from "../app/services.ts";
import { useWatched } from "../app/use-watched.ts";
import type { SettingsSection } from "./settings-section.ts";
import { settingsSections } from "./settings-sections.ts";

/** The sections that this server has something for. Those that need a route of the application appear when the server has named it. */
export function useOfferedSections(): readonly SettingsSection[] {
  const { account } = useServices();
  const extensions = useWatched(account, (access) => access?.extensions);
  return settingsSections.filter(({ needs }) => needs === undefined || extensions?.includes(needs));
}
