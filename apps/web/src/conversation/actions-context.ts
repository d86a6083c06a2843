import { createContext } from "react";
import type { ConversationActions } from "./conversation-actions.ts";

const nothing = async (): Promise<void> => {};

/** The actions that a message of a conversation can start. Without a conversation around it they do nothing. */
export const ActionsContext = createContext<ConversationActions>({
  edit: nothing,
  regenerate: nothing,
  selectBranch: nothing,
  fork: () => {},
  stop: () => {},
  answerCall: nothing,
  decideCall: nothing,
  toolLabel: () => undefined,
  openRun: () => {},
  fileUrl: (blob) => `api/files/${blob}`,
  linkTo: (id) => `#/m/${id}`,
  copy: async () => false,
});
