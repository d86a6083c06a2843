import { type Context, createContext } from "react";

/** Which artifact the pane shows. Without an id: the one that the model is writing, else the last. */
export interface OpenArtifact {
  readonly id?: string;
  /** Default: the last. */
  readonly version?: number;
}

/** Opens an artifact beside the conversation; `undefined` where a conversation is shown without that pane. */
export const ArtifactsContext: Context<((open: OpenArtifact) => void) | undefined> = createContext<
  ((open: OpenArtifact) => void) | undefined
>(undefined);
