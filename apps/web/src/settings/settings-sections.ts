import type { SettingsSection } from "./settings-section.ts";

/** The sections of the settings, in the order of the list. The first is open by default. */
export const settingsSections: readonly SettingsSection[] = [
  {
    id: "appearance",
    title: "Appearance",
    icon: "sun",
    load: async () => (await import("./sections/appearance-section.tsx")).AppearanceSection,
  },
  {
    id: "approvals",
    title: "Approvals",
    icon: "check",
    load: async () => (await import("./sections/approvals-section.tsx")).ApprovalsSection,
  },
  {
    id: "agents",
    title: "Agents",
    icon: "spark",
    load: async () => (await import("./sections/agents-section.tsx")).AgentsSection,
  },
  {
    id: "models",
    title: "Models",
    icon: "link",
    needs: "listProviders",
    load: async () => (await import("./providers/providers-section.tsx")).ProvidersSection,
  },
  {
    id: "preferences",
    title: "Preferences",
    icon: "settings",
    needs: "readSettings",
    load: async () => (await import("./sections/preferences-section.tsx")).PreferencesSection,
  },
  {
    id: "files",
    title: "Files",
    icon: "file",
    load: async () => (await import("./sections/files-section.tsx")).FilesSection,
  },
  {
    id: "retention",
    title: "Retention",
    icon: "clock",
    needs: "readRetention",
    load: async () => (await import("./sections/retention-section.tsx")).RetentionSection,
  },
  {
    id: "account",
    title: "Account",
    icon: "person",
    load: async () => (await import("./sections/account-section.tsx")).AccountSection,
  },
  {
    id: "usage",
    title: "Usage and cost",
    icon: "gauge",
    needs: "usage",
    load: async () => (await import("./sections/usage-section.tsx")).UsageSection,
  },
  {
    id: "latency",
    title: "Latency",
    icon: "clock",
    needs: "ai-latency",
    load: async () => (await import("./sections/latency-section.tsx")).LatencySection,
  },
  {
    id: "cache",
    title: "Vendor cache",
    icon: "again",
    needs: "session-cache",
    load: async () => (await import("./sections/cache-section.tsx")).CacheSection,
  },
  {
    id: "keyboard",
    title: "Keyboard",
    icon: "keyboard",
    load: async () => (await import("./sections/keyboard-section.tsx")).KeyboardSection,
  },
];
