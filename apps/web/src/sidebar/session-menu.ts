import { viewOf } from "@loopwright/client";
import type { MenuItem } from "../app/menu-button.tsx";
import type { Services } from "../app/services.ts";
import { titleOf } from "../conversation/title-of.ts";
import { download } from "./download.ts";
import { fileNameOf, markdownOf } from "./markdown-of.ts";

export interface SessionMenuOptions {
  readonly services: Services;
  readonly sessionId: string;
  readonly onRename: () => void;
  readonly onDelete: () => void;
}

/** What can be done with a conversation, the same in the list and above the conversation. */
export function sessionMenu({ services, sessionId, onRename, onDelete }: SessionMenuOptions): readonly MenuItem[] {
  const keep = async (format: "md" | "json"): Promise<void> => {
    try {
      const snapshot = await services.client.sessions.get(sessionId);
      const view = viewOf(snapshot);
      const name = fileNameOf(titleOf(view), format);
      if (format === "md") download(name, markdownOf({ ...view, title: titleOf(view) }), "text/markdown");
      else download(name, `${JSON.stringify(snapshot, null, 2)}\n`, "application/json");
    } catch (error) {
      services.notices.fail(error);
    }
  };
  return [
    { label: "Rename", icon: "edit", onChoose: onRename },
    { label: "Export as Markdown", icon: "download", onChoose: () => void keep("md") },
    { label: "Export as JSON", icon: "download", onChoose: () => void keep("json") },
    { label: "Delete", icon: "trash", isDanger: true, isApart: true, onChoose: onDelete },
  ];
}
