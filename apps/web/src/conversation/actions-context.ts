import { createContext } from "react";
import type { ConversationActions } from "./conversation-actions.ts";

const nothing = async (): Promise<void> => {};

/** What the messages of a conversation can ask of the page. Outside of one, nothing happens. */
export const ActionsContext = createContext<ConversationActions>({
  edit: nothing,
  regenerate: nothing,
  selectBranch: nothing,
  stop: () => {},
  answerCall: nothing,
  decideCall: nothing,
  toolLabel: () => undefined,
  openRun: () => {},
  fileUrl: (blob) => `api/files/${blob}`,
  linkTo: (id) => `#/m/${id}`,
  copy: async () => false,
});
