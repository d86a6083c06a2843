import { type Context, createContext, type ReactNode } from "react";

/** What is shown in place of a link to this address, which has these words; `undefined`: the link itself. */
export type DrawLink = (address: string, words: ReactNode) => ReactNode | undefined;

/** How the text around draws links of its own making. Without it all are links to the web. */
export const LinkContext: Context<DrawLink> = createContext<DrawLink>(() => undefined);
