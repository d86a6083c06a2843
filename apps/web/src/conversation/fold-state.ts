import { createContext, use, useState } from "react";

/** Which fold-outs are open, by name. Outlives rows that are scrolled out of sight. */
export type FoldState = Map<string, boolean>;

export const FoldContext = createContext<FoldState>(new Map());

/** Whether a fold-out is open, and what opens and closes it. `isOpen` counts until a person has used it. */
export function useFold(name: string, isOpen = false): readonly [boolean, (open: boolean) => void] {
  const folds = use(FoldContext);
  const [, draw] = useState(0);
  return [
    folds.get(name) ?? isOpen,
    (open) => {
      folds.set(name, open);
      draw((count) => count + 1);
    },
  ];
}
