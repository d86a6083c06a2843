import { type Context, createContext } from "react";
import type { CitedText } from "./cited-text.ts";

/** The citations of the text around, under a name for what is open of them. */
export interface Citations extends Pick<CitedText, "citations"> {
  readonly name: string;
}

export const CitationsContext: Context<Citations> = createContext<Citations>({ name: "", citations: [] });
