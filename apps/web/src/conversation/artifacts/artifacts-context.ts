import { type Context, createContext } from "react";

/** Which artifact is open. Without an id: the one that is made now, else the last. */
export interface OpenArtifact {
  readonly id?: string;
  /** Default: the last. */
  readonly version?: number;
}

/** Opens an artifact beside the conversation. Where there is no room for one, it is absent. */
export const ArtifactsContext: Context<((open: OpenArtifact) => void) | undefined> = createContext<
  ((open: OpenArtifact) => void) | undefined
>(undefined);
