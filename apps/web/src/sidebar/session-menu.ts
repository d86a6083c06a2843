import type { MenuItem } from "../app/menu-button.tsx";
import type { Services } from "../app/services.ts";
import { download } from "./download.ts";

export interface SessionMenuOptions {
  readonly services: Services;
  readonly sessionId: string;
  readonly onRename: () => void;
  readonly onSchedules: () => void;
  /** Absent where the conversation is not open. */
  readonly onCompare?: () => void;
  readonly onDelete: () => void;
}

/** What can be done with a conversation, the same in the list and above the conversation. */
export function sessionMenu({ services, sessionId, onRename, onSchedules, onCompare, onDelete }: SessionMenuOptions): readonly MenuItem[] {
  const keep = async (format: "markdown" | "json"): Promise<void> => {
    try {
      const { fileName, text, mediaType } = await services.client.sessions.export(sessionId, format);
      download(fileName, text, mediaType);
    } catch (error) {
      services.notices.fail(error);
    }
  };
  return [
    { label: "Rename", icon: "edit", onChoose: onRename },
    { label: "Schedules", icon: "clock", onChoose: onSchedules },
    ...(onCompare ? [{ label: "Compare with another", icon: "fork", onChoose: onCompare } as const] : []),
    { label: "Export as Markdown", icon: "download", onChoose: () => void keep("markdown") },
    { label: "Export as JSON", icon: "download", onChoose: () => void keep("json") },
    { label: "Delete", icon: "trash", isDanger: true, isApart: true, onChoose: onDelete },
  ];
}
