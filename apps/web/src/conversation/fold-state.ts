import { createContext, use, useState } from "react";

/** Which fold-outs are open, by name; of a list of which one is open at most, which one. Outlives rows that are scrolled out of sight. */
export type FoldState = Map<string, boolean | string>;

export const FoldContext = createContext<FoldState>(new Map());

/** Whether a fold-out is open, and what opens and closes it. `isOpen` counts until a person has used it. */
export function useFold(name: string, isOpen = false): readonly [boolean, (open: boolean) => void] {
  const folds = use(FoldContext);
  const [, draw] = useState(0);
  const kept = folds.get(name);
  return [
    typeof kept === "boolean" ? kept : isOpen,
    (open) => {
      folds.set(name, open);
      draw((count) => count + 1);
    },
  ];
}

/** Which of a list is open, and what opens one in place of it; `undefined`: none. */
export function useOpenOne(name: string): readonly [string | undefined, (one: string | undefined) => void] {
  const folds = use(FoldContext);
  const [, draw] = useState(0);
  const kept = folds.get(name);
  return [
    typeof kept === "string" ? kept : undefined,
    (one) => {
      folds.set(name, one ?? false);
      draw((count) => count + 1);
    },
  ];
}
